import { Cluster } from '../../src/cluster.ts';
import { keyOf } from '../../src/controllers/pods.ts';
import { VirtualClock } from '../../src/kernel/clock.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';

// Plays a recorded case through a cluster: its objects are there, one more pod is created.

/** The objects of a case, as they were submitted. */
export interface SchedulingCase {
  readonly id: string;
  readonly nodes: readonly KubeObject[];
  readonly pods: readonly KubeObject[];
  readonly pod: KubeObject;
  /** A pod that was created before. */
  readonly earlier?: KubeObject;
  readonly namespaces?: readonly KubeObject[];
  readonly pvs?: readonly KubeObject[];
  readonly pvcs?: readonly KubeObject[];
  readonly storageClasses?: readonly KubeObject[];
  readonly csiNodes?: readonly KubeObject[];
  readonly services?: readonly KubeObject[];
  readonly replicaSets?: readonly KubeObject[];
  readonly pdbs?: readonly KubeObject[];
  readonly priorityClasses?: readonly KubeObject[];
}

/** A pod that was deleted while the case ran. */
export interface Victim {
  /** `namespace/name`. */
  readonly pod: string;
  readonly node: string;
  readonly deleted: string;
  readonly condition: object | undefined;
}

const start = Date.parse('2026-01-01T12:00:00Z');
/** Nobody else works in the cluster, as when the cases were recorded. */
const without = [
  ...(['conditionTaints', 'workloads', 'disruption', 'garbageCollection'] as const),
  ...(['namespaces', 'volumes'] as const),
];
/** How long a step takes at most until all is at rest. */
const settleMs = 20_000;

/** Loaded as they are, by kind; pods go through the API server, which completes them. */
const loaded = {
  nodes: ['v1', 'Node'],
  namespaces: ['v1', 'Namespace'],
  pvs: ['v1', 'PersistentVolume'],
  pvcs: ['v1', 'PersistentVolumeClaim'],
  storageClasses: ['storage.k8s.io/v1', 'StorageClass'],
  csiNodes: ['storage.k8s.io/v1', 'CSINode'],
  services: ['v1', 'Service'],
  replicaSets: ['apps/v1', 'ReplicaSet'],
  pdbs: ['policy/v1', 'PodDisruptionBudget'],
  priorityClasses: ['scheduling.k8s.io/v1', 'PriorityClass'],
} as const;

/** A cluster in which a case is played. */
export class PlayedCase {
  readonly #cluster: Cluster;
  readonly #clock = new VirtualClock(start);
  readonly #given: SchedulingCase;
  /** Pods that were deleted, in the state in which they were last seen. */
  readonly #deleted = new Map<string, { readonly pod: KubeObject; readonly isGone: boolean }>();

  constructor(given: SchedulingCase, seed: number) {
    this.#given = given;
    const snapshot = (Object.keys(loaded) as (keyof typeof loaded)[]).flatMap((list) => {
      const [apiVersion, kind] = loaded[list];
      const spec = list === 'nodes' || list === 'namespaces' ? { spec: {} } : {};
      return (given[list] ?? []).map((object) => ({ apiVersion, kind, ...spec, ...object }));
    });
    this.#cluster = new Cluster({ clock: this.#clock, seed, snapshot, without });
    const { unloaded } = this.#cluster.loadReport;
    if (unloaded.length > 0) throw new Error(`${given.id}: ${JSON.stringify(unloaded)}`);
    for (const pod of given.pods) this.#addBound(pod);
  }

  /** All that is stored. */
  get objects(): Pick<Cluster['api'], 'get' | 'list'> {
    return this.#cluster.api;
  }

