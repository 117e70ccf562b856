import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { stringify as stringifyYaml } from 'yaml';
import {
  Documents,
  JsonSplitter,
  readSnapshot,
  reportLines,
  SnapshotFileError,
} from '../../src/cluster/snapshot-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'taintmgr-snapshot-test-'));
after(() => rmSync(directory, { recursive: true }));

function read(text: string) {
  const file = join(directory, 'snapshot');
  writeFileSync(file, text);
  return readSnapshot(file);
}

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'shop',
    annotations: { text: 'a "]}, {[\\"\n- b\n---\n', n: '1' },
  },
  spec: { containers: [{ name: 'c', command: ['sh', '-c', 'x: y\n- z\n'] }] },
};
const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: {} };
const list = {
  apiVersion: 'v1',
  items: [pod, node],
  kind: 'List',
  metadata: { resourceVersion: '' },
};
const empty = { apiVersion: 'v1', kind: 'PodList', metadata: {}, items: [] };

/** In quotes what is no text in YAML 1.1, as kubectl prints it. */
function stringify(value: unknown, options: object = {}): string {
  return stringifyYaml(value, { version: '1.1', ...options });
}

describe('a snapshot', () => {
  const good: readonly (readonly [string, string, readonly unknown[]])[] = [
    ['a list as JSON', JSON.stringify(list, null, 4), [list]],
    ['a list as JSON on one line', JSON.stringify(list), [list]],
    ['one object as JSON', JSON.stringify(pod), [pod]],
    ['several values as JSON', `${JSON.stringify(list)}\n${JSON.stringify(node)}`, [list, node]],
    ['an empty list as JSON', JSON.stringify(empty), [empty]],
    ['a list as YAML', stringify(list, { indentSeq: false }), [list]],
    ['a list as YAML with items indented', stringify(list), [list]],
    ['a list as YAML with Windows line ends', stringify(list).replaceAll('\n', '\r\n'), [list]],
    ['one object as YAML', `# a pod\n${stringify(pod)}`, [pod]],
    ['several documents', `---\n${stringify(list)}---\n${stringify(node)}...\n`, [list, node]],
    [
      'a list in flow style',
      `---\n{kind: List, items: [{kind: Node}]}\n`,
      [{ kind: 'List', items: [{ kind: 'Node' }] }],
    ],
    ['an empty list as YAML', stringify(empty), [empty]],
  ];
  for (const [name, text, values] of good) {
    it(`can be ${name}`, async () => {
      const { values: found, faults } = await read(text);
      assert.deepEqual([found, faults], [values, []]);
    });
  }

  it('is the same however its text is cut', () => {
    const values = [list, pod, empty];
    const whole = values.map((value) => JSON.stringify(value, null, 1)).join('\n');
    for (const length of [1, 2, 3, 7, 64]) {
      const documents = new Documents(JSON.parse);
      const splitter = new JsonSplitter(documents);
      for (let at = 0; at < whole.length; at += length) splitter.push(whole.slice(at, at + length));
      splitter.end();
      assert.deepEqual(documents.values, values);
      assert.deepEqual(documents.faults, []);
    }
  });

  it('that is damaged yields what is whole, and says what is not', async () => {
    const json = await read(
      '{"kind":"List","items":[{"kind":"A"},{"kind":B},{"kind":"C"}]} {"kind"',
    );
    assert.deepEqual(json.values, [{ kind: 'List', items: [{ kind: 'A' }, { kind: 'C' }] }]);
    assert.equal(json.faults.length, 2);
    assert.match(json.faults[0] ?? '', /^item 2: Unexpected token/);
    assert.match(json.faults[1] ?? '', /^document 2: /);
    const yaml = await read('items:\n- kind: A\n- kind: "B\n- kind: C\nkind: List\n');
    assert.deepEqual(yaml.values, [{ items: [{ kind: 'A' }, { kind: 'C' }], kind: 'List' }]);
    assert.match(yaml.faults.join('\n'), /^item 2: Missing closing "quote/);
  });

  it('cut off in its middle keeps the items before', async () => {
    const { values, faults } = await read('{"apiVersion":"v1","items":[{"kind":"A"},{"kind":"B');
    assert.deepEqual(values, [{ items: [{ kind: 'A' }] }]);
    assert.deepEqual(
      faults.map((fault) => fault.split(':')[0]),
      ['item 2', 'document 1'],
    );
  });

  it('that is not there or empty is refused in one line', async () => {
    const missing = join(directory, 'missing');
    await assert.rejects(
      readSnapshot(missing),
      new SnapshotFileError(`--snapshot ${missing}: no such file`),
    );
    await assert.rejects(read(' \n'), /the file is empty$/);
    await assert.rejects(readSnapshot(directory), /EISDIR$/);
  });
});

it('the report names each thing that was not taken and counts them', () => {
  const entry = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'p', reason: 'no spec' };
  const unloaded = [
    entry,
    { ...entry, kind: 'Node', namespace: '', name: 'n' },
    { ...entry, kind: '', namespace: '', name: '' },
  ];
  const report = {
    ...{ loaded: 5, unloaded },
    createdNamespaces: ['a', 'b'],
    createdClaims: ['a/data'],
  };
  assert.deepEqual(reportLines('f.yaml', report, ['item 3: odd']), [
    'not taken: item 3: odd',
    'not taken: Pod shop/p: no spec',
    'not taken: Node n: no spec',
    'not taken: something without a kind (without a name): no spec',
    'namespaces made up for its objects: a, b',
    'claims or volumes made up for its pods: a/data',
    'snapshot f.yaml: 5 objects taken, 4 not taken (Pod 1, Node 1, ? 1)',
  ]);
});
