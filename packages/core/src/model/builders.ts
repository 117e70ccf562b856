// Nodes and pods from the few fields that matter, with Kubernetes' defaults for the others.
import { withDefaults } from '../kernel/checks.ts';
import type { Node } from './node.ts';
import type { Pod } from './pod.ts';
import { parseTaint, type Taint } from './taint.ts';
import type { Toleration } from './toleration.ts';

/** The input of `makeNode`: a name, and whatever else matters. */
export interface NodeInput extends Partial<Omit<Node, 'name' | 'taints'>> {
  /** Name of the node. */
  readonly name: string;
  /** As text (`key=value:effect`) or in full. Left out: none. */
  readonly taints?: readonly (string | Taint)[];
}

/**
 * A node. Its uid defaults to its name. Throws RangeError for a text that is not a taint, and for an
 * object of the Kubernetes API.
 */
export function makeNode({ name, taints = [], ...node }: NodeInput): Node {
  checkName(name, 'nodeFromJson');
  return {
    ...withDefaults<Omit<Node, 'taints'>>({ name, uid: name }, node),
    taints: taints.map((taint) => (typeof taint === 'string' ? parseTaint(taint) : taint)),
  };
}

/** The input of `makePod`: a name, and whatever else matters. */
export interface PodInput extends Partial<Omit<Pod, 'name' | 'tolerations'>> {
  /** Name of the pod. */
  readonly name: string;
  /** Fields that are left out have the same meaning as in a manifest. Left out: none. */
  readonly tolerations?: readonly Partial<Toleration>[];
}

/**
 * A pod that runs and is ready, in the namespace `default`. Its uid defaults to `namespace/name`.
 * Throws RangeError for an object of the Kubernetes API.
 */
export function makePod({ name, tolerations = [], ...pod }: PodInput): Pod {
  checkName(name, 'podFromJson');
  const namespace = pod.namespace ?? 'default';
  const defaults: Omit<Pod, 'tolerations'> = {
    namespace,
    name,
    uid: `${namespace}/${name}`,
    nodeName: '',
    boundAt: null,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 0,
    mirror: false,
    owner: null,
    hasEmptyDir: false,
    ready: 'True',
  };
  return {
    ...withDefaults(defaults, pod),
    tolerations: tolerations.map((toleration) => withDefaults(anyToleration, toleration)),
  };
}

/** JavaScript checks no types, and objects of the API have their name in the metadata. */
function checkName(name: unknown, reader: string): void {
  if (typeof name === 'string') return;
  const got = JSON.stringify(name);
  const hint = `${reader} of @taintmgr/k8s-adapter reads objects of the Kubernetes API`;
  throw new RangeError(`name: got ${got}, want a text; ${hint}`);
}

const anyToleration: Toleration = {
  key: '',
  operator: '',
  value: '',
  effect: '',
  tolerationSeconds: null,
};
