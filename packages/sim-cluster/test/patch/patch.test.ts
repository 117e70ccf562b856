import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../src/objects/errors.ts';
import type { Json } from '../../src/objects/kube-object.ts';
import { applyJsonPatch } from '../../src/patch/json-patch.ts';
import { applyMergePatch } from '../../src/patch/merge-patch.ts';
import { applyStrategicPatch } from '../../src/patch/strategic.ts';
import { node } from '../../src/schema/node.ts';
import { pod } from '../../src/schema/pod.ts';
import { podDisruptionBudget } from '../../src/schema/workloads.ts';
import { fc } from '../world/fast-check.ts';

const conditions = (...types: readonly string[]) => types.map((type) => ({ type, status: 'True' }));

describe('strategic merge patch', () => {
  const cases: readonly (readonly [string, typeof pod, Json, Json, Json])[] = [
    [
      'puts a new item before those the patch does not name',
      pod,
      { status: { conditions: conditions('A', 'B') } },
      { status: { conditions: conditions('C') } },
      { status: { conditions: conditions('C', 'A', 'B') } },
    ],
    [
      'keeps other members of an item and its place',
      pod,
      { status: { conditions: [{ type: 'A', status: 'True', reason: 'R' }, { type: 'B' }] } },
      {
        status: {
          conditions: [
            { type: 'B', status: 'False' },
            { type: 'A', status: 'False' },
          ],
        },
      },
      {
        status: {
          conditions: [
            { type: 'B', status: 'False' },
            { type: 'A', status: 'False', reason: 'R' },
          ],
        },
      },
    ],
    [
      'obeys $setElementOrder',
      pod,
      { status: { conditions: conditions('A', 'B', 'C') } },
      {
        status: {
          '$setElementOrder/conditions': [{ type: 'C' }, { type: 'D' }, { type: 'A' }],
          conditions: conditions('D'),
        },
      },
      { status: { conditions: conditions('B', 'C', 'D', 'A') } },
    ],
    [
      'deletes an item',
      pod,
      { spec: { containers: [{ name: 'a' }, { name: 'b' }] } },
      { spec: { containers: [{ name: 'a', $patch: 'delete' }] } },
      { spec: { containers: [{ name: 'b' }] } },
    ],
    [
      'replaces a list',
      pod,
      { spec: { containers: [{ name: 'a' }, { name: 'b' }] } },
      { spec: { containers: [{ name: 'c' }, { $patch: 'replace' }] } },
      { spec: { containers: [{ name: 'c' }] } },
    ],
    [
      'replaces a map',
      pod,
      { spec: { nodeSelector: { a: '1' } } },
      { spec: { nodeSelector: { $patch: 'replace', b: '2' } } },
      { spec: { nodeSelector: { b: '2' } } },
    ],
    [
      'retains keys',
      pod,
      { spec: { securityContext: { runAsUser: 1, runAsGroup: 2 } } },
      { spec: { securityContext: { $retainKeys: ['runAsUser', 'fsGroup'], fsGroup: 3 } } },
      { spec: { securityContext: { runAsUser: 1, fsGroup: 3 } } },
    ],
    [
      'merges finalizers as a set and deletes from it',
      node,
      { metadata: { finalizers: ['a/1', 'a/2'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/1'], finalizers: ['a/2', 'a/3'] } },
      { metadata: { finalizers: ['a/2', 'a/3'] } },
    ],
    [
      'replaces taints whole',
      node,
      {
        spec: {
          taints: [
            { key: 'a', effect: 'NoExecute' },
            { key: 'b', effect: 'NoSchedule' },
          ],
        },
      },
      { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
      { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
    ],
    [
      'replaces the selector of a budget whole',
      podDisruptionBudget,
      { spec: { selector: { matchLabels: { a: '1' } } } },
      { spec: { selector: { matchLabels: { b: '2' } } } },
      { spec: { selector: { matchLabels: { b: '2' } } } },
    ],
  ];

  for (const [name, schema, document, patch, expected] of cases) {
    it(name, () => assert.deepEqual(applyStrategicPatch(schema, document, patch), expected));
  }
});

describe('JSON patch', () => {
  const document = { list: [1, 2], map: { 'a/b': 1, 'c~d': 2 } };
  const cases: readonly (readonly [string, Json, Json])[] = [
    [
      'add to the middle',
      [{ op: 'add', path: '/list/1', value: 9 }],
      { ...document, list: [1, 9, 2] },
    ],
    [
      'add to the end',
      [{ op: 'add', path: '/list/-', value: 9 }],
      { ...document, list: [1, 2, 9] },
    ],
    [
      'escapes',
      [
        { op: 'remove', path: '/map/a~1b' },
        { op: 'remove', path: '/map/c~0d' },
      ],
      { ...document, map: {} },
    ],
    ['move', [{ op: 'move', from: '/map', path: '/list/0' }], { list: [document.map, 1, 2] }],
    [
      'copy',
      [{ op: 'copy', from: '/list/0', path: '/map/x' }],
      { ...document, map: { ...document.map, x: 1 } },
    ],
    ['test what is not there for null', [{ op: 'test', path: '/nope', value: null }], document],
    [
      'count from the end',
      [
        { op: 'add', path: '/list/-1', value: 9 },
        { op: 'test', path: '/list/-1', value: 9 },
        { op: 'remove', path: '/list/-1' },
      ],
      document,
    ],
    ['replace all', [{ op: 'replace', path: '/list', value: [] }], { ...document, list: [] }],
  ];

  for (const [name, patch, expected] of cases) {
    it(`can ${name}`, () => assert.deepEqual(applyJsonPatch(document, patch), expected));
  }

  const bad: readonly (readonly [string, Json])[] = [
    ['remove what is not there', [{ op: 'remove', path: '/nope' }]],
    ['replace what is not there', [{ op: 'replace', path: '/nope', value: 1 }]],
    ['test falsely', [{ op: 'test', path: '/list/0', value: 2 }]],
    ['count beyond the beginning', [{ op: 'remove', path: '/list/-9' }]],
    ['test without a value', [{ op: 'test', path: '/list' }]],
    ['test below what is not there', [{ op: 'test', path: '/nope/x', value: null }]],
    ['add beyond the end', [{ op: 'add', path: '/list/7', value: 1 }]],
    ['use a path that is none', [{ op: 'add', path: 'list', value: 1 }]],
    ['add nothing', [{ op: 'add', path: '/x' }]],
    ['do what it does not know', [{ op: 'bogus', path: '/list' }]],
    ['be no operation', [5]],
  ];

  for (const [name, patch] of bad) {
    it(`cannot ${name}, and leaves the document alone`, () => {
      const before = structuredClone(document);
      assert.throws(
        () =>
          applyJsonPatch(document, [
            { op: 'add', path: '/y', value: 1 },
            ...(patch as readonly Json[]),
          ]),
        (error) => error instanceof ApiError && error.code === 422,
      );
      assert.deepEqual(document, before);
    });
  }
});

describe('merge patch', () => {
  it('turns any JSON without nulls into itself and is idempotent', () => {
    const { json } = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        fc.integer(),
        fc.string(),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(fc.stringMatching(/^[a-c]{1,2}$/), tie('json'), {
          maxKeys: 3,
          noNullPrototype: true,
        }),
      ) as fc.Arbitrary<Json>,
    }));
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const once = applyMergePatch(document, patch);
        assert.deepEqual(applyMergePatch(once, patch), once);
        assert.deepEqual(applyMergePatch(undefined, patch), patch);
      }),
    );
  });
});
