// The finding of a check, and its severity.

import type { Millis } from '@taintmgr/core/time';
import { choicesMax, countBy } from '@taintmgr/k8s-adapter/command-line';
import type { OutputFlags } from '../../cli/common-flags.ts';
import type { Tone } from '../../render/style.ts';

/** The severity of a finding. */
export type Level = 'OK' | 'INFO' | 'WARN' | 'FAIL';

/** The colour in which it is printed. */
export const levelTones: Readonly<Record<Level, Tone | null>> = {
  OK: 'calm',
  INFO: null,
  WARN: 'soon',
  FAIL: 'urgent',
};

/** The finding of one check. */
export interface Finding {
  readonly check: string;
  readonly level: Level;
  /** The subject, e.g. `pdb/web -n shop`; '': the cluster. */
  readonly about: string;
  readonly message: string;
  /** The remedy; '': none. */
  readonly fix: string;
}

/** A finding of one check; members that are left out are empty. */
export type FindingOf = (
  level: Level,
  message: string,
  more?: Partial<Pick<Finding, 'about' | 'fix'>>,
) => Finding;

/** Makes the findings of a check. */
export function findingsOf(check: string): FindingOf {
  return (level, message, more = {}) => ({ check, level, about: '', fix: '', message, ...more });
}

/** The findings of a check, or without any, the statement that all is well. */
export function orWell(
  finding: FindingOf,
  findings: readonly Finding[],
  message: string,
): readonly Finding[] {
  return findings.length > 0 ? findings : [finding('OK', message)];
}

/** Cuts what a check says in the same way of more than a dozen pods, with a count. */
export function cutFindings(findings: readonly Finding[]): readonly Finding[] {
  const counts = countBy(findings.map(nameOf));
  const seen = new Map<string, number>();
  return findings.flatMap((one) => {
    const name = nameOf(one);
    const all = counts.get(name) ?? 0;
    const place = seen.get(name) ?? 0;
    seen.set(name, place + 1);
    if (!one.about.startsWith('pod/') || all <= choicesMax + 1 || place < choicesMax) return [one];
    if (place > choicesMax) return [];
    const message = `and ${all - choicesMax} more: -o json names all ${all}`;
    return [{ ...one, about: '', fix: '', message }];
  });
}

function nameOf({ check, level }: Finding): string {
  return `${check} ${level}`;
}

/** The command line of `doctor`. */
export interface DoctorFlags extends OutputFlags {
  /** Files and folders to check instead of a cluster. */
  readonly filename?: readonly string[] | undefined;
  readonly recursive?: true | undefined;
  /** Put a pod of our own on a Node of our own with a taint, and see who evicts it. */
  readonly probe?: true | undefined;
  /** The longest wait for that. */
  readonly timeout: Millis;
}
