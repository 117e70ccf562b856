import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Taint } from '../objects/tolerations.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller, type ControllerContext } from './controller.ts';
import { type Condition, conditionOf, isReady } from './pods.ts';

const leaseNamespace = 'kube-node-lease';
const unreachableKey = 'node.kubernetes.io/unreachable';

/**
 * Stands in for another duty of the node lifecycle controller: a node whose lease is not renewed
 * for the grace period gets conditions Unknown and the taint unreachable:NoExecute, and loses the
 * taint when it is Ready again. Without zones, rates and disruption states: where those matter, a
 * node lifecycle controller has to work on the cluster instead.
 */
export class UnreachableNodes extends Controller {
  readonly #graceMs: number;

  constructor(context: ControllerContext, graceMs: number) {
    super(context);
    this.#graceMs = graceMs;
  }

  protected override begin(): void {
    for (const node of this.api.list('nodes')) this.queue.add(node.metadata.name);
  }

  protected override notice({ resource, object }: Change): void {
    const { namespace, name } = object.metadata;
    if (resource === 'leases' && namespace === leaseNamespace) this.queue.add(name);
    if (resource === 'nodes') this.queue.add(name);
  }

  protected override sync(name: string): void {
    const node = this.api.get('nodes', '', name);
    const lease = this.api.get('leases', leaseNamespace, name);
    const renewedMs = Date.parse(lease?.spec?.renewTime);
    if (!node || Number.isNaN(renewedMs)) return;
    const leftMs = renewedMs + this.#graceMs - this.api.clock.now();
    if (leftMs > 0) {
      this.queue.addAfter(name, leftMs);
      if (isReady(node)) this.#setTaint(node, false);
      return;
    }
    if (conditionOf(node, 'Ready')?.status !== 'Unknown') this.#markUnknown(node);
    else this.#setTaint(node, true);
  }

  #markUnknown(node: KubeObject): void {
    const now = formatTime(this.api.clock.now());
    const conditions: readonly Condition[] = node.status?.conditions ?? [];
    const unknown = conditions.map((condition) => ({
      ...condition,
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastTransitionTime: now,
    }));
    this.api.update(
      'nodes',
      { ...node, status: { ...node.status, conditions: unknown } },
      'status',
    );
  }

  #setTaint(node: KubeObject, wanted: boolean): void {
    const taints: readonly Taint[] = node.spec?.taints ?? [];
    const others = taints.filter(
      ({ key, effect }) => key !== unreachableKey || effect !== 'NoExecute',
    );
    if (wanted === others.length < taints.length) return;
    const timeAdded = formatTime(this.api.clock.now());
    const added = wanted ? [{ key: unreachableKey, effect: 'NoExecute', timeAdded }] : [];
    this.api.update('nodes', { ...node, spec: { ...node.spec, taints: [...others, ...added] } });
  }
}

/** Which NoSchedule taint a condition with that status stands for. */
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
 * Stands in for one duty of the node lifecycle controller: NoSchedule taints that follow a node's
 * conditions. Without it a new node keeps the not-ready taint it was admitted with. Switch it off
 * where a real node lifecycle controller works on the cluster; then UnreachableNodes is off as well, and
 * nothing that such a controller does is done by anybody else.
 */
export class NodeLifecycleStandIn extends Controller {
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
