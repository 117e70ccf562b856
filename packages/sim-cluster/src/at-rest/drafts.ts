// The new objects of a cluster that settles, before they are stored.
import { keyOf } from '../controllers/pods.ts';
import type { Clock } from '../kernel/clock.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Change, ClusterApi, StoredKind } from '../store/cluster-api.ts';

interface Listener {
  readonly hear: (change: Change) => void;
  readonly resources: ReadonlySet<string> | null;
}

/** Gives a new pod its metadata and defaults, as the API server does. */
type DraftPod = (given: KubeObject) => KubeObject;

/**
 * The API as the controllers of workloads use it while a cluster settles. They soon overwrite most
 * of their writes. Drafts keeps each write in memory, and only the final states, by `drafts`, are
 * stored. Pods are drafts from their creation; of a workload only the status is a draft.
 */
export class Drafts implements ClusterApi {
  readonly clock: Clock;
  readonly #api: ClusterApi;
  readonly #draftPod: DraftPod;
  readonly #listeners = new Set<Listener>();
  /** By resource and key. */
  readonly #drafts = new Map<string, Map<string, KubeObject>>();

  constructor(api: ClusterApi, draftPod: DraftPod) {
    this.clock = api.clock;
    this.#api = api;
    this.#draftPod = draftPod;
  }

  /** The drafts of a resource, by key. */
  drafts(resource: string): ReadonlyMap<string, KubeObject> {
    return this.#of(resource);
  }

  as(): ClusterApi {
    return this;
  }

  stored(): readonly StoredKind[] {
    return this.#api.stored();
  }

  findKind(apiVersion: string, kind: string): StoredKind | null {
    return this.#api.findKind(apiVersion, kind);
  }

  get(resource: string, namespace: string, name: string): KubeObject | null {
    const draft = this.#drafts.get(resource)?.get(namespace ? `${namespace}/${name}` : name);
    return draft ?? this.#api.get(resource, namespace, name);
  }

  find(resource: string, key: string): KubeObject | null {
    return this.#drafts.get(resource)?.get(key) ?? this.#api.find(resource, key);
  }

  list(resource: string, namespace?: string): readonly KubeObject[] {
    const drafts = this.#drafts.get(resource);
    const stored = this.#api.list(resource, namespace);
    if (!drafts) return stored;
    if (resource === 'pods') {
      const pods = [...drafts.values()];
      return namespace ? pods.filter(({ metadata }) => metadata.namespace === namespace) : pods;
    }
    return stored.map((object) => drafts.get(keyOf(object)) ?? object);
  }

  create(resource: string, given: KubeObject): KubeObject {
    const object = resource === 'pods' ? this.#newPod(given) : this.#api.create(resource, given);
    if (resource === 'pods') this.#of(resource).set(keyOf(object), object);
    this.#report({ type: 'ADDED', resource, key: keyOf(object), object, previous: null });
    return object;
  }

  /** A name that was generated may be that of another draft. */
  #newPod(given: KubeObject): KubeObject {
    const pods = this.#of('pods');
    let pod = this.#draftPod(given);
    while (pods.has(keyOf(pod))) pod = this.#draftPod(given);
    return pod;
  }

  update(resource: string, object: KubeObject, subresource?: 'status' | 'finalize'): KubeObject {
    const key = keyOf(object);
    const previous = this.find(resource, key);
    const isDraft = resource === 'pods' || subresource === 'status';
    const next = isDraft ? object : this.#api.update(resource, object, subresource);
    if (isDraft) this.#of(resource).set(key, next);
    this.#report({ type: 'MODIFIED', resource, key, object: next, previous });
    return next;
  }

  delete(resource: string, namespace: string, name: string): void {
    throw new Error(`${resource} ${namespace}/${name}: nothing goes while a cluster settles`);
  }

  skipVersion(): void {}

  bind(namespace: string, name: string): void {
    throw new Error(`${namespace}/${name}: no pod is bound while a cluster settles`);
  }

  subscribe(hear: Listener['hear'], resources: Listener['resources'] = null): () => void {
    const listener = { hear, resources };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #report(change: Change): void {
    for (const { hear, resources } of this.#listeners) {
      if (resources?.has(change.resource) ?? true) hear(change);
    }
  }

  #of(resource: string): Map<string, KubeObject> {
    const known = this.#drafts.get(resource);
    if (known) return known;
    const drafts = new Map<string, KubeObject>();
    this.#drafts.set(resource, drafts);
    return drafts;
  }
}
