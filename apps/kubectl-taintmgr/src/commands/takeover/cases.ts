// What each case of the trial promises, judged by what became of its pod.
import type { Millis } from '@taintmgr/core/time';
import { type Fate, laterSeconds } from './trial.ts';

export interface CaseResult {
  /** As docs/takeover.md numbers them. */
  readonly number: number;
  readonly what: string;
  readonly passed: boolean;
  readonly detail: string;
}

const upstream = 'kube-controller-manager';
/** A pod that is there so long after its time was not deleted for it. */
const marginMs: Millis = 1_500;

/** Opted in, no toleration. */
export function atOnceCase(fate: Fate): CaseResult {
  const isSpared = fate.upstream !== null && !isTheirs(fate);
  return {
    number: 1,
    what: 'taken over, no toleration: spared, and an Event says who decides',
    passed: isSpared && fate.ours !== null,
    detail: sparedText(fate),
  };
}

/** Not opted in. */
export function otherCase({ goneAfter }: Fate): CaseResult {
  return {
    number: 2,
    what: `not taken over: ${upstream} deletes it`,
    passed: goneAfter !== null,
    detail: goneAfter === null ? 'it is still there' : `deleted after ${after(goneAfter)}`,
  };
}

/** Opted in, tolerates the taint for some seconds. */
export function laterCase(fate: Fate, sinceTaint: Millis): CaseResult {
  const isOver = sinceTaint >= laterSeconds * 1000 + marginMs;
  const isSpared = fate.upstream !== null && isOver && !isTheirs(fate);
  return {
    number: 3,
    what: `taken over, tolerates it for ${laterSeconds}s: spared when they are over`,
    passed: isSpared,
    detail: sparedText(fate),
  };
}

/** Whether kube-controller-manager deleted it. */
function isTheirs({ goneAfter, by }: Fate): boolean {
  return goneAfter !== null && by.startsWith(upstream);
}

function sparedText({ goneAfter, by, ours, upstream: said }: Fate): string {
  if (said === null) return `${upstream} has said nothing about it`;
  const fate =
    goneAfter === null
      ? 'it is there'
      : `it left after ${after(goneAfter)}, by ${by || 'somebody'}`;
  return ours === null ? `${fate}; taintmgr has said nothing about it` : `${fate}; ${ours}`;
}

/** So long after the taint, for people. */
function after(millis: Millis): string {
  return `${(millis / 1000).toFixed(1)}s`;
}
