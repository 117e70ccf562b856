import type { SetBack } from '../attempt/attempt.ts';
import type { Setback } from '../attempt/outcome.ts';
import type { Instant } from '../kernel/time.ts';
import type { PodRef } from '../model/pod.ts';
import type { EvictionText } from './eviction-message.ts';

/** An eviction for node pressure that is not answered yet. */
export interface UnansweredEviction {
  readonly pod: PodRef;
  /** What is said of it once it is accepted. */
  readonly text: EvictionText;
}

/** What is under way on one node. */
export type PressureWork =
  /** Command `id` is out: what nobody uses is being cleared away. */
  | { readonly kind: 'reclaiming'; readonly id: string }
  /** That is done; the next observation says whether it was enough. */
  | { readonly kind: 'reclaimed' }
  /** The commands for these pods are out, by id. */
  | {
      readonly kind: 'evicting';
      readonly unanswered: ReadonlyMap<string, UnansweredEviction>;
      /** Those that were accepted. */
      readonly leaving: readonly PodRef[];
      /** What went wrong last; null: nothing yet. */
      readonly setback: Setback | null;
    }
  /** These pods were evicted and are waited for, until then at most. */
  | { readonly kind: 'leaving'; readonly pods: readonly PodRef[]; readonly until: Instant }
  /** A try failed. */
  | SetBack;
