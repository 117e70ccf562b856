import assert from 'node:assert/strict';
import type { FaultRule } from '@taintmgr/sim-cluster';
import { Follower, type Mode } from './follower.ts';
import type { Line } from './troubled-lines.ts';

/** Something that goes wrong with lists and watches, and what a reflector makes of it. */
export interface Case {
  readonly name: string;
  /** What goes wrong from the beginning. */
  readonly faults?: readonly FaultRule[];
  readonly line?: (mode: Mode, follower: Follower) => Line;
  readonly historyLength?: number;
  /** What goes on while it is so; it has followed for a minute by then. */
  readonly story: (follower: Follower) => void;
  /** Complete again after this time without trouble; 60 s when left out. */
  readonly recoversWithin?: number;
  /** How often everything is listed altogether; 1 when left out. */
  readonly lists?: number;
  /** What people are told, each once at least; nothing else may be told. */
  readonly tells?: readonly RegExp[];
}

/** Plays a case in a mode. Throws when it does not end as it should. */
export function play(given: Case, mode: Mode): void {
  const { faults = [], line, historyLength, story, recoversWithin = 60_000 } = given;
  const follower = new Follower(mode, historyLength);
  for (let n = 0; n < 10; n++) follower.leases.create();
  const ends = faults.map((rule) => follower.api.faults.add(rule));
  if (line) follower.line = line(mode, follower);
  follower.start();
  follower.run(60_000);
  story(follower);
  for (const end of ends) end();
  follower.run(recoversWithin);
  follower.assertComplete();
  assertTold(follower, given);
}

function assertTold({ lists, setbacks }: Follower, given: Case): void {
  const { lists: listsMax = 1, tells = [] } = given;
  assert.ok(lists <= listsMax, `${lists} lists: ${setbacks.join('; ')}`);
  for (const setback of setbacks) {
    const isExpected = tells.some((pattern) => pattern.test(setback));
    assert.ok(isExpected, `unexpected: ${setback}`);
  }
  for (const pattern of tells) {
    const isTold = setbacks.some((setback) => pattern.test(setback));
    assert.ok(isTold, `${pattern} is missing: ${setbacks.join('; ')}`);
  }
}
