// The events of a story: what changes of stored objects say.
import type { Change, Cluster, KubeObject } from '@taintmgr/sim-cluster';
import type { Cast } from './cast.ts';
import type { Facts, PodState } from './story.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

/** The condition of that type, or null. */
export function conditionOf(object: KubeObject | null, type: string): Condition | null {
  const conditions: readonly Condition[] = object?.status?.conditions ?? [];
  return conditions.find((condition) => condition.type === type) ?? null;
}

const isTrue = (object: KubeObject | null, type: string): boolean =>
  conditionOf(object, type)?.status === 'True';

const ended = ['Succeeded', 'Failed'];

/** What a status counts, by kind. */
const counts: Readonly<Record<string, (object: KubeObject) => Facts>> = {
  Deployment: ({ status = {} }) => ({
    replicas: status.replicas ?? 0,
    ready: status.readyReplicas ?? 0,
    updated: status.updatedReplicas ?? 0,
    available: status.availableReplicas ?? 0,
    unavailable: status.unavailableReplicas ?? 0,
    terminating: status.terminatingReplicas ?? 0,
  }),
  ReplicaSet: ({ spec, status = {} }) => ({
    spec: spec.replicas ?? 1,
    replicas: status.replicas ?? 0,
    ready: status.readyReplicas ?? 0,
    available: status.availableReplicas ?? 0,
  }),
  StatefulSet: ({ status = {} }) => ({
    replicas: status.replicas ?? 0,
    ready: status.readyReplicas ?? 0,
    available: status.availableReplicas ?? 0,
    current: status.currentReplicas ?? 0,
    updated: status.updatedReplicas ?? 0,
  }),
  DaemonSet: ({ status = {} }) => ({
    desired: status.desiredNumberScheduled ?? 0,
    current: status.currentNumberScheduled ?? 0,
    misscheduled: status.numberMisscheduled ?? 0,
    ready: status.numberReady ?? 0,
    updated: status.updatedNumberScheduled ?? 0,
    available: status.numberAvailable ?? 0,
    unavailable: status.numberUnavailable ?? 0,
  }),
  Job: ({ status = {} }) => ({
    active: status.active ?? 0,
    ready: status.ready ?? 0,
    terminating: status.terminating ?? 0,
    succeeded: status.succeeded ?? 0,
    failed: status.failed ?? 0,
    conditions: (status.conditions ?? [])
      .filter((one: Condition) => one.status === 'True')
      .map((one: Condition) => `${one.type}/${one.reason ?? ''}`),
  }),
  PodDisruptionBudget: (budget) => {
    const { status = {} } = budget;
    const condition = conditionOf(budget, 'DisruptionAllowed');
    return {
      expectedPods: status.expectedPods ?? 0,
      currentHealthy: status.currentHealthy ?? 0,
      desiredHealthy: status.desiredHealthy ?? 0,
      disruptionsAllowed: status.disruptionsAllowed ?? 0,
      disruptedPods: Object.keys(status.disruptedPods ?? {}).length,
      condition: condition ? `${condition.status}/${condition.reason ?? ''}` : '',
    };
  },
};

/** Turns changes into events. */
export class Narrator {
  readonly #cast: Cast;
  readonly #tell: (facts: Facts) => void;
  /** The endpoints of each Service as they were told last. */
  readonly #endpoints = new Map<string, string>();
  readonly #unexplained = new Set<string>();
  readonly #api: Cluster['api'];

  constructor(api: Cluster['api'], cast: Cast, tell: (facts: Facts) => void) {
    [this.#api, this.#cast, this.#tell] = [api, cast, tell];
  }

  /** The next time the pod is not ready, no reason is told. */
  leaveOutReason({ metadata }: KubeObject): void {
    this.#unexplained.add(metadata.uid ?? '');
  }

  hear(change: Change): void {
    const { resource, object, previous, type } = change;
    if (type === 'ADDED') this.#cast.add(resource, object);
    const gone = type === 'DELETED';
    if (resource === 'pods') this.#hearPod(object, previous, gone);
    else if (resource === 'nodes') this.#hearNode(object, previous, gone);
    else if (resource === 'namespaces') this.#hearNamespace(object, previous, gone);
    else if (resource === 'endpointslices') this.#hearEndpoints(object);
    else if (counts[object.kind ?? '']) this.#hearWorkload(object, previous, gone);
  }

  #hearPod(pod: KubeObject, previous: KubeObject | null, gone: boolean): void {
    const name = this.#cast.nameOf(pod);
    const tell = (event: string, facts: Facts = {}): void =>
      this.#tell({ event, pod: name, ...facts });
    if (!previous) tell('podCreated');
    const { metadata, spec, status } = pod;
    if (spec.nodeName && spec.nodeName !== previous?.spec.nodeName) {
      tell('podBound', { node: spec.nodeName });
    }
    this.#hearConditions(pod, previous, tell);
    const phase: string = status?.phase ?? '';
    if (ended.includes(phase) && phase !== previous?.status?.phase) tell('podPhase', { phase });
    this.#hearOwner(pod, previous, tell);
    if (metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp) {
      tell('podTerminating', { grace: metadata.deletionGracePeriodSeconds ?? 0 });
    }
    if (gone) tell('podGone');
  }

