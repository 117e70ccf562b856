import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeObject } from '@taintmgr/api-server';
import { nodeFromJson } from '../../src/proto/convert.ts';
import { objectFromProtobuf } from '../../src/proto/protobuf.ts';
import { formatStarts } from '../../src/proto/taint-starts.ts';

const at = (second: number): string => `2026-01-01T00:00:0${second}Z`;
const instant = (second: number): number => Date.parse(at(second));
const taints = { 'f:spec': { 'f:taints': {} } };
const labels = { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } };

function entry(second: number, fieldsV1: object, subresource?: string): object {
  const shared = { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
  return {
    manager: `m${second}`,
    ...shared,
    time: at(second),
    fieldsV1,
    ...(subresource && { subresource }),
  };
}

function nodeWith(managedFields: unknown, annotation?: string): object {
  const annotations = annotation === undefined ? {} : { 'taintmgr.dev/taint-starts': annotation };
  const spec = { taints: [{ key: 'a', effect: 'NoExecute' }] };
  return { kind: 'Node', metadata: { name: 'n', uid: 'u', annotations, managedFields }, spec };
}

describe('when the taints of a node were written', () => {
  const cases: readonly [string, unknown, number | null][] = [
    ['is when their owner last wrote', [entry(1, labels), entry(2, taints)], instant(2)],
    ['of several owners the first', [entry(4, taints), entry(3, taints)], instant(3)],
    [
      'is with what else the owner wrote',
      [entry(5, { ...labels, 'f:spec': { 'f:taints': {}, 'f:unschedulable': {} } })],
      instant(5),
    ],
    ['is not known of taints that nobody owns', [entry(1, labels)], null],
    ['is not said by a status', [entry(1, taints, 'status')], null],
    ['is not known without managed fields', undefined, null],
  ];
  for (const [name, managedFields, expected] of cases) {
    it(name, () => {
      const object = nodeWith(managedFields);
      assert.equal(nodeFromJson(object).taintsWrittenAt, expected);
      const bytes = encodeObject(object as Parameters<typeof encodeObject>[0]);
      assert.equal(nodeFromJson(objectFromProtobuf(bytes)).taintsWrittenAt, expected, 'protobuf');
    });
  }

  it('is not known of what is no managed fields', () => {
    for (const nonsense of [
      {},
      'x',
      [1],
      [{ time: 5, fieldsV1: taints }],
      [{ fieldsV1: 'f:taints' }],
    ]) {
      assert.equal(nodeFromJson(nodeWith(nonsense)).taintsWrittenAt, null);
    }
  });
});

describe('the starts that are written down', () => {
  const starts = { 'a:NoExecute': instant(1) };
  const written = formatStarts(starts, instant(2)) ?? '';
  const cases: readonly [string, unknown, string, object][] = [
    ['are believed of the same writing of the taints', [entry(2, taints)], written, starts],
    ['are not believed when the taints were written later', [entry(3, taints)], written, {}],
    ['are not believed when they were written earlier', [entry(1, taints)], written, {}],
    ['are not believed where nobody knows', undefined, written, {}],
    [
      'are not believed where they do not say of which writing',
      [entry(2, taints)],
      JSON.stringify({ 'a:NoExecute': at(1) }),
      {},
    ],
    [
      'are left out where they are no times',
      [entry(2, taints)],
      JSON.stringify({ taintsWrittenAt: at(2), 'a:NoExecute': 7, 'b:NoExecute': 'soon' }),
      {},
    ],
    ['are none in what is no JSON', [entry(2, taints)], '{', {}],
  ];
  for (const [name, managedFields, annotation, expected] of cases) {
    it(name, () => {
      assert.deepEqual(nodeFromJson(nodeWith(managedFields, annotation)).taintStarts, expected);
    });
  }

  it('are none without the annotation, which is taken away with null', () => {
    assert.equal(nodeFromJson(nodeWith([entry(2, taints)])).taintStarts, undefined);
    assert.equal(formatStarts(null, instant(2)), null);
  });

  it('stand beside the pauses that are gone, which hold whenever the taints were written', () => {
    const pauses = [
      { from: instant(3), to: instant(5), taintKeys: [], namespaces: ['shop'], pause: 'u1' },
      { from: instant(6), to: instant(7), taintKeys: ['a'], namespaces: [], pause: '' },
    ];
    const both = formatStarts(starts, instant(2), pauses) ?? '';
    for (const second of [2, 9]) {
      const node = nodeFromJson(nodeWith([entry(second, taints)], both));
      assert.deepEqual(node.pastPauses, pauses);
      assert.deepEqual(node.taintStarts, second === 2 ? starts : {});
    }
    const alone = nodeFromJson(
      nodeWith([entry(2, taints)], formatStarts(null, null, pauses) ?? ''),
    );
    assert.deepEqual([alone.pastPauses, alone.taintStarts], [pauses, undefined]);
    const odd = [{ from: at(5), to: at(5) }, { from: 1, to: at(2) }, 'x', null, { from: at(1) }];
    const none = nodeFromJson(nodeWith([entry(2, taints)], JSON.stringify({ pauses: odd })));
    assert.equal(none.pastPauses, undefined);
  });
});
