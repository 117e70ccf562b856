import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Finding, inEmptyFolder, ofWeb, pdb, workload } from '../world/doctor-files.ts';
import { run } from '../world/run.ts';

// `doctor -f`: no cluster is there, and none is asked.

inEmptyFolder();

describe('doctor -f reads YAML as kubectl does', () => {
  const drain = (spec: string, metadata = 'name: d'): string =>
    `apiVersion: taintmgr.dev/v1alpha1\nkind: NodeDrain\nmetadata: {${metadata}}\nspec: {${spec}}\n`;
  const taint = 'taint: {key: a, effect: NoSchedule}';
  const policy = (spec: string): string =>
    `apiVersion: taintmgr.dev/v1alpha1\nkind: EvictionPolicy\nmetadata: {name: p}\nspec: {action: Evict, ${spec}}\n`;
  const truth = (word: string): string =>
    `${word} is a boolean in YAML 1.1; to have a text write '${word}' in quotes`;

  for (const [what, text, level, message, fix] of [
    ['a node n', drain(`nodes: [n], ${taint}`), 'FAIL', /^spec\.nodes\[0\]: .*boolean/, truth('n')],
    [
      'a value on',
      policy('match: {taints: [{key: a, value: on}]}'),
      'FAIL',
      /^spec\.match\.taints\[0\]\.value: .*boolean/,
      truth('on'),
    ],
    [
      'a label yes',
      drain(`nodes: [a], ${taint}`, 'name: d, labels: {x: yes}'),
      'FAIL',
      /^metadata\.labels\.x: .*boolean/,
      truth('yes'),
    ],
    [
      'a label yes of another kind',
      workload('Deployment', 'web', 'replicas: 1', 'app: yes'),
      'FAIL',
      /^spec\.template\.metadata\.labels\.app: .*boolean/,
      truth('yes'),
    ],
    [
      'a selector with on',
      pdb('maxUnavailable: 1, selector: {matchLabels: {app: on}}'),
      'FAIL',
      /^spec\.selector\.matchLabels\.app: .*boolean/,
      truth('on'),
    ],
    [
      'a label that is a number',
      drain(`nodes: [a], ${taint}`, 'name: d, labels: {x: 12}'),
      'FAIL',
      /^metadata\.labels\.x: .*integer/,
      "12 is a number in YAML 1.1; to have a text write '12' in quotes",
    ],
    [
      'an octal number',
      policy('priority: 010, match: {taints: [{key: a}]}'),
      'WARN',
      /^spec\.priority: kubectl reads the number 8: a 0 in front makes it octal$/,
      'write 8, or leave the 0 out',
    ],
    [
      'a field y',
      drain(`nodes: [a], y: b, ${taint}`),
      'FAIL',
      /^unknown field "spec\.true"$/,
      truth('y'),
    ],
    [
      'a name off',
      pdb(`maxUnavailable: 1, ${ofWeb}`, 'off'),
      'FAIL',
      /metadata\.name missing \(off is a boolean in YAML 1\.1; to have a text write 'off' in quotes\)$/,
      '',
    ],
  ] as const) {
    it(what, async () => {
      writeFileSync('read.yaml', text);
      const { out } = await run('doctor', '-f', 'read.yaml', '-o', 'json');
      const findings: readonly (Finding & { readonly fix: string })[] = JSON.parse(out).findings;
      const found = findings.find((one) => message.test(one.message));
      assert.deepEqual([found?.level, found?.fix], [level, fix], out);
    });
  }

  it('takes the same in quotes, and numbers that are what they look like', async () => {
    const texts = [
      drain(`nodes: ['n', "y"], ${taint}`, 'name: d, labels: {x: \'yes\', z: "12"}'),
      policy("priority: 10, match: {taints: [{key: a, value: 'on'}]}"),
    ];
    writeFileSync('read.yaml', texts.join('---\n'));
    const { out, code } = await run('doctor', '-f', 'read.yaml', '-o', 'json');
    const levels = JSON.parse(out).findings.map(({ level }: Finding) => level);
    assert.deepEqual([code, levels], [0, ['INFO']], out);
  });

  for (const [what, bytes, want] of [
    [
      'Windows line ends and a mark of the order of bytes',
      `\uFEFF${drain(`nodes: [a], ${taint}`)}`.replaceAll('\n', '\r\n'),
      [],
    ],
    ['a Secret', 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: b}\n', []],
    [
      'UTF-16',
      Buffer.from(`\uFEFF${drain(`nodes: [a], ${taint}`)}`, 'utf16le'),
      ['FAIL 1 the text is in UTF-16, want UTF-8 ()'],
    ],
    [
      'a kind that is misspelled, in the second document',
      `# first\n---\n${drain(`nodes: [a], ${taint}`).replace('NodeDrain', 'NodeDrian')}`,
      [
        /^FAIL 4 got kind "NodeDrian" of "taintmgr.dev\/v1alpha1", want .* \(did you mean NodeDrain\?\)$/,
      ],
    ],
    [
      'another version',
      drain(`nodes: [a], ${taint}`).replace('v1alpha1', 'v9'),
      [
        /^FAIL 2 got kind "NodeDrain" of "taintmgr.dev\/v9", want .* of taintmgr.dev\/v1alpha1 \(\)$/,
      ],
    ],
    [
      'items of a List that are no objects',
      'apiVersion: v1\nkind: List\nitems:\n- 5\n- {kind: Pod}\n',
      [
        'FAIL 4 is not an object of Kubernetes: apiVersion, kind, metadata.name missing ()',
        'FAIL 5 is not an object of Kubernetes: apiVersion, metadata.name missing ()',
      ],
    ],
  ] as const) {
    it(`says of ${what} what is wrong, and where`, async () => {
      writeFileSync('read.yaml', bytes);
      const { out } = await run('doctor', '-f', 'read.yaml', '-o', 'json');
      const findings: readonly (Finding & { readonly fix: string })[] = JSON.parse(out).findings;
      const found = findings.map(
        ({ level, line, message, fix }) => `${level} ${line} ${message} (${fix})`,
      );
      assert.equal(found.length, want.length, out);
      for (const [at, text] of want.entries()) {
        if (typeof text === 'string') assert.equal(found[at], text);
        else assert.match(found[at] ?? '', text);
      }
    });
  }
});

