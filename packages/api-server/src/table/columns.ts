// Columns of tables, and the cells that many tables share.
import type { Column, KubeObject } from '@taintmgr/sim-cluster/server';
import { since } from './duration.ts';

/** A column that is always shown. */
export function column(name: string, description: string, type: Column['type'] = 'string'): Column {
  return { name, type, format: '', description, priority: 0 };
}

/** A column of `-o wide`. */
export function wide(name: string, description: string): Column {
  return { name, type: 'string', format: '', description, priority: 1 };
}

/** The description in the API documentation. */
const nameText =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
const creationText =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

export const nameColumn: Column = {
  ...column('Name', nameText),
  format: 'name',
};
export const ageColumn: Column = column('Age', creationText);

/** The ages of custom resources are said to be dates, though they are shown as ages. */
export const dateColumn: Column = { ...ageColumn, type: 'date' };

/** The age of an object. */
export function age(object: KubeObject, now: number): string {
  return since(object.metadata.creationTimestamp, now);
}

/** A text, or `<none>` for an empty one. */
export function orNone(value: string | null | undefined): string {
  return value ? value : '<none>';
}
