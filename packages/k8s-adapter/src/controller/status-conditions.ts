// Since when conditions are as they are, for the status that the leader publishes.
import type { TaintManagerStatus } from '@taintmgr/core/policy';
import { formatTime, type Instant } from '@taintmgr/core/time';

type Condition = NonNullable<TaintManagerStatus['conditions']>[number];

/** A condition without its date. */
export type StatedCondition = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

/** Dates conditions by when they came, or became what they are. */
export class StatusConditions {
  readonly #known = new Map<string, Pick<Condition, 'status' | 'lastTransitionTime'>>();

  /** The conditions that hold at `wall`; one that is not among them is forgotten. */
  dated(wall: Instant, stated: readonly StatedCondition[]): readonly Condition[] {
    const dated = stated.map((condition) => {
      const known = this.#known.get(condition.type);
      const isSame = known?.status === condition.status;
      const lastTransitionTime = isSame ? known.lastTransitionTime : formatTime(wall);
      return { ...condition, lastTransitionTime };
    });
    this.forget();
    for (const condition of dated) this.#known.set(condition.type, condition);
    return dated;
  }

  forget(): void {
    this.#known.clear();
  }
}

/** What a loop says of itself: only what is not as it should be. */
export function loopConditions(isCurrent: boolean, isHeld: boolean): readonly StatedCondition[] {
  return [...(isCurrent ? [] : [staleCondition]), ...(isHeld ? [heldCondition] : [])];
}

const staleCondition: StatedCondition = {
  type: 'CacheStale',
  status: 'True',
  reason: 'WatchInterrupted',
  message: 'changes of the cluster are not heard of: pods are read again before they go',
};

const heldCondition: StatedCondition = {
  type: 'ClockHeld',
  status: 'True',
  reason: 'ClockUnknown',
  message: 'what time it is in the cluster is not known: deadlines are held',
};
