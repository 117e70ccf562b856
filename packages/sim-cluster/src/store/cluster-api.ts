// The API as the cluster's own parts use it.
import type { Clock } from '../kernel/clock.ts';
import type { KubeObject } from '../objects/kube-object.ts';

/** A change of one stored object, reported after it happened. */
export interface Change {
  /** As in an event of a watch. */
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Plural resource name, e.g. `pods`. */
  readonly resource: string;
  /** `namespace/name` of the object, or its bare name; the same text from change to change. */
  readonly key: string;
  /** The state after the change; of a deleted object, its last state. */
  readonly object: KubeObject;
  /** The state before, null for ADDED. */
  readonly previous: KubeObject | null;
}

/** The options of a deletion. */
export interface DeleteOptions {
  /** Left out: the grace period of the pod; other kinds have none. */
  readonly gracePeriodSeconds?: number;
  /** Precondition: 409 unless the stored object has this uid. */
  readonly uid?: string;
  /** Foreground: the object stays until those that depend on it are gone. */
  readonly propagationPolicy?: 'Foreground' | 'Orphan';
}

/** A collection of stored objects under one key. */
export interface StoredKind {
  /** The `resource` of the methods of ClusterApi. */
  readonly storeKey: string;
  /** The API group; '' for the core group. */
  readonly group: string;
  /** Such as `v1`. */
  readonly version: string;
  /** The name in paths, such as `pods`. */
  readonly plural: string;
  /** False for cluster-scoped kinds. */
  readonly namespaced: boolean;
}

/**
 * The API for the cluster's own parts (kubelets, scheduler, workload and disruption controllers).
 * The same rules hold as over HTTP: defaults, validation, optimistic locking, graceful deletion; a
 * refusal is thrown as ApiError. Objects are frozen: read them, never change them in place.
 */
export interface ClusterApi {
  /** The clock of the cluster. */
  readonly clock: Clock;
  /** The same cluster for a writer of this name: the manager of the fields that it writes. */
  as(manager: string): ClusterApi;
  /** Everything that is stored, custom resources too. */
  stored(): readonly StoredKind[];
  /** The store of a kind's objects, by its apiVersion (`apps/v1`); null: it is not served now. */
  findKind(apiVersion: string, kind: string): StoredKind | null;
  /**
   * `resource` is the plural name (`pods`), of a custom resource with its group
   * (`widgets.example.com`); `namespace` is '' for cluster-scoped kinds.
   */
  get(resource: string, namespace: string, name: string): KubeObject | null;
  /** The object of this key: `namespace/name`, or the bare name of a cluster-scoped one. */
  find(resource: string, key: string): KubeObject | null;
  /** All objects in key order, or those of one namespace. */
  list(resource: string, namespace?: string): readonly KubeObject[];
  /** POST: returns the stored object. Throws ApiError 409 if the name is taken. */
  create(resource: string, object: KubeObject): KubeObject;
  /**
   * PUT: stale resourceVersion is a 409, none is unconditional. `finalize` is how the finalizers
   * of a namespace are changed; the last one takes the namespace with it.
   */
  update(resource: string, object: KubeObject, subresource?: 'status' | 'finalize'): KubeObject;
  /**
   * DELETE: pods and objects with finalizers stay for a while. Throws ApiError 404 without such an
   * object.
   */
  delete(resource: string, namespace: string, name: string, options?: DeleteOptions): void;
  /** Skips a version, as after a write that left nothing: the next write gets a later one. */
  skipVersion(): void;
  /** POST pods/NAME/binding. */
  bind(namespace: string, name: string, nodeName: string): void;
  /**
   * Called after each write, in the order of writes; returns the way to stop it. `resources`: after
   * writes of these alone.
   */
  subscribe(listener: (change: Change) => void, resources?: ReadonlySet<string> | null): () => void;
}
