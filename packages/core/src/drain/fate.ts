// What a drain does with one pod as things are: the plan says it beforehand, the machine does it.
import type { Reason } from '../eviction/reason.ts';
import type { ClusterTime } from '../kernel/cluster-clock.ts';
import type { Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import { decidingToleration } from '../model/toleration.ts';
import type { DrainConfig } from './config.ts';
import type { DrainDecider } from './decide.ts';
import { type DrainFault, filterPod } from './filters.ts';
import { hasFinished } from './finishing.ts';

/** What a drain does with one pod. */
export type Fate =
  /** At once, or when its time is over. */
  | { readonly kind: 'evict'; readonly at: Instant }
  /** It stays on the node. */
  | { readonly kind: 'keep' }
  /** A pause holds it; it goes when that is over. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'refuse'; readonly faults: readonly DrainFault[] }
  /** We leave it. `goesAnyway`: the DaemonSet controller deletes it as soon as the taint is there. */
  | {
      readonly kind: 'leave';
      readonly faults: readonly DrainFault[];
      readonly goesAnyway: boolean;
    }
  /** It terminates already, and is waited for. */
  | { readonly kind: 'leaving' }
  /** It has terminated for so long that it is not. */
  | { readonly kind: 'skip' };

/** What becomes of a pod at `now`, and why it goes or stays. */
export function fateOf(
  now: Instant,
  pod: Pod,
  decider: DrainDecider,
  config: DrainConfig,
): { readonly fate: Fate; readonly because: readonly Reason[] } {
  const decision = decider.decide(now, pod);
  const { because } = decision;
  if (pod.deletionTimestamp !== null) {
    const at = skipAt(pod, config, decider.store.clock);
    return { fate: { kind: at !== null && now >= at ? 'skip' : 'leaving' }, because };
  }
  const isStaying = decision.kind === 'keep' || hasFinished(pod, config.waitCompleted);
  if (isStaying) return { fate: { kind: 'keep' }, because };
  const filtered = byFilters(pod, config);
  if (decision.kind === 'pause') return { fate: filtered ?? { kind: 'hold' }, because };
  return { fate: filtered ?? { kind: 'evict', at: decision.deadline }, because };
}

/** When, by our own time, a pod that terminates is waited for no more; null: it is, however long it takes. */
export function skipAt(
  { deletionTimestamp }: Pod,
  { skipTerminatingMs }: Pick<DrainConfig, 'skipTerminatingMs'>,
  clock: ClusterTime,
): Instant | null {
  if (deletionTimestamp === null || skipTerminatingMs === null) return null;
  // kubectl drain compares whole seconds.
  return clock.when(deletionTimestamp) + skipTerminatingMs + 1000;
}

/** What kubectl drain's filters make of a pod; null: they take it. */
function byFilters(pod: Pod, config: DrainConfig): Fate | null {
  const { filters, goneDaemonSets } = config;
  const isOrphan = goneDaemonSets.has(`${pod.namespace}/${pod.owner?.name ?? ''}`);
  const verdict = filterPod(pod, filters, isOrphan);
  if (verdict.kind === 'take') return null;
  if (verdict.kind === 'refuse') return verdict;
  return { kind: 'leave', faults: [verdict.fault], goesAnyway: isRemovedByDaemonSet(pod, config) };
}

/**
 * Whether the DaemonSet controller deletes its pod on account of the taint: one of NoExecute that the
 * pod does not tolerate, for however short a time. It asks no budgets.
 */
function isRemovedByDaemonSet({ tolerations }: Pod, config: DrainConfig): boolean {
  const { taint } = config;
  return taint.effect === 'NoExecute' && !decidingToleration(tolerations, taint, config);
}
