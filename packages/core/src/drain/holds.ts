// What holds a pod of a drain back when its time is over and its turn has come.
import { formatTime, type Instant } from '../kernel/time.ts';
import { isShuttingDown } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { StoreView } from '../store.ts';
import { finishBy, type WaitCompleted } from './finishing.ts';
import type { PodGate } from './pod-gate.ts';

/** What may hold it. */
interface HoldRules {
  readonly store: StoreView;
  /** Since when its node is drained. */
  readonly begunAt: Instant | null;
  readonly wait: WaitCompleted | null;
  readonly gate: PodGate;
}

/** What holds a pod, in words, and until when; null: nobody knows. Null: nothing does. */
export function holdOn(
  now: Instant,
  pod: Pod,
  { store, begunAt, wait, gate }: HoldRules,
): { readonly message: string; readonly until: Instant | null } | null {
  const until = finishBy(pod, wait, begunAt);
  if (until !== null && until > now) {
    return { message: `it may finish by ${formatTime(store.clock.wall(until))}`, until };
  }
  const node = store.node(pod.nodeName);
  if (node && isShuttingDown(node)) {
    return { message: 'its node shuts down, and the kubelet ends its pods', until: null };
  }
  const message = gate.holdOf(now, pod);
  return message === null ? null : { message, until: null };
}
