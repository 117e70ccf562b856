// A pod and its node, seen by both semantics in one engine.
import { type Node, type Pod, parseTaint } from '@taintmgr/core';

const bad = parseTaint('bad:NoExecute');
export const pod: Pod = {
  namespace: 'shop',
  name: 'web-0',
  uid: 'u',
  nodeName: 'n1',
  tolerations: [],
  boundAt: 0,
  deletionTimestamp: null,
  phase: 'Running',
  generation: 1,
  mirror: false,
  owner: null,
  hasEmptyDir: false,
};

export function tolerating(seconds: number): Partial<Pod> {
  const { key, effect } = bad;
  return {
    tolerations: [{ key, operator: 'Exists', value: '', effect, tolerationSeconds: seconds }],
  };
}

export function node(timeAdded: number | null, ...more: Node['taints']): Node {
  return { name: 'n1', uid: 'n1', taints: [{ ...bad, timeAdded }, ...more] };
}