  /** Creates the pods of the case and lets the scheduler work. */
  play(): void {
    const { earlier, pod } = this.#given;
    this.#cluster.start();
    this.#settle();
    if (earlier) this.#create(earlier);
    this.#cluster.api.subscribe(
      ({ object, type, previous }) => {
        if (!object.metadata.deletionTimestamp || previous?.metadata.deletionTimestamp) {
          const known = this.#deleted.get(keyOf(object));
          if (known && type === 'DELETED')
            this.#deleted.set(keyOf(object), { ...known, isGone: true });
          return;
        }
        this.#deleted.set(keyOf(object), { pod: object, isGone: type === 'DELETED' });
      },
      new Set(['pods']),
    );
    this.#create(pod);
  }

  #create(pod: KubeObject): void {
    this.#cluster.api.create('pods', pod);
    this.#settle();
  }

  /** Lets the victims go at once. */
  removeVictims(): void {
    for (const { pod, isGone } of this.#deleted.values()) {
      const { namespace = '', name } = pod.metadata;
      if (!isGone) this.#cluster.api.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
    }
    this.#settle();
  }

  /** The pod as the API shows it; null: it is gone. */
  find(pod: KubeObject): KubeObject | null {
    return this.#cluster.api.get('pods', pod.metadata.namespace ?? '', pod.metadata.name);
  }

  /** The messages of the events about an object, with the uid of the new pod replaced. */
  eventsOf(reason: string, { metadata }: KubeObject): readonly string[] {
    const uid = this.find(this.#given.pod)?.metadata.uid ?? '';
    return this.#cluster.api
      .list('events')
      .filter((event) => event.reason === reason && event.involvedObject.name === metadata.name)
      .map(({ message }) => String(message).replaceAll(uid, '<uid of the new pod>'));
  }

  victims(): readonly Victim[] {
    return [...this.#deleted].map(([key, { pod }]) => {
      const { deletionGracePeriodSeconds: grace } = pod.metadata;
      const conditions: readonly { readonly type: string }[] = pod.status?.conditions ?? [];
      return {
        pod: key,
        node: pod.spec.nodeName,
        deleted: grace ? `terminating, ${grace}s` : 'at once',
        condition: conditions.find(({ type }) => type === 'DisruptionTarget'),
      };
    });
  }

  /** The name of the volume that the claims of a pod got. */
  volumesOf({ spec, metadata }: KubeObject): readonly string[] {
    const volumes: readonly KubeObject[] = spec.volumes ?? [];
    return volumes.flatMap(({ persistentVolumeClaim: named }) => {
      const name: string = named?.claimName ?? '';
      const claim = this.#cluster.api.get('persistentvolumeclaims', metadata.namespace ?? '', name);
      return claim?.spec?.volumeName ?? [];
    });
  }

  #addBound(given: KubeObject): void {
    const { api } = this.#cluster;
    const { deletionTimestamp, ...metadata } = given.metadata;
    const { namespace = '', name } = metadata;
    const created = api.create('pods', { ...given, metadata });
    api.update('pods', { ...created, status: { ...created.status, ...given.status } }, 'status');
    if (deletionTimestamp) api.delete('pods', namespace, name);
  }

  /** As the recorder did, binds claims as soon as the scheduler has chosen their volumes. */
  #settle(): void {
    this.#clock.advanceTo(this.#clock.now() + settleMs / 2);
    const { api } = this.#cluster;
    for (const claim of api.list('persistentvolumeclaims')) {
      if (claim.spec?.volumeName) continue;
      const promised = api
        .list('persistentvolumes')
        .find(({ spec }) => spec?.claimRef?.uid === claim.metadata.uid);
      const isSelected = claim.metadata.annotations?.['volume.kubernetes.io/selected-node'];
      if (promised || isSelected) this.#bind(claim, promised?.metadata.name ?? 'provisioned');
    }
    this.#clock.advanceTo(this.#clock.now() + settleMs / 2);
  }

  #bind(claim: KubeObject, volumeName: string): void {
    const { api } = this.#cluster;
    const spec = { ...claim.spec, volumeName };
    const bound = api.update('persistentvolumeclaims', { ...claim, spec });
    api.update('persistentvolumeclaims', { ...bound, status: { phase: 'Bound' } }, 'status');
  }
}
