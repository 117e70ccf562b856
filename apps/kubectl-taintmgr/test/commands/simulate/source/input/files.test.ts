// The same cluster, however it is given: one file, many, folders, compressed, as kubectl dumps it.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Cluster, type KubeObject, node, pdb, pod, VirtualClock } from '@taintmgr/sim-cluster';
import { readSource } from '../../../../../src/commands/simulate/source/read.ts';
import type { ClusterSource } from '../../../../../src/commands/simulate/source/source.ts';
import { PodTimes } from '../../../../../src/commands/simulate/times/pod-times.ts';
import { run } from '../../../../world/run.ts';
import { temporaryFiles } from '../../../../world/simulate-files.ts';

const files = temporaryFiles();

/** Writes a file into a folder that may not be there yet. */
function write(name: string, text: string | Buffer): string {
  mkdirSync(dirname(files.path(name)), { recursive: true });
  return files.write(name, text);
}

const apiVersions: Readonly<Record<string, string>> = { PodDisruptionBudget: 'policy/v1' };

/** As an API server has them. */
function stored(objects: readonly KubeObject[], kind: string): readonly KubeObject[] {
  return objects.map((object, index) => {
    const metadata = { uid: `${kind}-${index}`, resourceVersion: '7', ...object.metadata };
    return { ...object, apiVersion: apiVersions[kind] ?? 'v1', kind, metadata };
  });
}

const nodes = stored([node('n1'), node('n2')], 'Node');
const pods = stored(
  ['a', 'b'].map((name) => pod('shop', name, { spec: { nodeName: 'n1' } })),
  'Pod',
);
const budgets = stored([pdb('shop', 'web', { minAvailable: 1 })], 'PodDisruptionBudget');
const list = (items: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 4);
/** As the API server lists them: the items do not say what they are. */
function bareList(kind: string, objects: readonly KubeObject[]): string {
  const items = objects.map(({ kind: _, apiVersion: __, ...rest }) => rest);
  return JSON.stringify({ kind: `${kind}List`, apiVersion: apiVersions[kind] ?? 'v1', items });
}

function clusterOf(source: ClusterSource): Cluster {
  const how = { seed: 1, times: new PodTimes(), resting: null };
  return source.make(new VirtualClock(source.startsAt), how);
}

/** The nodes, pods and budgets of what -f names. */
async function contents(...paths: readonly string[]): Promise<readonly string[]> {
  const source = await readSource(paths);
  assert.deepEqual(source.missing, []);
  const { api } = clusterOf(source);
  return ['nodes', 'pods', 'poddisruptionbudgets'].flatMap((resource) =>
    api.list(resource).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  );
}

const whole = ['Node n1', 'Node n2', 'Pod a', 'Pod b', 'PodDisruptionBudget web'];
const yamlList = (kind: string, names: readonly string[]): string =>
  `---\napiVersion: v1\nitems:\n${names
    .map((name) =>
      kind === 'Node'
        ? `- metadata:\n    name: ${name}\n    uid: ${name}\n  spec: {}\n  status: {}\n`
        : `- metadata:\n    name: ${name}\n    namespace: shop\n    uid: ${name}\n  spec:\n    nodeName: n1\n    containers:\n    - name: c\n`,
    )
    .join('')}kind: ${kind}List\nmetadata: {}\n`;

