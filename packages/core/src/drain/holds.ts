// What holds a pod of a drain back when its time is over and its turn has come.
import { formatDeadline, type Instant } from '../kernel/time.ts';
import { isShuttingDown } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { HeededAnnotation, WaitCompleted } from '../policy/node-drain.ts';
import type { StoreView } from '../store.ts';
import { finishBy } from './finishing.ts';
import type { PodGate } from './pod-gate.ts';

/** What may hold it. */
interface HoldRules {
  readonly store: StoreView;
  /** Since when its node is drained. */
  readonly begunAt: Instant | null;
  readonly wait: WaitCompleted | null;
  readonly gate: PodGate;
  readonly heeds: readonly HeededAnnotation[];
}

const annotations = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': ({ unsafeToEvict }: Pod) =>
    unsafeToEvict && 'false',
  'karpenter.sh/do-not-disrupt': ({ doNotDisrupt }: Pod) => doNotDisrupt && 'true',
};

/** What holds a pod, in words, and until when; null: nobody knows. Null: nothing does. */
export function holdOn(
  now: Instant,
  pod: Pod,
  { store, begunAt, wait, gate, heeds }: HoldRules,
): { readonly message: string; readonly until: Instant | null } | null {
  const until = finishBy(pod, wait, begunAt);
  if (until !== null && until > now) {
    return { message: `it may finish by ${formatDeadline(store.clock.wall(until))}`, until };
  }
  const node = store.node(pod.nodeName);
  if (node && isShuttingDown(node)) {
    return { message: 'its node shuts down, and the kubelet ends its pods', until: null };
  }
  const asked = heeds.find((key) => annotations[key](pod));
  if (asked)
    return { message: `its annotation ${asked} is ${annotations[asked](pod)}`, until: null };
  const message = gate.holdOf(now, pod);
  return message === null ? null : { message, until: null };
}
