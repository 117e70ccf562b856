// Tables of custom resources.

import type { Column, Json, KubeObject, Printer } from '@taintmgr/sim-cluster/server';
import { isList, isObject } from '@taintmgr/sim-cluster/server';
import type { PrinterColumn } from '../structural/definition.ts';
import { findAll, parsePath } from '../structural/json-path.ts';
import { age, dateColumn, nameColumn } from '../table/columns.ts';
import { since } from '../table/duration.ts';

/** Name and the columns given; without any, name and age. */
export function customPrinter(columns: readonly PrinterColumn[]): Printer {
  if (columns.length === 0) {
    return {
      columns: [nameColumn, dateColumn],
      cells: (object, now) => [object.metadata.name, age(object, now)],
    };
  }
  const read = columns.map((column) => {
    const steps = parsePath(column.jsonPath) ?? [];
    return (object: KubeObject, now: number): Json => {
      const [first] = findAll(steps, object);
      return first === undefined || first === null ? null : cellOf(column.type, first, now);
    };
  });
  return {
    columns: [nameColumn, ...columns.map(columnOf)],
    cells: (object, now) => [object.metadata.name, ...read.map((cell) => cell(object, now))],
  };
}

function columnOf({ name, type, format, description, priority, jsonPath }: PrinterColumn): Column {
  const stated = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
  return {
    name,
    type: type as Column['type'],
    format: format ?? '',
    description: description || stated,
    priority: priority ?? 0,
  };
}

/** A value that does not fit its column is not shown. */
function cellOf(type: string, value: Json, now: number): Json {
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      if (typeof value !== 'string') return null;
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : since(value, now);
    }
    default:
      return isList(value) || isObject(value) ? JSON.stringify(value) : String(value);
  }
}
