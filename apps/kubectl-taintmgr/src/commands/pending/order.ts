// Which pending evictions come first.
import { findJsonPath, relaxedPath } from '../../render/json-path.ts';
import type { PodReport } from '../../report/report.ts';
import { UsageError } from '../../usage-error.ts';

/** A pod, and the document about it. */
export interface PendingRow {
  readonly pod: PodReport;
  readonly document: object;
}

type Key = string | number;

/** What rows can be sorted by, by name. */
const keys: Readonly<Record<string, (row: PendingRow) => Key>> = {
  due: ({ pod }) => pod.explanation.remaining ?? Number.POSITIVE_INFINITY,
  name: ({ pod }) => `${pod.facts.pod.namespace}/${pod.facts.pod.name}`,
  node: ({ pod }) => pod.facts.pod.nodeName,
};

/** The rows by a key, or by what a path finds in their documents. Throws UsageError. */
export function inOrder(rows: readonly PendingRow[], sortBy: string): readonly PendingRow[] {
  const key = Object.hasOwn(keys, sortBy) ? keys[sortBy] : pathKey(sortBy);
  const keyed = rows.map((row) => ({ row, key: key?.(row) ?? '' }));
  return keyed
    .sort((a, b) => compare(a.key, b.key) || compareNames(a.row, b.row))
    .map(({ row }) => row);
}

function pathKey(sortBy: string): (row: PendingRow) => Key {
  if (!/^[{.]/.test(sortBy)) {
    const known = Object.keys(keys).join(', ');
    const got = JSON.stringify(sortBy);
    throw new UsageError(`--sort-by: got ${got}, want ${known}, or a path such as {.taint.key}`);
  }
  const template = relaxedPath(sortBy);
  return ({ document }) => {
    const [found] = findJsonPath(template, document);
    return typeof found === 'number' ? found : String(found ?? '');
  };
}

function compareNames(a: PendingRow, b: PendingRow): number {
  const [left, right] = [a, b].map(({ pod }) => `${pod.facts.pod.namespace}/${pod.facts.pod.name}`);
  return compare(left ?? '', right ?? '');
}

/** Numbers come before texts. */
function compare(a: Key, b: Key): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
