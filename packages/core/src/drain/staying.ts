// Pods that run on where a drain has worked, because they tolerate its taint or somebody keeps them.
import { describeReason } from '../eviction/reason.ts';
import type { Pod } from '../model/pod.ts';
import type { DrainPod } from './state.ts';

const namesMax = 4;
const codes: readonly string[] = [
  'ToleratedForever',
  'KeptByPolicy',
  'PolicyUndecided',
  'OptedOut',
];

/** Whether `kubectl drain` would evict the pod: no pod of a DaemonSet, none that has ended, none that is static. */
export function isStayingOn({ state, because: [decisive] }: DrainPod, pod: Pod | null): boolean {
  if (state.kind !== 'kept' || !pod || pod.owner?.kind === 'DaemonSet') return false;
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed') return false;
  return decisive !== undefined && codes.includes(decisive.code);
}

/** `2 pods stay: shop/op-0 (tolerates m=k:NoSchedule for ever) and 1 more`; '': none does. */
export function stayingText(pods: readonly DrainPod[]): string {
  if (pods.length === 0) return '';
  const names = pods.slice(0, namesMax).map(({ pod, because: [decisive] }) => {
    const why = decisive ? ` (${describeReason(decisive)})` : '';
    return `${pod.namespace}/${pod.name}${why}`;
  });
  const more = pods.length > namesMax ? ` and ${pods.length - namesMax} more` : '';
  const stay = pods.length === 1 ? '1 pod stays' : `${pods.length} pods stay`;
  return `${stay}: ${names.join(', ')}${more}`;
}
