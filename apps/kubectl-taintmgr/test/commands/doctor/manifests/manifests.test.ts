import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileFindings, inEmptyFolder, ofWeb, pdb, web } from '../../../world/doctor-files.ts';
import { run } from '../../../world/run.ts';

// `doctor -f`: no cluster is there, and none is asked.

inEmptyFolder();

it('-R wants files, so that nobody examines a cluster by mistake', async () => {
  const { err, code } = await run('doctor', '-R');
  assert.deepEqual([code, err], [1, 'error: -R: want -f too, which names the folders\n']);
});

const cases: readonly (readonly [
  name: string,
  content: readonly string[],
  found: readonly string[],
])[] = [
  [
    'the same object twice',
    [pdb(`maxUnavailable: 1, ${ofWeb}`), pdb(`maxUnavailable: 0, ${ofWeb}`), web('')],
    ['WARN 8: is at file.yaml:3 too, and was checked there'],
  ],
  [
    'no object',
    ['a: 1\n'],
    ['FAIL 1: is not an object of Kubernetes: apiVersion, kind, metadata.name missing'],
  ],
  [
    'no YAML',
    ['a: {{ .Values.a }\n'],
    ['FAIL 2: Flow map in block collection must be sufficiently indented and end with a }'],
  ],
  [
    'a policy with a field that is none',
    [
      'apiVersion: taintmgr.dev/v1alpha1\nkind: EvictionPolicy\nmetadata: {name: spot}\n' +
        'spec:\n  match: {taints: [{key: spot}]}\n  mode: Kill\n',
    ],
    [
      'FAIL 4: spec: Invalid value: want an action, limits, or both',
      'FAIL 6: unknown field "spec.mode"',
    ],
  ],
  ['nothing', ['# nothing\n'], []],
];

describe('doctor -f', () => {
  for (const [name, content, found] of cases) {
    it(name, async () => assert.deepEqual(await fileFindings(content.join('---\n')), found));
  }

  it('finds labels and annotations that every API server refuses, and a name that is missing', async () => {
    const config =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: a b}, annotations: {c d: e}}\n';
    const pause =
      'apiVersion: taintmgr.dev/v1alpha1\nkind: EvictionPause\nmetadata: {labels: {x: a b}}\nspec: {reason: x}\n';
    const found = await fileFindings([config, pause].join('---\n'));
    assert.deepEqual(
      found.map((line) => line.replace(/( part|: a valid label) .*/, '$1')),
      [
        'FAIL 3: metadata.labels: Invalid value: "a b": a valid label',
        'FAIL 3: metadata.annotations: Invalid value: "c d": name part',
        'FAIL 7: metadata.name: Required value: name or generateName is required',
        'FAIL 7: metadata.labels: Invalid value: "a b": a valid label',
      ],
    );
  });

  it('reads lists, and files and folders in the order that is given', async () => {
    mkdirSync('all/inner', { recursive: true });
    writeFileSync('all/b.yaml', pdb(`maxUnavailable: 0, ${ofWeb}`));
    writeFileSync('all/a.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [] }));
    writeFileSync('all/values.yaml', 'replicas: 2\n');
    writeFileSync('all/notes.txt', 'not read');
    writeFileSync('all/inner/c.yml', pdb(`maxUnavailable: 0, ${ofWeb}`, 'inner'));
    writeFileSync(
      'list.yaml',
      `apiVersion: v1\nkind: List\nitems:\n- ${web('').trim().replaceAll('\n', '\n  ')}\n`,
    );
    const flat = await run('doctor', '-f', 'list.yaml', '-f', 'all', '--no-headers');
    assert.equal(flat.code, 1);
    assert.match(
      flat.out,
      /^FAIL {2}all\/b\.yaml:4 {2}pdb\/web -n default\n {6}maxUnavailable 0: .*\n.*\n\nINFO {2}all\/values\.yaml:1\n {6}.*\n$/,
    );
    assert.equal(flat.err, '2 objects in 4 files: 1 error, 0 warnings\n');
    const deep = await run('doctor', '-f', 'list.yaml', '-Rf', 'all', '-o', 'name', '-n', 'shop');
    assert.equal(
      deep.out,
      'all/b.yaml:4\nall/inner/c.yml:4\nall/inner/c.yml:4\nall/values.yaml:1\n',
    );
  });

  it('ends with 0 for warnings, and with 1 for what cannot be read', async () => {
    writeFileSync(
      'warn.yaml',
      [pdb(`maxUnavailable: 1, ${ofWeb}`, 'web', ''), web('')].join('---\n'),
    );
    const { code, out, err } = await run('doctor', '-f', 'warn.yaml');
    assert.deepEqual([code, err], [0, '2 objects in 1 file: 0 errors, 1 warning\n']);
    assert.match(out, /^WARN {2}warn\.yaml:4 {2}pdb\/web -n default\n/);
    const gone = await run('doctor', '-f', 'gone');
    assert.deepEqual(gone, { code: 1, out: '', err: 'error: -f gone: no such file or folder\n' });
  });
});
