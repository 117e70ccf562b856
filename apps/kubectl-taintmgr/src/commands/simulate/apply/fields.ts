// The differences between two states of an object, field by field.

/** The number of fields of an object that are named, and the characters of each side. */
const fieldsMax = 20;
const textMax = 60;
const absent = '<none>';

/**
 * Fields that may hold a secret of the cluster. A summary has many readers: for these fields, the
 * summary names the path without the values.
 */
const untoldNames = ['env', 'envFrom', 'command', 'args', 'httpHeaders', 'annotations'];
const untoldPath = new RegExp(`(?:^|[.\\]])(?:${untoldNames.join('|')})(?:[.[]|$)`);
const ourAnnotation = /(?:^|\.)annotations\.taintmgr\.dev\//;

/** `spec.replicas 3 -> 1`, in the order of the fields; `<none>` for a missing value. */
export function changedFields(before: object, after: object): readonly string[] {
  const all = [...differences('', members(before), members(after))];
  const more = all.length - fieldsMax;
  return more > 0 ? [...all.slice(0, fieldsMax), `and ${more} more`] : all;
}

/** Fields that the API server writes by itself. */
const silent = new Set([
  'status',
  'metadata.generation',
  'metadata.resourceVersion',
  'metadata.managedFields',
]);

type Members = Readonly<Record<string, unknown>>;

function* differences(path: string, before: Members, after: Members): Generator<string> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of names) {
    const at = path === '' ? name : `${path}.${name}`;
    if (!silent.has(at)) yield* differenceAt(at, before[name], after[name]);
  }
}

function* differenceAt(path: string, before: unknown, after: unknown): Generator<string> {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  if (isMembers(before) && isMembers(after)) {
    yield* differences(path, before, after);
  } else if (isListOf(before, after) && isListOf(after, before)) {
    for (const [at, item] of before.entries()) {
      yield* differenceAt(`${path}[${at}]`, item, after[at]);
    }
  } else if (untoldPath.test(path) && !ourAnnotation.test(path)) yield `${path} differs`;
  else yield `${path} ${textOf(before)} -> ${textOf(after)}`;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of lists of one length each item is compared with the one in its place. */
function isListOf(value: unknown, other: unknown): value is readonly unknown[] {
  return Array.isArray(value) && Array.isArray(other) && value.length === other.length;
}

function members(object: object): Members {
  return isMembers(object) ? object : {};
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return absent;
  const text = typeof value === 'string' ? value : JSON.stringify(value, told);
  return text.length > textMax ? `${text.slice(0, textMax - 3)}...` : text;
}

function told(member: string, value: unknown): unknown {
  return untoldNames.includes(member) ? undefined : value;
}
