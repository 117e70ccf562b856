// Fits pods on nodes: CPU and memory in thousandths, and places for pods.
import { isReady } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { milliQuantity } from '../objects/quantity.ts';
import { type Taint, type Toleration, untolerated } from '../objects/tolerations.ts';
import { admitsNode } from './node-affinity.ts';

/** Amounts of what pods share on a node: CPU and memory in thousandths, and places for pods. */
export interface Resources {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

/** A node as the scheduler sees it. */
export interface SchedulingNode {
  readonly node: KubeObject;
  readonly zone: string;
  /** The node's taints, and the one that its condition stands for. */
  readonly taints: readonly Taint[];
  readonly allocatable: Resources;
  /** Whether it lets every pod in that asks for no node in particular. */
  readonly isOpen: boolean;
}

const unschedulableTaint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const schedulingEffects = ['NoSchedule', 'NoExecute'];

/** Reads a node once, for many pods. */
export function schedulingNode(node: KubeObject): SchedulingNode {
  const labels = node.metadata.labels ?? {};
  const allocatable = node.status?.allocatable ?? {};
  const region = labels['topology.kubernetes.io/region'] ?? '';
  const taints: readonly Taint[] = [...(node.spec?.taints ?? []), ...conditionTaint(node)];
  const keepsOut = taints.some(({ effect }) => schedulingEffects.includes(effect));
  return {
    node,
    zone: `${region}/${labels['topology.kubernetes.io/zone'] ?? ''}`,
    taints,
    isOpen: !keepsOut && !node.spec?.unschedulable,
    allocatable: {
      cpu: milliQuantity(allocatable.cpu),
      memory: milliQuantity(allocatable.memory),
      pods: milliQuantity(allocatable.pods) / 1000,
    },
  };
}

/** A node that is not Ready is avoided even while nobody has tainted it for that. */
function conditionTaint(node: KubeObject): readonly Taint[] {
  return isReady(node) ? [] : [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];
}

/**
 * Why the pod cannot be placed on the node, in kube-scheduler's words; empty when it can. The
 * first test that fails gives the answer, as the scheduler's plugins do.
 */
export function misfits(
  pod: KubeObject,
  wants: Resources,
  place: SchedulingNode,
  used: Resources,
): readonly string[] {
  if (place.isOpen && isUndemanding(pod)) return shortages(wants, place, used);
  const tolerations: readonly Toleration[] = pod.spec.tolerations ?? [];
  if (
    place.node.spec?.unschedulable &&
    untolerated([unschedulableTaint], tolerations, schedulingEffects)
  ) {
    return ['node(s) were unschedulable'];
  }
  if (untolerated(place.taints, tolerations, schedulingEffects)) {
    return ['node(s) had untolerated taint(s)'];
  }
  if (!admitsNode(pod.spec, place.node))
    return ["node(s) didn't match Pod's node affinity/selector"];
  return shortages(wants, place, used);
}

/** Whether a pod that asks for no node in particular has to look at no more than what is left. */
export function isUndemanding({ spec }: KubeObject): boolean {
  return !spec.nodeSelector && !spec.affinity;
}

/** What the node has too little of. */
function shortages(wants: Resources, place: SchedulingNode, used: Resources): readonly string[] {
  const { allocatable } = place;
  const found: string[] = [];
  if (used.pods + 1 > allocatable.pods) found.push('Too many pods');
  for (const resource of ['cpu', 'memory'] as const) {
    if (wants[resource] === 0) continue;
    if (used[resource] + wants[resource] > allocatable[resource]) {
      found.push(`Insufficient ${resource}`);
    }
  }
  return found;
}

interface Container {
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
}

/** What pods ask for whose containers are the same values. */
const requests = new WeakMap<readonly Container[], Resources>();

/** What the pod asks for: the sum of its containers, or its largest init container. */
export function requestsOf(pod: KubeObject): Resources {
  const { containers, initContainers }: { [field: string]: readonly Container[] } = pod.spec;
  const isKnown = containers && !initContainers && Object.isFrozen(containers);
  if (!isKnown) return addedUp(pod);
  const known = requests.get(containers);
  if (known) return known;
  const added = addedUp(pod);
  requests.set(containers, added);
  return added;
}

function addedUp(pod: KubeObject): Resources {
  const containers: readonly Container[] = pod.spec.containers ?? [];
  const initContainers: readonly Container[] = pod.spec.initContainers ?? [];
  const total = (resource: 'cpu' | 'memory'): number =>
    Math.max(
      containers.reduce((sum, container) => sum + requestOf(container, resource), 0),
      ...initContainers.map((container) => requestOf(container, resource)),
    );
  return { cpu: total('cpu'), memory: total('memory'), pods: 1 };
}

/** A limit without a request is the request. */
function requestOf({ resources }: Container, resource: 'cpu' | 'memory'): number {
  return milliQuantity(resources?.requests?.[resource] ?? resources?.limits?.[resource]);
}
