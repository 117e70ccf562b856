// Inputs that people give to simulate -f: each is read, or refused with the next step.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { node, pod } from '@taintmgr/sim-cluster';
import { stringify } from 'yaml';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const files = temporaryFiles();

function write(name: string, text: string | Buffer): string {
  mkdirSync(dirname(files.path(name)), { recursive: true });
  return files.write(name, text);
}

const typed = <T extends object>(kind: string, object: T, apiVersion = 'v1') => ({
  ...{ apiVersion, kind },
  ...object,
});
const aNode = (name: string, more: object = {}) => typed('Node', node(name, more));
const aPod = (name: string, more: object = {}) =>
  typed('Pod', pod('shop', name, { spec: { nodeName: 'n1' }, ...more }));
const bare = ({ kind: _, apiVersion: __, ...object }: Record<string, unknown>) => object;
const nodes = [aNode('n1'), aNode('n2')];
const pods = [aPod('a'), aPod('b')];
const list = (...items: readonly object[]): string =>
  `${JSON.stringify(typed('List', { items }), null, 4)}\n`;
const listOf = (kind: string, items: readonly object[]): string =>
  JSON.stringify(typed(`${kind}List`, { items: items.map((item) => bare({ ...item })) }));
const whole = list(...nodes, ...pods);
/** kubectl sorts members, so that the kind of a list comes last. */
const yamlOf = (value: object): string =>
  stringify(value, { sortMapEntries: true, aliasDuplicateObjects: false });
const wholeYaml = yamlOf(JSON.parse(whole));
const budget = (apiVersion: string) =>
  typed('PodDisruptionBudget', { metadata: { namespace: 'shop', name: 'web' } }, apiVersion);