describe('doctor -f FOLDER tells manifests from what a cluster has printed', () => {
  const printed = (kind: string, metadata = '{name: a, uid: u}'): string =>
    `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ${kind}, metadata: ${metadata}}\n`;
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', uid: 'u', labels: 5 } };
  const leftOut = 'INFO 1 is what a cluster has printed, and no manifest: left out';
  for (const [what, name, text, want] of [
    ['JSON', 'cluster.json', JSON.stringify({ kind: 'List', items: [node] }), leftOut],
    ['YAML', 'pods.yaml', printed('Pod'), leftOut],
    ['a workload that was printed', 'web.yaml', printed('Deployment'), ''],
    ['a node that never was in a cluster', 'node.yaml', printed('Node', '{name: a}'), ''],
  ] as const) {
    it(what, async () => {
      mkdirSync('ci', { recursive: true });
      writeFileSync(`ci/${name}`, text);
      const { out } = await run('doctor', '-f', `ci`, '-o', 'json');
      const findings: readonly Finding[] = JSON.parse(out).findings;
      const found = findings.filter(({ file }) => file === `ci/${name}`);
      assert.equal(
        found.map(({ level, line, message }) => `${level} ${line} ${message}`).join(),
        want,
      );
    });
  }

  it('checks it where it is named itself', async () => {
    writeFileSync('cluster.json', JSON.stringify({ kind: 'List', items: [node] }));
    const { code, out } = await run('doctor', '-f', 'cluster.json');
    assert.equal(code, 1, out);
  });
});

it('doctor -f FOLDER waits for no pipe and no device', async () => {
  mkdirSync('odd');
  writeFileSync('odd/web.yaml', workload('Deployment', 'web', 'replicas: 1', 'app: web'));
  execFileSync('mkfifo', ['odd/pipe.yaml']);
  symlinkSync('/dev/zero', 'odd/zero.yaml');
  const { out } = await run('doctor', '-f', 'odd', '-o', 'json');
  assert.ok(Array.isArray(JSON.parse(out).findings));
});
