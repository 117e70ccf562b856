import { isDeepStrictEqual } from 'node:util';
import type { Command, Event } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { type FlightStep, redactCommand } from '@taintmgr/k8s-adapter';

/** What an engine answers to one event: commands, or the error that stopped it. */
export interface EngineAnswer {
  readonly commands: readonly Command[];
  readonly threw: string | null;
}

/** The first thing that this build does differently from the record. */
export interface Difference {
  /** In the file, from 1. */
  readonly line: number;
  readonly step: number;
  readonly at: Instant;
  readonly event: Event;
  /** Which of the commands of the step, from 1; null: how the engine stopped is different. */
  readonly command: number | null;
  readonly recorded: Command | string | null;
  readonly replayed: Command | string | null;
  /** Where both are the same kind of command: each member that is different. */
  readonly members: readonly MemberDifference[];
}

export interface MemberDifference {
  /** `because[0].deadline` */
  readonly path: string;
  /** As JSON; undefined: it is not there. */
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** The first difference of a step; null: there is none. */
export function differenceOf(
  line: number,
  step: FlightStep,
  answer: EngineAnswer,
): Difference | null {
  const { at, event, commands: recorded = [], threw = null } = step;
  // As a recorder would have written them.
  const replayed: readonly Command[] = JSON.parse(
    JSON.stringify(answer.commands.map(redactCommand)),
  );
  const place = { line, step: step.step, at, event };
  const count = Math.max(recorded.length, replayed.length);
  for (let index = 0; index < count; index++) {
    const [one = null, other = null] = [recorded[index], replayed[index]];
    if (isDeepStrictEqual(one, other)) continue;
    const members = one && other && one.kind === other.kind ? membersOf('', one, other) : [];
    return { ...place, command: index + 1, recorded: one, replayed: other, members };
  }
  if (threw === answer.threw) return null;
  return { ...place, command: null, recorded: threw, replayed: answer.threw, members: [] };
}

function membersOf(path: string, one: unknown, other: unknown): readonly MemberDifference[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) {
    return [{ path, recorded: one, replayed: other }];
  }
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Array.from(names).flatMap((name) => {
    const step = Array.isArray(one) ? `[${name}]` : `.${name}`;
    return membersOf(`${path}${step}`.replace(/^\./, ''), one[name], other[name]);
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
