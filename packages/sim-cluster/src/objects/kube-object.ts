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
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: 'FieldsV1';
  readonly fieldsV1?: FieldTree;
  readonly subresource?: string;
};

export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

export type ObjectMeta = {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  /** RFC 3339, whole seconds, UTC. */
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  /** The owners of fields, as server-side apply keeps them. */
  readonly managedFields?: readonly ManagedFields[];
};

/**
 * An API object as stored and sent: plain JSON, only the metadata typed. Kinds are not modelled
 * further; code that reads a spec or a status says which fields it needs where it needs them.
 */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  // biome-ignore lint/suspicious/noExplicitAny: the body of a kind is read field by field where it is needed
  readonly [field: string]: any;
}
