import { isList, isObject } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';

/** A value as Go prints it: `map[a:1 b:[x y]]`. */
export function goText(value: Json): string {
  if (isList(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return value === null ? '<nil>' : String(value);
  const names = Object.keys(value).sort();
  return `map[${names.map((name) => `${name}:${goText(value[name] ?? null)}`).join(' ')}]`;
}
