// An item that is null is an empty one, as Go reads both as its zero: rules then refuse or take it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resources, type Shape } from '@taintmgr/sim-cluster/server';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';
import { minimal, pathOf } from '../world/minimal-bodies.ts';

/** Where a kind has lists of structs: `spec.containers.[].env`. */
function listsIn(shape: Shape, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof shape === 'string' || path.length > 7) return [];
  switch (shape.type) {
    case 'struct':
      return Object.entries(shape.fields).flatMap(([key, field]) => listsIn(field, [...path, key]));
    case 'list': {
      const { items } = shape;
      const isOfStructs = typeof items !== 'string' && items.type === 'struct';
      return isOfStructs ? [path, ...listsIn(items, [...path, '[]'])] : [];
    }
    default:
      return [];
  }
}

/** The value with another one at a path. */
function put(value: unknown, [key, ...rest]: readonly string[], list: unknown): unknown {
  if (key === undefined) return list;
  if (key === '[]') {
    const [first = {}, ...others] = Array.isArray(value) ? value : [];
    return [put(first, rest, list), ...others];
  }
  const around = value instanceof Object ? value : {};
  const inside = new Map<string, unknown>(Object.entries(around)).get(key);
  return { ...around, [key]: put(inside, rest, list) };
}

describe('a null item is an empty one', () => {
  for (const resource of resources.filter(({ storage }) => !storage)) {
    const lists = listsIn(resource.schema);
    if (lists.length === 0) continue;
    it(`of ${resource.plural}`, () => {
      for (const path of lists) {
        const post = (item: object | null) => {
          const { client } = fixture();
          return client.post(pathOf(resource), put(minimal(resource), path, [item]));
        };
        const [empty, nothing] = [post({}), post(null)];
        assert.notEqual(nothing.status, 500, `${path.join('.')}: ${nothing.text}`);
        assert.equal(nothing.text, empty.text, path.join('.'));
      }
    });
  }
});

describe('what rules say of a null item', () => {
  const cases: readonly (readonly [string, string, object, string])[] = [
    [
      'a toleration',
      pods,
      podNamed('p', { tolerations: [null] }),
      'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
    [
      'a taint',
      nodes,
      { metadata: { name: 'n' }, spec: { taints: [null] } },
      'metadata.taints[0].effect: Required value',
    ],
    [
      'a container',
      pods,
      podNamed('p', { containers: [null] }),
      'spec.containers[0].name: Required value, spec.containers[0].image: Required value',
    ],
  ];
  for (const [what, path, body, message] of cases) {
    it(`that is ${what}`, () => {
      const { status, body: answer } = fixture().client.post(path, body);
      assert.equal(status, 422);
      assert.ok(answer.message?.includes(message), answer.message);
    });
  }
});
