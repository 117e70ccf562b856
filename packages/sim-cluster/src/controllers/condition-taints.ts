import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Taint } from '../objects/tolerations.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { conditionOf } from './pods.ts';

/** The NoSchedule taint that a condition with that status stands for. */
const conditionTaints: readonly (readonly [type: string, status: string, key: string])[] = [
  ['Ready', 'False', 'node.kubernetes.io/not-ready'],
  ['Ready', 'Unknown', 'node.kubernetes.io/unreachable'],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
];
const unschedulableKey = 'node.kubernetes.io/unschedulable';
const managedKeys = new Set([...conditionTaints.map(([, , key]) => key), unschedulableKey]);

/**
 * NoSchedule taints that follow a node's conditions and its cordon. Without them a new node keeps
 * the not-ready taint it was admitted with, and no pod is placed. The cluster does this duty of the
 * node lifecycle controller alone: silence, NoExecute taints and evictions are left to a
 * kube-controller-manager, or to the program tested in its place, which writes these taints too.
 */
export class ConditionTaints extends Controller {
  protected override begin(): void {
    for (const node of this.api.list('nodes')) this.queue.add(node.metadata.name);
  }

  protected override notice({ resource, object }: Change): void {
    if (resource === 'nodes') this.queue.add(object.metadata.name);
  }

  protected override sync(name: string): void {
    const { api } = this;
    const node = api.get('nodes', '', name);
    if (!node) return;
    const stored: readonly Taint[] = node.spec?.taints ?? [];
    const wanted = wantedKeys(node);
    const kept = stored.filter((taint) => !isManaged(taint) || wanted.includes(taint.key));
    const timeAdded = formatTime(api.clock.now());
    const added = wanted
      .filter((key) => !kept.some((taint) => isManaged(taint) && taint.key === key))
      .map((key) => ({ key, effect: 'NoSchedule', timeAdded }));
    if (kept.length === stored.length && added.length === 0) return;
    api.update('nodes', { ...node, spec: { ...node.spec, taints: [...kept, ...added] } });
  }
}

function isManaged({ key, effect }: Taint): boolean {
  return effect === 'NoSchedule' && managedKeys.has(key);
}

function wantedKeys(node: KubeObject): readonly string[] {
  const keys = conditionTaints
    .filter(([type, status]) => conditionOf(node, type)?.status === status)
    .map(([, , key]) => key);
  return node.spec?.unschedulable ? [...keys, unschedulableKey] : keys;
}