const windows = aNode('win-1', {
  labels: { 'kubernetes.io/os': 'windows' },
  spec: { taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] },
});
const virtual = ['virtual-kubelet.io/provider', 'kwok.x-k8s.io/node', 'cloud.google.com/gke-spot'];
const manifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: web}]}
`;
const warnings = `Warning: v1 ComponentStatus is deprecated in v1.19+
E0412 08:00:00.000000    4242 memcache.go:287] "Unhandled Error" err="no metrics"
`;
const nested = (depth: number): unknown =>
  JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

/** A file of this text, or the arguments of the command. */
type Given = string | Buffer | (() => readonly string[]);

const partial = (text: string) => () => ['--partial', '-f', write('part', text)];
const inFolder = (texts: Readonly<Record<string, string>>) => () => {
  const folder = `folder-${Object.keys(texts)[0]}`;
  mkdirSync(files.path(folder));
  for (const [name, text] of Object.entries(texts)) write(`${folder}/${name}`, text);
  return ['-f', files.path(folder)];
};

/** Inputs with the number of nodes and workloads told of, and with notes and warnings. */
const read: readonly (readonly [string, Given, string, ...string[]])[] = [
  ['kubectl get -o json', whole, '2 nodes, 2 workloads'],
  ['kubectl get -o yaml', wholeYaml, '2 nodes, 2 workloads'],
  ['lists of one kind each', listOf('Node', nodes) + listOf('Pod', pods), '2 nodes, 2 workloads'],
  [
    'kinds that nobody knows',
    list(...nodes, ...pods, typed('NodePool', { metadata: { name: 'p' } }, 'karpenter.sh/v1')),
    '2 nodes, 2 workloads',
    'Note: kinds that play no part in it are left out: NodePool 1',
  ],
  [
    'machines that are no common nodes',
    list(
      windows,
      ...virtual.map((key, index) => {
        return aNode(`v${index}`, { spec: { taints: [{ key, effect: 'NoSchedule' }] } });
      }),
    ),
    '4 nodes, 0 workloads',
  ],
  [
    'objects without a list, as jsonpath prints them',
    nodes.map((one) => JSON.stringify(one)).join(' '),
    '2 nodes, 0 workloads',
  ],
  ['lines with CRLF', whole.replaceAll('\n', '\r\n'), '2 nodes, 2 workloads'],
  ['YAML with CRLF', wholeYaml.replaceAll('\n', '\r\n'), '2 nodes, 2 workloads'],
  ['a byte order mark', `\uFEFF${whole}`, '2 nodes, 2 workloads'],
  ['YAML with a byte order mark', `\uFEFF${wholeYaml}`, '2 nodes, 2 workloads'],
  [
    'UTF-16, as > of PowerShell writes it',
    Buffer.from(`\uFEFF${whole}`, 'utf16le'),
    '2 nodes, 2 workloads',
  ],
  ['YAML in UTF-16', Buffer.from(`\uFEFF${wholeYaml}`, 'utf16le'), '2 nodes, 2 workloads'],
  ['UTF-16 in gzip', gzipSync(Buffer.from(`\uFEFF${whole}`, 'utf16le')), '2 nodes, 2 workloads'],
  [
    '1,000 nodes without pods',
    list(...Array.from({ length: 1000 }, (_, at) => aNode(`n${at}`))),
    '1000 nodes, 0 workloads',
  ],
  [
    'a List in a List',
    list(JSON.parse(list(...nodes)), JSON.parse(listOf('Pod', pods))),
    '2 nodes, 2 workloads',
  ],
  [
    'kubectl get --watch, which prints a pod again as it changes',
    [...nodes, ...pods, pods[0]]
      .map((one, at) => {
        const metadata = { ...Object(one).metadata, resourceVersion: String(at + 1) };
        return JSON.stringify({ ...one, metadata }, null, 4);
      })
      .join('\n'),
    '2 nodes, 2 workloads',
  ],
  [
    'warnings of kubectl before the objects',
    warnings + whole,
    '2 nodes, 2 workloads',
    'Note: lines between the objects that are none left out: 2',
  ],
  [
    'only cordoned nodes',
    list(...['n1', 'n2'].map((name) => aNode(name, { spec: { unschedulable: true } })), ...pods),
    '2 nodes, 2 workloads',
  ],
  [
    'pods of unknown phases',
    list(
      ...nodes,
      ...['Unknown', 'Flying'].map((phase) => ({
        ...aPod(phase.toLowerCase()),
        status: { phase },
      })),
    ),
    '2 nodes, 2 workloads',
  ],
  [
    'keys such as __proto__',
    whole.replace(
      '"spec": {',
      '"__proto__": {"x": 1}, "constructor": {"prototype": {}}, "spec": {',
    ),
    '2 nodes, 2 workloads',
  ],
  [
    'huge integers',
    list(
      ...nodes,
      aPod('x', {
        spec: {
          nodeName: 'n1',
          terminationGracePeriodSeconds: 12345678901234567890n.toString().length * 1e17,
        },
      }),
    ),
    '2 nodes, 1 workload',
  ],
  [
    'a key that is there twice, as kubectl takes it',
    whole.replace('"nodeName": "n1"', '"nodeName": "n2", "nodeName": "n1"'),
    '2 nodes, 2 workloads',
  ],
  [
    '-f twice',
    () => ['-f', write('no.json', list(...nodes)), '-f', write('po.json', list(...pods))],
    '2 nodes, 2 workloads',
  ],
  [
    'the same -f twice',
    () => ['-f', write('same.json', whole), '-f', files.path('same.json')],
    '2 nodes, 2 workloads',
  ],
  ['gzip', gzipSync(whole), '2 nodes, 2 workloads'],
  [
    'one object twice, with --partial',
    partial(list(...nodes, ...pods, aPod('a'))),
    '2 nodes, 2 workloads',
    'Warning: part:121:9: items[4]: Pod shop/a: already there',
  ],
  [
    'YAML documents, one bad, with --partial',
    partial([...nodes.map(yamlOf), 'kind: Pod\n  name: [\n', ...pods.map(yamlOf)].join('---\n')),
    '2 nodes, 2 workloads',
    'Warning: part:47:7: Nested mappings are not allowed in compact mappings',
  ],
];

const wanted = 'want objects, as kubectl get -o json or kubectl taintmgr snapshot prints them';
const what = 'want what kubectl get -o json prints, or a Topology';
const noNode = 'there is no node in it that could be taken';
const aCluster = 'want a whole cluster, as kubectl taintmgr snapshot prints it';
const orMore = '--partial simulates the rest.';

/** The first line of the error; `FILE` stands for the file. */
const refused: readonly (readonly [string, Given, string, more?: string])[] = [
  [
    'a text that was cut off',
    whole.slice(0, -200),
    'FILE:113:13: Unexpected end of JSON input',
    orMore,
  ],
  [
    'YAML that was cut off',
    wholeYaml.replace(/kind: List\n.*/s, ''),
    'FILE:79:1: the list has no kind, as where the end of the text is missing',
    orMore,
  ],
  ['nothing', '', `FILE:1:1: the file is empty, ${what}`],
  ['an empty gzip', gzipSync(''), `FILE:1:1: the file is empty, ${what}`],
  ['an empty list', list(), `FILE: ${noNode}; ${aCluster}`],
  ['null', 'null\n', `FILE: ${noNode}; ${aCluster}`],
  ['a number', '42\n', `FILE:1:1: this is no object of Kubernetes; ${what}`],
  [
    'a table of kubectl get',
    'NAME    READY   STATUS    RESTARTS   AGE\nweb-1   1/1     Running   0          3d4h\n',
    `FILE:1:1: this is a table, which is for people to read; ${wanted}`,
  ],
  [
    'kubectl get -A -o wide',
    'NAMESPACE   NAME    READY   NODE\nshop        web-1   1/1     n1\n',
    `FILE:1:1: this is a table, which is for people to read; ${wanted}`,
  ],
  [
    'kubectl describe',
    'Name:               n1\nRoles:              <none>\nLabels:             a=b\n',
    `FILE:1:1: this is what kubectl describe prints, which is for people to read; ${wanted}`,
  ],
  [
    'names, as jsonpath prints them',
    'web-1 web-2 web-3',
    `FILE:1:1: this is no object of Kubernetes; ${what}`,
  ],
  [
    'an error of kubectl',
    'error: You must be logged in to the server (Unauthorized)\n',
    `FILE:1:1: this is what kubectl says in place of objects; ${wanted}`,
  ],
  [
    'a server that does not answer',
    'The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?\n',
    `FILE:1:1: this is what kubectl says in place of objects; ${wanted}`,
  ],
  [
    'a Status',
    JSON.stringify(typed('Status', { metadata: {}, status: 'Failure', message: 'Unauthorized' })),
    `FILE:1:1: the API server answered: "Unauthorized"; ${what}`,
  ],
  [
    'a web page',
    '<!DOCTYPE html>\n<html><body>Sign in</body></html>\n',
    `FILE:1:1: this is a web page, as a proxy or a login prints one; ${wanted}`,
  ],
  [
    'a picture',
    Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
    `FILE:1:1: this is no text; ${wanted}`,
  ],
  [
    'a template of Helm',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  labels:\n    {{- include "web.labels" . | nindent 4 }}\n',
    'FILE:5:7: Block collections are not allowed within flow collections; this is a template: give what helm template prints',
  ],
  [
    'a kustomization',
    'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [web.yaml]\n',
    `FILE:1:1: this is a kustomization; kubectl kustomize FOLDER prints its objects; ${what}`,
  ],
  [
    'a folder with a kustomization',
    inFolder({
      'kustomization.yaml': 'kind: Kustomization\nresources: [web.yaml]\n',
      'web.yaml': manifest,
    }),
    `FILE: ${noNode}, only Deployment 1; ${aCluster}; --apply lays manifests over it, --policy policies`,
  ],
  [
    'a kubeconfig',
    'apiVersion: v1\nkind: Config\nclusters: []\n',
    `FILE:1:1: this is a kubeconfig, which --kubeconfig takes; ${what}`,
  ],
  [
    'a policy',
    'apiVersion: taintmgr.dev/v1alpha1\nkind: EvictionPolicy\nmetadata: {name: gentle}\nspec: {}\n',
    `FILE: ${noNode}, only EvictionPolicy 1; ${aCluster}; --apply lays manifests over it, --policy policies`,
  ],
  [
    'Events alone',
    list(typed('Event', { metadata: { namespace: 'shop', name: 'a.1' }, reason: 'Killing' })),
    `FILE: ${noNode}; ${aCluster}`,
  ],
  ['pods without nodes', list(...pods), `FILE: ${noNode}, only Pod 2; ${aCluster}`],
  [
    'events of a watch',
    JSON.stringify({ type: 'ADDED', object: nodes[0] }),
    `FILE:1:1: this is an event of a watch; leave out --output-watch-events; ${what}`,
  ],
  [
    'metrics of nodes',
    JSON.stringify(
      typed('NodeMetricsList', { items: [{ metadata: { name: 'n1' } }] }, 'metrics.k8s.io/v1beta1'),
    ),
    `FILE: ${noNode}, only NodeMetrics 1; ${aCluster}`,
  ],
  [
    'YAML documents, one bad',
    [...nodes.map(yamlOf), 'kind: Pod\n  name: [\n'].join('---\n'),
    'FILE:47:7: Nested mappings are not allowed in compact mappings',
    orMore,
  ],
  [
    'one object twice',
    list(...nodes, ...pods, aPod('a')),
    'FILE:121:9: items[4]: Pod shop/a: already there',
    orMore,
  ],
  [
    'a future version of a kind',
    list(...nodes, budget('policy/v2')),
    'FILE:69:9: items[2]: PodDisruptionBudget shop/web: apiVersion: got policy/v2, want policy/v1: kubectl get poddisruptionbudgets.v1.policy',
    orMore,
  ],
  [
    'what is nested too deep',
    list(...nodes, typed('Pod', { spec: nested(301) })),
    'FILE:371:1214: it is nested more than 300 deep',
    orMore,
  ],
  [
    'YAML that is nested too deep',
    `${wholeYaml}---\nkind: Pod\nspec: ${'{a: '.repeat(301)}1${'}'.repeat(301)}\n`,
    'FILE:82:1208: it is nested more than 300 deep',
    orMore,
  ],
  [
    'no spec',
    list(...nodes, typed('Pod', { metadata: { namespace: 'shop', name: 'x' }, spec: null })),
    'FILE:69:9: items[2]: Pod shop/x: no spec',
    orMore,
  ],
  [
    'a value of the wrong type',
    list(...nodes, aPod('x', { spec: { nodeName: 'n1', tolerations: 'all' } })),
    'FILE:93:32: items[2].spec.tolerations: Pod shop/x: json: cannot unmarshal string into Go struct field PodSpec.spec.tolerations of type []v1.Toleration',
    orMore,
  ],
  [
    'a number as a name',
    `${wholeYaml}---\napiVersion: v1\nkind: Node\nmetadata: {name: 123}\n`,
    'FILE:81:1: Node (without a name): metadata.name: got a number, want a text: write it in quotes',
    orMore,
  ],
  [
    'a key twice in YAML',
    'apiVersion: v1\nkind: Node\nkind: Pod\n',
    'FILE:3:1: the key "kind" is there twice',
  ],
  [
    'a folder without files',
    inFolder({}),
    '-f FILE: no file in it ends in .json, .yaml or .yml, or in .gz after these',
  ],
  [
    'a folder without manifests',
    inFolder({ 'notes.md': '# x' }),
    '-f FILE: no file in it ends in .json, .yaml or .yml, or in .gz after these',
  ],
  [
    'a folder with a file that is broken',
    inFolder({ 'broken.yaml': 'a: [\n', 'w.json': whole, 'values.yaml': 'replicas: 3\n' }),
    'FILE/broken.yaml:2:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
    orMore,
  ],
  [
    'a file that is not there',
    () => ['-f', files.path('nowhere')],
    '-f FILE: no such file or folder',
  ],
  [
    'a tar.gz',
    () => {
      write('tarred/w.json', whole);
      execFileSync('tar', ['-czf', files.path('w.tar.gz'), '-C', files.path('tarred'), '.']);
      return ['-f', files.path('w.tar.gz')];
    },
    '-f FILE: this is an archive; unpack it, and give its folder: mkdir dump && tar -xf FILE -C dump',
  ],
];

/** The exit code and output, with `FILE` for the last argument and without the files' folder. */
async function printed(given: Given, name: string) {
  const args = typeof given === 'function' ? given() : ['-f', write(name, given)];
  const { code, out, err } = await run('simulate', ...args, '--until', '1m');
  const folder = dirname(files.path(name));
  const plain = (text: string): string =>
    text.replaceAll(args.at(-1) ?? '', 'FILE').replaceAll(`${folder}/`, '');
  return { code, out: plain(out), err: plain(err), errPlain: err.replaceAll(`${folder}/`, '') };
}

describe('simulate reads', () => {
  for (const [index, [name, given, counts, ...notes]] of read.entries()) {
    it(name, async () => {
      const { code, out, errPlain } = await printed(given, `read-${index}`);
      assert.equal(code, 0, errPlain);
      assert.match(
        out.replace(/\n {4}/, ' '),
        new RegExp(`^(PARTIAL: )?1m of \\S.* \\(${counts}\\) without events`),
      );
      const isTold = (line: string): boolean => {
        return line.startsWith('Note: ') && !line.includes(' is played: ');
      };
      const told = [...errPlain.split('\n').slice(0, -1), ...out.split('\n').filter(isTold)];
      assert.deepEqual(told, notes);
    });
  }
});

describe('simulate refuses', () => {
  for (const [index, [name, given, fault, more = '']] of refused.entries()) {
    it(name, async () => {
      const { code, out, err } = await printed(given, `refused-${index}`);
      assert.deepEqual([code, out, err.split('\n')[0]], [1, '', `error: ${fault}`]);
      assert.equal(err.includes('--partial'), more !== '');
    });
  }

  it('a file that may not be read', async () => {
    const file = write('closed.json', whole);
    chmodSync(file, 0);
    const [uid, seteuid] = [process.geteuid?.(), process.seteuid?.bind(process)];
    // The superuser may read any.
    if (uid === 0) {
      chmodSync(dirname(file), 0o755);
      seteuid?.(65534);
    }
    try {
      const { code, err } = await run('simulate', '-f', file);
      assert.deepEqual([code, err], [1, `error: -f ${file}: no permission to read it\n`]);
    } finally {
      if (uid === 0) seteuid?.(uid);
    }
  });
});

/** A gzip of one text after another; no more of it is ever held. */
const bomb = (begin: string, rest: string): Buffer =>
  gzipSync(Buffer.concat([Buffer.from(begin), Buffer.alloc(80 * 2 ** 20, rest)]), { level: 9 });
const escapes = '\u001b[2J\u0007\u202e';
const laughs = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
for (const name of 'bcdefghi') {
  const before = String.fromCharCode(name.charCodeAt(0) - 1);
  laughs.push(`${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`);
}

describe('simulate is not stopped by', () => {
  const attacks: readonly (readonly [string, Given, string])[] = [
    [
      'a text of any length in one object',
      `[{"kind":"Node","metadata":{"name":"${'a'.repeat(17 * 2 ** 20)}`,
      'FILE:1:2: more than 16 MiB in one object, which no API server stores',
    ],
    ['zeros that unpack to more and more', bomb('', '\0'), `FILE:1:1: this is no text; ${wanted}`],
    [
      'spaces that unpack to more and more',
      bomb('[', ' '),
      'FILE: gzip: it unpacks to more than 64 MiB and 200 times its size, as no list of objects does',
    ],
    [
      'lists in lists',
      '{"items":['.repeat(10_000),
      'FILE:1:201: lists are nested more than 20 deep',
    ],
    ['brackets in brackets', '['.repeat(100_000), 'FILE:1:302: it is nested more than 300 deep'],
    ['aliases of aliases', laughs.join('\n'), 'FILE:5:7: it stands for more than 100000 values'],
    [
      'many objects that are none',
      `[${'{},'.repeat(50_000)}{}]`,
      `FILE:1:2: this is no object of Kubernetes: it has no kind; ${what}`,
    ],
    [
      'more pods than any cluster has',
      () => {
        const items = Array.from({ length: 150_001 }, (_, at) => {
          return `{"metadata":{"namespace":"x","name":"p${at}"},"spec":{"containers":[{"name":"c"}]}}`;
        });
        const text = `{"kind":"PodList","apiVersion":"v1","items":[\n${items.join(',\n')}]}`;
        return ['-f', write('crowd.json', text)];
      },
      'FILE:150002:1: more than 150000 pods, and Kubernetes is made for clusters of so many',
    ],
    ['a device', () => ['-f', '/dev/zero'], `FILE:1:1: this is no text; ${wanted}`],
    [
      'a link to itself',
      () => {
        mkdirSync(files.path('itself'));
        symlinkSync('self.json', files.path('itself/self.json'));
        return ['-f', files.path('itself')];
      },
      "-f FILE/self.json: ELOOP: too many symbolic links encountered, stat 'FILE/self.json'",
    ],
  ];
  for (const [index, [name, given, fault]] of attacks.entries()) {
    it(name, async () => {
      const { code, out, err } = await printed(given, `attack-${index}`);
      assert.deepEqual([code, out, err.split('\n')[0]], [1, '', `error: ${fault}`]);
      assert.ok(err.split('\n').length <= 23, err);
    });
  }

  it('pipes, devices and folders that go around in a folder', async () => {
    write('around/whole.json', whole);
    execFileSync('mkfifo', [files.path('around/pipe.json')]);
    symlinkSync('/dev/zero', files.path('around/zero.json'));
    symlinkSync('.', files.path('around/again'));
    const { code, out } = await printed(() => ['-f', files.path('around')], '');
    assert.equal(code, 0);
    assert.match(out, /^1m of FILE \(2 nodes, 2 workloads\) /);
  });

  it('more kinds than anybody reads', async () => {
    const others = Array.from({ length: 1_000 }, (_, at) => {
      return typed(`Kind${at}`, { metadata: { name: 'x' } }, 'x/v1');
    });
    const { out } = await printed(list(...nodes, ...others), 'kinds.json');
    assert.match(out, /left out: Kind0 1, Kind1 1, .* and 988 more\n/);
  });
});

