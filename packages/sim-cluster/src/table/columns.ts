// How columns of tables are described.
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { since } from './duration.ts';

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

/** How a kind is printed: its columns and the cells of one object at a time `now`. */
export interface Printer {
  readonly columns: readonly Column[];
  readonly cells: (object: KubeObject, now: number) => readonly Json[];
}

/** A column that is always shown. */
export function column(name: string, description: string, type: Column['type'] = 'string'): Column {
  return { name, type, format: '', description, priority: 0 };
}

/** A column of `-o wide`. */
export function wide(name: string, description: string): Column {
  return { name, type: 'string', format: '', description, priority: 1 };
}

export const nameColumn: Column = {
  ...column('Name', 'Name must be unique within a namespace.'),
  format: 'name',
};
export const ageColumn: Column = column(
  'Age',
  'CreationTimestamp is a timestamp representing the server time when this object was created.',
);

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
