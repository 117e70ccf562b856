import type { Json, Shape } from '@taintmgr/sim-cluster/server';
import {
  elementOf,
  isList,
  isMerged,
  isObject,
  memberShape,
  showField,
} from '@taintmgr/sim-cluster/server';

/**
 * What a configuration has twice in lists whose items are told apart by keys or values, in words:
 * `.spec.rules: duplicate entries for key [k="a"]`.
 */
export function duplicateKeys(shape: Shape | undefined, value: Json, path = ''): readonly string[] {
  if (typeof shape !== 'object') return [];
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      duplicateKeys(memberShape(shape, name), member, `${path}.${name}`),
    );
  }
  if (!isList(value) || shape.type !== 'list') return [];
  const seen = new Set<string>();
  return value.flatMap((item, index) => {
    if (!isMerged(shape)) return duplicateKeys(shape.items, item, `${path}[${index}]`);
    const element = elementOf(shape, item);
    const key = showField([element]);
    const own = seen.has(element) ? [`${path}: duplicate entries for key ${key}`] : [];
    seen.add(element);
    return [...own, ...duplicateKeys(shape.items, item, `${path}${key}`)];
  });
}
