import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gzip } from '../../src/driver/gzip.ts';
import {
  linesOf,
  type Segment,
  segmentFrom,
  segmentNames,
  segmentObject,
} from '../../src/history/segment.ts';

const name = { namespace: 'taintmgr-system', name: 'taintmgr-controller-history-3' };
const segment: Segment = {
  ...{ sequence: 27, savedAt: 5_000, savedBy: 'me', ended: true },
  blocks: [gzip.pack('{"uid":"a"}\n{"uid":"b"}\n'), gzip.pack('{"why":"tooMany"}\n')],
};

describe('a segment', () => {
  it('is read as it was written', () => {
    const object = JSON.parse(JSON.stringify(segmentObject(name, segment, '7')));
    assert.deepEqual(object.metadata, { ...name, resourceVersion: '7' });
    assert.deepEqual(segmentFrom(object), segment);
    const lines = segment.blocks.flatMap((block) => linesOf(block, gzip));
    assert.deepEqual(lines, [{ uid: 'a' }, { uid: 'b' }, { why: 'tooMany' }]);
  });

  const odd: readonly [string, unknown][] = [
    ['nothing', null],
    ['a ConfigMap of somebody else', { data: { key: 'value' } }],
    ['no number', { data: { segment: '{"sequence":"1","savedAt":1}' } }],
    ['a number below 0', { data: { segment: '{"sequence":-1,"savedAt":1}' } }],
    ['a number to which none can be added', { data: { segment: '{"sequence":1e15,"savedAt":1}' } }],
  ];
  for (const [what, object] of odd) {
    it(`is not ${what}`, () => assert.equal(segmentFrom(object), null));
  }

  it('leaves out blocks and lines that are none', () => {
    const bomb = gzip.pack('{"uid":"b"}\n'.repeat(22_000));
    assert.equal(linesOf(bomb, gzip).length, 0);
    const blocks = ['no base64', gzip.pack('{"uid":"a"}\nnull\n7\n{broken\n')];
    assert.deepEqual(
      blocks.flatMap((block) => linesOf(block, gzip)),
      [{ uid: 'a' }],
    );
  });
});

describe('the names of segments', () => {
  const files = ['acting/history.yaml', 'base/viewer.yaml'];
  for (const file of files) {
    it(`are those to which deploy/kustomize/${file} gives rights`, () => {
      const path = new URL(`../../../../deploy/kustomize/${file}`, import.meta.url);
      const found = readFileSync(path, 'utf8').match(/taintmgr-controller-history-\d+/g);
      const lease = { namespace: 'taintmgr-system', name: 'taintmgr-controller' };
      assert.deepEqual(
        found,
        segmentNames(lease).map((one) => one.name),
      );
    });
  }
});