  #hearConditions(
    pod: KubeObject,
    previous: KubeObject | null,
    tell: (event: string, facts?: Facts) => void,
  ): void {
    const [ready, before] = [conditionOf(pod, 'Ready'), conditionOf(previous, 'Ready')];
    if (ready?.status === 'True' && before?.status !== 'True') {
      this.#unexplained.delete(pod.metadata.uid ?? '');
      tell('podReady');
    }
    if (ready && ready.status !== 'True' && before?.status === 'True') {
      const hasReason = ready.reason && !this.#unexplained.has(pod.metadata.uid ?? '');
      tell('podNotReady', hasReason ? { reason: ready.reason } : {});
    }
    const target = conditionOf(pod, 'DisruptionTarget');
    if (target?.status === 'True' && !isTrue(previous, 'DisruptionTarget')) {
      tell('podDisruptionTarget', { reason: target.reason ?? '' });
    }
    const isRefused = (one: KubeObject | null): boolean =>
      conditionOf(one, 'PodScheduled')?.reason === 'Unschedulable';
    if (isRefused(pod) && !isRefused(previous)) tell('podUnschedulable');
  }

  #hearOwner(
    pod: KubeObject,
    previous: KubeObject | null,
    tell: (event: string, facts?: Facts) => void,
  ): void {
    if (!previous) return;
    const ownerOf = ({ metadata }: KubeObject): string | null =>
      metadata.ownerReferences?.find(({ controller }) => controller)?.name ?? null;
    const [owner, before] = [ownerOf(pod), ownerOf(previous)];
    if (owner === before) return;
    if (owner === null) tell('podOrphaned');
    else tell('podAdopted', { by: owner });
  }

  #hearNode(node: KubeObject, previous: KubeObject | null, gone: boolean): void {
    const { name } = node.metadata;
    const [ready, before] = [conditionOf(node, 'Ready'), conditionOf(previous, 'Ready')];
    if (ready && ready.status !== before?.status) {
      const { status, reason = '' } = ready;
      this.#tell({ event: 'nodeReady', node: name, status, reason });
    }
    const taints = taintsOf(node);
    if (previous && taints.join() !== taintsOf(previous).join()) {
      this.#tell({ event: 'nodeTaints', node: name, taints });
    }
    if (gone) this.#tell({ event: 'nodeGone', node: name });
  }

  #hearNamespace({ metadata }: KubeObject, previous: KubeObject | null, gone: boolean): void {
    if (metadata.deletionTimestamp && previous && !previous.metadata.deletionTimestamp) {
      this.#tell({ event: 'namespaceTerminating' });
    }
    if (gone) this.#tell({ event: 'namespaceGone' });
  }

  #hearWorkload(object: KubeObject, previous: KubeObject | null, gone: boolean): void {
    const { kind = '' } = object;
    const name = this.#cast.nameOf(object);
    const factsOf = (one: KubeObject): Facts => ({
      ...counts[kind]?.(one),
      ...(one.metadata.deletionTimestamp ? { deleting: true } : {}),
    });
    if (gone) {
      this.#tell({ event: 'gone', kind, name });
      return;
    }
    const facts = factsOf(object);
    if (previous && JSON.stringify(facts) === JSON.stringify(factsOf(previous))) return;
    this.#tell({ event: 'status', kind, name, ...facts });
  }

  #hearEndpoints({ metadata }: KubeObject): void {
    const service = metadata.labels?.['kubernetes.io/service-name'] ?? '';
    const slices = this.#api
      .list('endpointslices', metadata.namespace ?? '')
      .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === service);
    interface Endpoint {
      readonly conditions?: Readonly<Record<'ready' | 'serving' | 'terminating', boolean>>;
    }
    const endpoints: readonly Endpoint[] = slices.flatMap((slice) => slice.endpoints ?? []);
    const count = (condition: 'ready' | 'serving' | 'terminating'): number =>
      endpoints.filter(({ conditions }) => conditions?.[condition]).length;
    const facts = {
      ready: count('ready'),
      terminating: count('terminating'),
      serving: count('serving'),
      total: endpoints.length,
    };
    const text = JSON.stringify(facts);
    if (this.#endpoints.get(service) === text) return;
    this.#endpoints.set(service, text);
    this.#tell({ event: 'endpoints', service, ...facts });
  }
}

function taintsOf({ spec }: KubeObject): readonly string[] {
  const taints: readonly { readonly key: string; readonly effect: string }[] = spec?.taints ?? [];
  return taints.map(({ key, effect }) => `${key}:${effect}`).sort();
}

/** The pods that are there, by name. */
export function stateOf(api: Cluster['api'], cast: Cast): readonly PodState[] {
  const states = api.list('pods').map((pod) => ({
    pod: cast.nameOf(pod),
    ...(pod.spec.nodeName ? { node: pod.spec.nodeName as string } : {}),
    phase: (pod.status?.phase as string | undefined) ?? '',
    ready: isTrue(pod, 'Ready'),
    ...(pod.metadata.deletionTimestamp ? { terminating: true } : {}),
  }));
  return states.sort((one, other) => (one.pod < other.pod ? -1 : 1));
}