describe('simulate is not misled by', () => {
  it('escapes in names of objects and files', async () => {
    const bad = [
      aNode('n1'),
      aPod(`a${escapes}`),
      typed(`Kind${escapes}`, { metadata: { name: 'x' } }, 'x/v1'),
      typed('PodDisruptionBudget', { metadata: { name: escapes } }, `policy/${escapes}`),
      typed('Pod', { metadata: { name: escapes, namespace: escapes } }),
      aPod(`b${escapes}`, { spec: { nodeName: escapes, tolerations: escapes } }),
    ];
    const file = write(`name${escapes}.json`, `${list(...bad)}{"kind":${escapes}}`);
    for (const format of [
      [],
      ['-o', 'json'],
      ['-o', 'wide'],
      ['-o', 'yaml'],
      ['-o', 'name'],
      ['-o', 'custom-columns=N:.name'],
    ]) {
      const { out, err } = await run(
        'simulate',
        '--partial',
        '-f',
        file,
        '--until',
        '1m',
        ...format,
      );
      assert.match(err, /^Warning: /);
      for (const one of escapes.replace('[2J', '')) assert.ok(!`${out}${err}`.includes(one), out);
    }
  });

  it('one clock that is ahead', async () => {
    const taint = { key: 'k', effect: 'NoExecute', timeAdded: '2025-05-04T00:00:00Z' };
    const created = (name: string, creationTimestamp: string) => {
      const { metadata, ...more } = aNode(name, { spec: { taints: [taint] } });
      return { ...more, metadata: { ...metadata, creationTimestamp } };
    };
    const past = ['n1', 'n2', 'n3'].map((name) => created(name, '2025-05-04T00:00:00Z'));
    const ahead = created('fast', '2999-01-01T00:00:00Z');
    const begin = async (...all: readonly object[]) => {
      const file = write('clocks.json', list(...all));
      const { err, out } = await run('simulate', '-f', file, '--until', '1m', '-o', 'json');
      const note = /^Note: times in the future .*$/m.exec(err)?.[0] ?? '';
      return [JSON.parse(out).startsAt, note];
    };
    assert.deepEqual(await begin(...past, ahead), [
      '2025-05-04T00:00:00Z',
      'Note: times in the future are not believed: Node fast',
    ]);
    // Then it is ours that is behind.
    assert.deepEqual(await begin(created('n1', '2999-01-01T00:00:00Z'), ahead), [
      '2999-01-01T00:00:00Z',
      '',
    ]);
  });
});
