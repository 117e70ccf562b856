// API objects as plain JSON, as far as their common fields go.

/** Any JSON value. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json };

/**
 * Fields as FieldsV1 writes them: `f:name` is a member, `k:{...}` a list item by its keys, `v:...` a
 * member of a set. An empty node is a field; `.` beside others is the field that has them.
 */
export interface FieldTree {
  readonly [element: string]: FieldTree;
}

/** The fields that one manager owns; entries from clients may hold anything. */
export type ManagedFields = {
  /** The name of the program that owns the fields. */
  readonly manager?: string;
  /** `Apply` for server-side apply, `Update` for every other write. */
  readonly operation?: 'Apply' | 'Update';
  /** The version of the object in which the fields are written. */
  readonly apiVersion?: string;
  /** When the manager last changed its fields, RFC 3339. */
  readonly time?: string;
  /** The format of `fieldsV1`. */
  readonly fieldsType?: 'FieldsV1';
  /** The fields. */
  readonly fieldsV1?: FieldTree;
  /** The subresource through which the fields were written; left out: the object itself. */
  readonly subresource?: string;
};

/** An owner of an object: the garbage collector deletes the object after its last owner. */
export type OwnerReference = {
  /** Such as `apps/v1`. */
  readonly apiVersion: string;
  /** Such as `ReplicaSet`. */
  readonly kind: string;
  /** The name of the owner, in the namespace of the object or without one. */
  readonly name: string;
  /** An owner of the same name with another UID is not meant. */
  readonly uid: string;
  /** True for the one owner that controls the object. */
  readonly controller?: boolean;
  /** True if foreground deletion of the owner waits for this object. */
  readonly blockOwnerDeletion?: boolean;
};

/** The metadata of an object, as metav1.ObjectMeta has them. */
export type ObjectMeta = {
  /** Unique among the objects of a kind in a namespace. */
  readonly name: string;
  /** The start of a name that the API server completes, if `name` is empty. */
  readonly generateName?: string;
  /** Left out for cluster-scoped kinds. */
  readonly namespace?: string;
  /** Unique in the cluster, over all time. */
  readonly uid?: string;
  /** Changes with each write; a number in this cluster. */
  readonly resourceVersion?: string;
  /** Counts the changes of the spec, for kinds that have it. */
  readonly generation?: number;
  /** RFC 3339, whole seconds, UTC. */
  readonly creationTimestamp?: string;
  /** When the grace period ends, RFC 3339; left out: the object is not being deleted. */
  readonly deletionTimestamp?: string;
  /** Seconds that a deleted object may take to end. */
  readonly deletionGracePeriodSeconds?: number;
  /** Read by selectors. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Notes of programs and people, which no selector reads. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The owners; the object is deleted after the last of them. */
  readonly ownerReferences?: readonly OwnerReference[];
  /** While there are any, a deleted object stays. */
  readonly finalizers?: readonly string[];
  /** The owners of fields, as server-side apply keeps them. */
  readonly managedFields?: readonly ManagedFields[];
};

/**
 * An API object as stored and sent: plain JSON, only the metadata typed. Kinds are not modelled
 * further; code that reads a spec or a status says which fields it needs where it needs them.
 */
export interface KubeObject {
  /** Such as `apps/v1`; left out in lists of one kind. */
  readonly apiVersion?: string;
  /** Such as `Deployment`; left out in lists of one kind. */
  readonly kind?: string;
  /** Name, namespace, labels and the other fields of every kind. */
  readonly metadata: ObjectMeta;
  // biome-ignore lint/suspicious/noExplicitAny: the body of a kind is read field by field where it is needed
  readonly [field: string]: any;
}
