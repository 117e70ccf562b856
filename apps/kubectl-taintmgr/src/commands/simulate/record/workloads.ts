import type { Change, ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import { natural } from './nodes.ts';
import { type Step, Steps } from './steps.ts';

/** How many pods a workload wants, and how many are there and ready. */
interface WorkloadState {
  readonly wanted: number;
  readonly ready: number;
}

/** A workload and how available it was. */
export interface WorkloadTrack {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly states: readonly Step<WorkloadState>[];
}

interface Entry {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly states: Steps<WorkloadState>;
  wanted: number;
  ready: number;
}

const wanting: Readonly<Record<string, (object: KubeObject) => number>> = {
  deployments: ({ spec }) => spec.replicas ?? 1,
  statefulsets: ({ spec }) => spec.replicas ?? 1,
  replicasets: ({ spec }) => spec.replicas ?? 1,
  daemonsets: ({ status }) => status?.desiredNumberScheduled ?? 0,
};

/** Records how many pods of each workload but Jobs are ready during a run. */
export class WorkloadBook {
  readonly #api: ClusterApi;
  readonly #entries = new Map<string, Entry>();

  /** Begins with what is there: pods of owners that are not known want to stay as many. */
  constructor(api: ClusterApi) {
    this.#api = api;
    for (const resource of Object.keys(wanting)) {
      for (const object of api.list(resource)) this.notice(0, { resource, object, type: 'ADDED' });
    }
    for (const pod of api.list('pods')) {
      const entry = this.#entryOf(pod);
      if (entry && !this.#isKnown(entry)) entry.wanted++;
    }
  }

  /** Whether changes of the resource are of interest. */
  takes(resource: string): boolean {
    return resource in wanting;
  }

  notice(at: number, { resource, object, type }: Omit<Change, 'previous'>): void {
    const wanted = wanting[resource];
    // A ReplicaSet of a Deployment is a part of it.
    if (!wanted || ownerOf(object)) return;
    const entry = this.#entry(
      object.kind ?? '',
      object.metadata.namespace ?? '',
      object.metadata.name,
    );
    entry.wanted = type === 'DELETED' ? 0 : wanted(object);
    this.#write(at, entry);
  }

  /** A pod has become ready (1), or is so no more (-1). */
  countReady(at: number, pod: KubeObject, change: 1 | -1): void {
    const entry = this.#entryOf(pod);
    if (!entry) return;
    entry.ready += change;
    this.#write(at, entry);
  }

  /** `Deployment shop/web`; null for pods of no workload that is counted. */
  nameOf(pod: KubeObject): string | null {
    const entry = this.#entryOf(pod);
    return entry && `${entry.kind} ${entry.namespace}/${entry.name}`;
  }

  /** Writes all down as it is at the beginning. */
  begin(): void {
    for (const entry of this.#entries.values()) this.#write(0, entry);
  }

  tracks(): readonly WorkloadTrack[] {
    const tracks = Array.from(this.#entries.values(), ({ kind, namespace, name, states }) => {
      return { kind, namespace, name, states: states.all };
    });
    return tracks
      .filter(({ states }) => states.some(({ wanted, ready }) => wanted > 0 || ready > 0))
      .sort((one, other) => natural(keyOf(one), keyOf(other)));
  }

  #write(at: number, entry: Entry): void {
    entry.states.push(at, { wanted: entry.wanted, ready: entry.ready });
  }

  /** The workload of a pod: what owns it, or what owns that. */
  #entryOf(pod: KubeObject): Entry | null {
    const namespace = pod.metadata.namespace ?? '';
    const owner = ownerOf(pod);
    if (!owner) return this.#entry('Pod', namespace, pod.metadata.name);
    if (owner.kind === 'Node' || owner.kind === 'Job') return null;
    const set =
      owner.kind === 'ReplicaSet' ? this.#api.get('replicasets', namespace, owner.name) : null;
    const top = (set && ownerOf(set)) ?? owner;
    return this.#entry(top.kind, namespace, top.name);
  }

  #isKnown({ kind, namespace, name }: Entry): boolean {
    const resource = `${kind.toLowerCase()}s`;
    return resource in wanting && this.#api.get(resource, namespace, name) !== null;
  }

  #entry(kind: string, namespace: string, name: string): Entry {
    const key = `${kind} ${namespace}/${name}`;
    const known = this.#entries.get(key);
    if (known) return known;
    const entry = {
      kind,
      namespace,
      name,
      states: new Steps<WorkloadState>(),
      wanted: 0,
      ready: 0,
    };
    this.#entries.set(key, entry);
    return entry;
  }
}

function ownerOf({
  metadata,
}: KubeObject): { readonly kind: string; readonly name: string } | null {
  return metadata.ownerReferences?.find(({ controller }) => controller) ?? null;
}

function keyOf({ kind, namespace, name }: WorkloadTrack): string {
  return `${namespace}/${name}/${kind}`;
}
