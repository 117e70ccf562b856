// The known facts about some pods: their deadlines, their holds, and their end.
import type {
  DeadlineSeen,
  EvictionSeen,
  FailureTrack,
  HoldTrack,
  PodOnNode,
  RefusalTrack,
} from '../simulation.ts';

/** The known facts about some pods. */
export interface PodHistory {
  readonly deadlines: DeadlineSeen[];
  readonly holds: HoldTrack[];
  readonly refusals: RefusalTrack[];
  readonly evictions: EvictionSeen[];
  readonly failures: FailureTrack[];
}

/** The same of those who only look. */
export type PodEvents = {
  readonly [Part in Exclude<keyof PodHistory, 'failures'>]: readonly PodHistory[Part][number][];
} & { readonly failures?: readonly FailureTrack[] };

export const nothing: PodHistory = {
  ...{ deadlines: [], holds: [], refusals: [], evictions: [], failures: [] },
};

/** The histories of a run under keys of pods, such as their nodes. */
export function historiesBy(
  run: PodEvents,
  keyOf: (pod: PodOnNode) => string,
): ReadonlyMap<string, PodHistory> {
  const histories = new Map<string, PodHistory>();
  const of = (pod: PodOnNode): PodHistory => {
    const key = keyOf(pod);
    const known = histories.get(key);
    if (known) return known;
    const made: PodHistory = {
      ...{ deadlines: [], holds: [], refusals: [], evictions: [], failures: [] },
    };
    histories.set(key, made);
    return made;
  };
  for (const one of run.deadlines) of(one).deadlines.push(one);
  for (const one of run.holds) of(one).holds.push(one);
  for (const one of run.refusals) of(one).refusals.push(one);
  for (const one of run.evictions) of(one).evictions.push(one);
  for (const one of run.failures ?? []) of(one).failures.push(one);
  return histories;
}

export function podKey({ namespace, pod }: PodOnNode): string {
  return `${namespace}/${pod}`;
}
