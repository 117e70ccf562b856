// Finds pods of a NoExecute drain that taintmgr-controller deletes by a policy once the drain is at work no more.
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';
import { decidingToleration, type MatchOptions } from '../model/toleration.ts';
import type { OtherEvictors } from '../model/working-drain.ts';
import { choosePolicy } from '../policy/choice.ts';
import type { EvictionPolicy } from '../policy/values.ts';

/** A node of the drain, its pods, and what decides about them. */
export interface DeletionSite {
  readonly node: Node;
  readonly pods: Iterable<Pod>;
  readonly policies: readonly EvictionPolicy[];
  /** Null: not known. */
  readonly namespaceLabels: (namespace: string) => Labels | null;
}

/** Names the first of these pods and its policy; null: none is deleted. */
export function deletedByPolicy(
  { node, pods, policies, namespaceLabels }: DeletionSite,
  taint: Taint,
  options: MatchOptions,
): Pick<OtherEvictors, 'text' | 'advice'> | null {
  const acting = policies.filter(({ action }) => action !== null);
  if (!acting.some(isDeleting)) return null;
  for (const pod of pods) {
    if (!hasToGo(pod, taint, options)) continue;
    const labels = namespaceLabels(pod.namespace);
    const { counts } = choosePolicy(acting, taint, { pod, node, namespaceLabels: labels });
    if (counts && isDeleting(counts)) return deletions(counts.name, pod);
  }
  return null;
}

/** True where the taint makes the pod go, now or later. */
export function hasToGo({ tolerations }: Pod, taint: Taint, options: MatchOptions): boolean {
  const toleration = decidingToleration(tolerations, taint, options);
  return toleration === null || toleration.tolerationSeconds !== null;
}

function deletions(
  policy: string,
  { namespace, name }: Pod,
): Pick<OtherEvictors, 'text' | 'advice'> {
  const text =
    `taintmgr-controller deletes the pods that the drain leaves, without asking PDBs, as EvictionPolicy ${policy} ` +
    `says of pod ${namespace}/${name}`;
  return { text, advice: 'have the policy not match the taint' };
}

function isDeleting({ action }: EvictionPolicy): boolean {
  return action === 'Delete' || action === 'Upstream';
}
