// Why a node could not be drained some of whose pods were given up.
import type { DrainFailure, DrainPod } from './state.ts';

/** What a node has failed by. */
export interface Refusal {
  readonly why: Extract<DrainFailure, 'Blocked' | 'Denied'>;
  /** Null: what is known of its pods says it. */
  readonly message: string | null;
  /** Whether pods of the node have gone since the drain began. */
  readonly hasWorked: boolean;
}

/** Why a node has failed, by its pods; null: none was given up. */
export function givenUpOn(pods: readonly DrainPod[]): Omit<Refusal, 'message'> | null {
  const givenUp = pods.filter(isGivenUp);
  if (givenUp.length === 0) return null;
  const why = givenUp.some(isDenied) ? 'Denied' : 'Blocked';
  return { why, hasWorked: pods.some(hasLeft) };
}

/** One of these that were refused, with what was said of it, and how many more; '': there are none. */
export function refusedText(pods: readonly DrainPod[]): string {
  const refused = pods.filter(({ blocker }) => blocker !== null);
  const first = refused.find(isDenied) ?? refused[0];
  if (!first?.blocker) return '';
  const more = refused.length === 1 ? '' : ` (${refused.length} such pods)`;
  return `pod ${first.pod.namespace}/${first.pod.name}${more}: ${first.blocker.message}`;
}

export function isGivenUp({ state }: DrainPod): boolean {
  return state.kind === 'givenUp';
}

function isDenied({ blocker }: DrainPod): boolean {
  return blocker?.code === 'Denied';
}

function hasLeft({ state }: DrainPod): boolean {
  return state.kind === 'gone' && state.departure.kind !== 'earlier';
}