describe('a cluster is read', () => {
  it('from several files', async () => {
    const paths = [write('n.json', list(nodes)), write('rest.json', list([...pods, ...budgets]))];
    assert.deepEqual(await contents(...paths), whole);
  });

  it('from files that gzip has packed, whatever their names are', async () => {
    const packed = write('packed', gzipSync(list([...nodes, ...pods, ...budgets])));
    assert.deepEqual(await contents(packed), whole);
  });

  it('from what kubectl cluster-info dump writes into a folder', async () => {
    write('dump/nodes.json', bareList('Node', nodes));
    write('dump/shop/pods.json', bareList('Pod', pods));
    write('dump/shop/events.json', bareList('Event', []));
    write('dump/shop/a/logs.txt', '==== START logs for container c of pod shop/a ====\n{}\n');
    write('dump/budgets.json.gz', gzipSync(list(budgets)));
    assert.deepEqual(await contents(files.path('dump')), whole);
  });

  it('from what kubectl cluster-info dump prints, logs between the objects', async () => {
    const log =
      '==== START logs for container c of pod shop/a ====\n{"kind":"Pod"}\n==== END logs for container c of pod shop/a ====\n';
    const text = `${bareList('Node', nodes)}\n${bareList('Pod', pods)}\n${log}${list(budgets)}\n`;
    assert.deepEqual(await contents(write('dump.txt', text)), whole);
  });

  it('from a must-gather, in which pods stand twice', async () => {
    const root = 'must-gather/quay-io-sha256/';
    for (const name of ['n1', 'n2']) {
      const text = `---\napiVersion: v1\nkind: Node\nmetadata:\n  name: ${name}\nspec: {}\n`;
      write(`${root}cluster-scoped-resources/core/nodes/${name}.yaml`, text);
    }
    const shop = `${root}namespaces/shop/`;
    write(`${shop}core/pods.yaml`, yamlList('Pod', ['a', 'b']));
    const one =
      '---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: shop\n  uid: a\nspec:\n  nodeName: n1\n  containers:\n  - name: c\n';
    write(`${shop}pods/a/a.yaml`, one);
    write(`${shop}pods/a/c/c/logs/current.log`, 'no object\n');
    write(`${shop}policy/poddisruptionbudgets.yaml`, list(budgets));
    write(`${root}version.json`, '{"clusterVersion": "4.19"}');
    assert.deepEqual(await contents(files.path('must-gather')), whole);
    const { notes } = await readSource([files.path('must-gather')]);
    assert.ok(notes.includes('documents that are no objects of Kubernetes left out: 1'));
  });

  it('in the newer of two states of an object', async () => {
    const taints = [{ key: 'k', effect: 'NoExecute' }];
    const newer = nodes.slice(0, 1).map((one) => ({
      ...one,
      spec: { taints },
      metadata: { ...one.metadata, resourceVersion: '8' },
    }));
    const paths = [write('old.json', list(nodes)), write('new.json', list(newer))];
    for (const order of [paths, paths.toReversed()]) {
      const source = await readSource(order);
      const first = clusterOf(source).api.get('nodes', '', 'n1');
      assert.deepEqual([first?.spec.taints, source.missing], [taints, []]);
    }
  });
});

describe('is refused, and told what to do:', () => {
  const tar = Buffer.alloc(1024);
  tar.write('ustar', 257);
  const cases: readonly (readonly [string, string | Buffer, RegExp])[] = [
    [
      'a tar',
      tar,
      /: this is an archive; unpack it, and give its folder: mkdir dump && tar -xf \S+ -C dump$/,
    ],
    ['a tar.gz', gzipSync(tar), /give its folder: mkdir dump && tar -xf \S+ -C dump$/],
    ['a zip', Buffer.from([0x50, 0x4b, 3, 4, 0, 0]), /give its folder: unzip \S+ -d dump$/],
    [
      'a script',
      'events:\n- {at: 1m}\n',
      /:1:1: this is a script, which --script takes; want what/,
    ],
    [
      'a flight record',
      '{"apiVersion":"x","kind":"FlightRecord"}\n{"step":1}\n',
      /:1:1: this is a flight record, which --replay takes; want/,
    ],
    [
      'its own answer',
      '{"kind":"Simulation","runs":[]}',
      /:1:1: this is what simulate has printed; want/,
    ],
    [
      'something else',
      '{"a":1}',
      /:1:1: this is no object of Kubernetes: it has no kind; want what/,
    ],
    [
      'nothing',
      ' \n',
      /:1:1: the file is empty, want what kubectl get -o json prints, or a Topology$/,
    ],
    ['half a gzip', gzipSync(list(nodes)).subarray(0, -40), /: Unexpected end of JSON input$/],
    ['no gzip', Buffer.from([0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), /: gzip: /],
  ];
  for (const [what, text, want] of cases) {
    it(what, async () => {
      const { code, err } = await run('simulate', '-f', write('bad', text));
      assert.equal(code, 1);
      assert.match(err.split('\n')[0] ?? '', want);
    });
  }

  it('a folder of other files', async () => {
    write('others/readme.txt', 'x');
    const { err } = await run('simulate', '-f', files.path('others'));
    assert.match(err, /: no file in it ends in \.json, \.yaml or \.yml, or in \.gz after these\n$/);
  });

  it('a Topology beside something else', async () => {
    const topology = write(
      't.yaml',
      'apiVersion: taintmgr.dev/v1alpha1\nkind: Topology\nnodes: [{zone: a}]\n',
    );
    const { err } = await run('simulate', '-f', topology, '-f', write('n.json', list(nodes)));
    assert.match(
      err,
      /t\.yaml:1:1: this is a Topology, which is a whole cluster: give it alone\n$/,
    );
  });

  it('one object in two states, neither of which is newer', async () => {
    const other = { ...nodes[0], spec: { unschedulable: true } };
    const paths = [write('one.json', list(nodes)), write('two.json', list([other]))];
    const { err } = await run('simulate', ...paths.flatMap((path) => ['-f', path]));
    assert.match(
      err,
      /two\.json:5:9: items\[0\]: Node n1: already there, and otherwise: \S+one\.json:5:9\n/,
    );
  });
});
