// The checker of lateness: evictions come within a bound of their deadlines.
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Evidence } from './evidence.ts';
import type { State } from './object-history.ts';
import { noExecuteTaints, toleratedMs } from './taint-rule.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

/** Whether the pod may be taken to have come to its node after a taint of it: it does not count then. */
export function mayBeLate(
  { history, starts }: Pick<Evidence, 'history' | 'starts'>,
  pod: KubeObject,
  at: number,
): boolean {
  const nodeName: string = pod.spec.nodeName ?? '';
  const bound = latestBinding(pod, history.pod(pod.metadata.uid ?? ''));
  return history
    .during(history.node(nodeName), bound, at)
    .some((state) =>
      noExecuteTaints(state.object).some(
        (taint) => bound > starts.appearedAt(nodeName, state, taint),
      ),
    );
}

/** Whether it surely came later than every taint that makes it go, and that run knew of them by then. */
export function isSurelyLate(
  { starts, apiHistory }: Pick<Evidence, 'starts' | 'apiHistory'>,
  pod: KubeObject,
  node: State,
  runs: readonly number[],
): boolean {
  const nodeName: string = pod.spec.nodeName ?? '';
  const created = Date.parse(pod.metadata.creationTimestamp ?? '');
  const moving = noExecuteTaints(node.object).filter((taint) => {
    return Number.isFinite(toleratedMs(pod, taint));
  });
  return (
    moving.length > 0 &&
    moving.every((taint) => {
      const since = starts.unchangedSince(nodeName, node, taint);
      return runs.every((run) => apiHistory.known.inTurnUpTo(run, 'nodes', created - 1000) > since);
    })
  );
}

/** When the pod came to its node, or the latest time that its status gives for that. */
export function latestBinding(pod: KubeObject, states: readonly State[]): number {
  const bound = states.find(({ object }) => object?.spec.nodeName === pod.spec.nodeName)?.at ?? 0;
  const conditions: readonly Condition[] = pod.status?.conditions ?? [];
  const scheduled = conditions.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'True',
  );
  const written = [scheduled?.lastTransitionTime, pod.status?.startTime].flatMap((time) =>
    time === undefined ? [] : [Date.parse(time)],
  );
  return Math.max(bound, ...written);
}
