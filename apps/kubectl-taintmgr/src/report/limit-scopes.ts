// Which limits of taintmgr-controller a pod counts in, by their names.
import type { Node, Pod } from '@taintmgr/core';

/** The scopes of a pod on its node, as limits are called. */
export function scopesOf(pod: Pod, node: Node | undefined): readonly string[] {
  const { owner } = pod;
  return [
    'total',
    node?.zone ? `zone=${node.zone}` : 'zone',
    `node=${pod.nodeName}`,
    `namespace=${pod.namespace}`,
    ...(owner ? [`workload=${pod.namespace}/${owner.kind}/${owner.name}`] : []),
    ...(node?.taints ?? []).map(({ key }) => `taint=${key}`),
  ];
}

/** `zone=eu/a` of `zone=eu/a nodes=pool=spot` and of `zone=eu/a policy=spot`. */
export function scopeIn(id: string): string {
  const [scope = ''] = id.split(/ (?:nodes|policy)=/, 1);
  return scope;
}
