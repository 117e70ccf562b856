// Whether two values are the same to the real server, which reads every part as its type.
import { equal, isList, isObject } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';

/**
 * Whether they are equal, also where parts of any form hold zeros that only one of them says: a client in
 * Go leaves out `value: ""` and `readOnly: false` of what it has read, and adds `status: {}`.
 */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return equal(one, other) || equal(withoutZeros(one ?? null), withoutZeros(other ?? null));
}

function withoutZeros(value: Json): Json {
  if (isList(value)) return value.map(withoutZeros);
  if (!isObject(value)) return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, withoutZeros(member ?? null)] as const)
    .filter(([, member]) => !isZero(member));
  return Object.fromEntries(members);
}

function isZero(value: Json): boolean {
  if (isList(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === null || value === '' || value === false;
}
