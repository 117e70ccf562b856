// What a check finds, and how bad it is.
import type { Tone } from '../../render/style.ts';

/** How bad it is. */
export type Level = 'OK' | 'INFO' | 'WARN' | 'FAIL';

/** In which colour it is printed. */
export const levelTones: Readonly<Record<Level, Tone | null>> = {
  OK: 'calm',
  INFO: null,
  WARN: 'soon',
  FAIL: 'urgent',
};

/** What one check has found. */
export interface Finding {
  readonly check: string;
  readonly level: Level;
  /** What it is about, e.g. `pdb/web -n shop`; '': the cluster. */
  readonly about: string;
  readonly message: string;
  /** What to do about it; '': nothing. */
  readonly fix: string;
}

/** A finding of one check; what is left out is empty. */
export type FindingOf = (
  level: Level,
  message: string,
  more?: Partial<Pick<Finding, 'about' | 'fix'>>,
) => Finding;

/** Makes the findings of a check. */
export function findingsOf(check: string): FindingOf {
  return (level, message, more = {}) => ({ check, level, about: '', fix: '', message, ...more });
}

/** What a check has found, or where that is nothing, what is well. */
export function orWell(
  finding: FindingOf,
  findings: readonly Finding[],
  message: string,
): readonly Finding[] {
  return findings.length > 0 ? findings : [finding('OK', message)];
}
