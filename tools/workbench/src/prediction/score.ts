// How good the predictions of a run were, and the table that says so.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { PodStory, Prediction } from './run.ts';

/** How one pod's prediction turned out. */
type Verdict =
  /** Foretold to go: `error` is by how much it went later. */
  | { readonly kind: 'evicted'; readonly error: Millis }
  /** Foretold to stay, and it did. */
  | { readonly kind: 'kept' }
  /** Foretold to be held back, and it was. */
  | { readonly kind: 'held' }
  /** It went at the instant of what made it go: nothing could be said. */
  | { readonly kind: 'atOnce' }
  | { readonly kind: 'wrong'; readonly said: string; readonly isKeep: boolean };

/** Predictions are good to so much. */
const errorMsMax: Millis = 1_500;

/** Whether a verdict is what it should be; null: it does not count. */
export function isRight(verdict: Verdict): boolean | null {
  if (verdict.kind === 'atOnce') return null;
  if (verdict.kind === 'wrong') return false;
  return verdict.kind !== 'evicted' || Math.abs(verdict.error) <= errorMsMax;
}

/** By what was said last, or first, after whatever the pod's fate depends on had happened. */
export function judge({ predictions, removedAt }: PodStory, which: 'first' | 'last'): Verdict {
  const said = which === 'last' ? predictions.at(-1) : predictions[0];
  if (!said) return { kind: 'atOnce' };
  if (removedAt !== null) {
    if (said.deadline === null || said.decision !== 'Evict') return wrong(said);
    return { kind: 'evicted', error: removedAt - expectedAt(said, said.deadline) };
  }
  if (said.decision === 'Keep') return { kind: 'kept' };
  const isLater = said.expectedAt !== undefined && said.expectedAt > said.at;
  return said.isBlocked || isLater ? { kind: 'held' } : wrong(said);
}

/** What budgets hold goes when they are asked no longer, and what limits hold when it is its turn. */
function expectedAt(said: Prediction, deadline: Instant): Instant {
  const { isBlocked, deletedAt } = said;
  return said.expectedAt ?? (isBlocked && deletedAt !== null ? deletedAt : deadline);
}

function wrong({ decision, deadline }: Prediction): Verdict {
  const when = deadline === null ? '' : ` at ${new Date(deadline).toISOString()}`;
  return { kind: 'wrong', said: `${decision}${when}`, isKeep: decision === 'Keep' };
}

/** What a run comes down to. */
export interface Score {
  readonly counted: number;
  readonly right: number;
  readonly evicted: number;
  readonly kept: number;
  readonly held: number;
  readonly atOnce: number;
  /** Foretold to stay, and went. */
  readonly keepWrong: number;
  readonly medianErrorMs: Millis;
}

export function scoreOf(stories: readonly PodStory[], which: 'first' | 'last'): Score {
  const verdicts = stories.map((story) => judge(story, which));
  const counts = (kind: Verdict['kind']): number =>
    verdicts.filter((verdict) => verdict.kind === kind).length;
  const errors = verdicts.flatMap((one) => (one.kind === 'evicted' ? [Math.abs(one.error)] : []));
  const sorted = errors.sort((a, b) => a - b);
  return {
    counted: verdicts.filter((verdict) => isRight(verdict) !== null).length,
    right: verdicts.filter((verdict) => isRight(verdict) === true).length,
    evicted: counts('evicted'),
    kept: counts('kept'),
    held: counts('held'),
    atOnce: counts('atOnce'),
    keepWrong: verdicts.filter((one) => one.kind === 'wrong' && one.isKeep).length,
    medianErrorMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
  };
}
