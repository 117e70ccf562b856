import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type Result, run, start } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';
import { playTranscript } from '../../../world/transcript.ts';

const { write, path } = temporaryFiles();
const transcript = new URL('../../../testdata/commands/simulate/each.txt', import.meta.url);
const folder = process.cwd();

const pools = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
region: eu
nodes:
- {name: blue, zone: eu-a, count: 2, labels: {pool: blue}, taints: ['gpu=yes:NoSchedule']}
- {name: red, zone: eu-b, count: 2, labels: {pool: red}}
- {name: bare, zone: eu-b, count: 2}
workloads:
- {kind: Deployment, name: shop/web, replicas: 4, budget: {maxUnavailable: 1}}
- {kind: StatefulSet, name: shop/db, replicas: 1, nodeSelector: {pool: red}, budget: {minAvailable: 1}}
- kind: Deployment
  name: ml/train
  replicas: 2
  requests: {cpu: '3'}
  nodeSelector: {pool: blue}
  tolerations:
  - {key: gpu, operator: Exists}
  - {key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
`;
const bare = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes: [{name: bare, count: 2}]
workloads: []
`;

const jobs = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes: [{name: work, count: 3, capacity: {cpu: '4'}}]
workloads:
- {kind: Job, name: shop/batch, replicas: 1, seconds: 1200}
`;

before(() => {
  write('pools.yaml', pools);
  write('bare.yaml', bare);
  write('jobs.yaml', jobs);
  write('lone.yaml', bare.replace('count: 2', 'count: 1'));
  process.chdir(path('.'));
});
after(() => process.chdir(folder));

/** Runs `kubectl taintmgr ARGS`, of which some may stand in quotes. */
function play(line: string): Promise<Result> {
  const words = line.match(/'[^']*'|\S+/g) ?? [];
  return run(...words.slice(2).map((word) => word.replace(/^'(.*)'$/, '$1')));
}

it('says which loss hurts', async () => {
  await playTranscript(transcript, play);
});

// Long enough that it is stopped in the middle.
const day = ['simulate', '-f', 'pools.yaml', '--each', 'node', '--until', '24h'];

it('keeps what is done at Ctrl-C, and says what is not', async () => {
  const running = start([...day, '--report', 'stopped.html', '-o', 'json'], true);
  await running.output.saw(/^\d of 6 losses, about \S+ left$/);
  running.interrupt();
  const { code, out, err } = await running.result;
  const { losses, unplayed } = JSON.parse(out);
  assert.equal(losses.length + unplayed.length, 6);
  assert.ok(losses.length > 0 && unplayed.length > 0);
  assert.deepEqual(
    [code, err],
    [130, `interrupted: ${unplayed.length} of 6 losses were not played\n`],
  );
  const [, data = ''] = />([\w+/=]+)<\/script>/.exec(readFileSync('stopped.html', 'utf8')) ?? [];
  const { made, ...shown } = JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString());
  assert.deepEqual(shown, JSON.parse(out));
  const command = 'kubectl taintmgr simulate -f pools.yaml --until 24h --each node';
  assert.equal(made.command, `${command} --report stopped.html`);
});

it('counts no pod that has no room without the loss either', async () => {
  const labels = { 'topology.kubernetes.io/zone': 'a' };
  const amounts = { cpu: '4', memory: '8Gi', pods: '110' };
  const status = { capacity: amounts, allocatable: amounts };
  const pod = (name: string, cpu: string, nodeName?: string): object => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', uid: name } },
    spec: {
      ...(nodeName && { nodeName }),
      containers: [{ name, resources: { requests: { cpu } } }],
    },
    status: nodeName
      ? { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
      : {
          phase: 'Pending',
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
        },
  });
  const nodes = ['n-1', 'n-2'].map((name) => {
    return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {}, status };
  });
  const items = [...nodes, pod('huge', '50'), pod('web', '1', 'n-1')];
  write('pending.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const { out, err } = await run(
    ...['simulate', '-f', 'pending.json', '--partial', '--each', 'node', '-o', 'json'],
  );
  const { losses, notes } = JSON.parse(out);
  assert.deepEqual(
    losses.map(({ unplaced }: { readonly unplaced: object }) => unplaced),
    [1, 2].map(() => ({ pods: 0, atOnceMax: 0, atEnd: 0 })),
    err,
  );
  assert.ok(
    notes.includes('without any loss 1 pod is Pending without room, which no loss counts'),
    notes.join(),
  );
});

it('has nothing to keep while the cluster without a loss is played', async () => {
  const running = start(day, true);
  await running.output.saw(/^simulating without a loss: /);
  running.interrupt();
  const { code, out, err } = await running.result;
  assert.deepEqual([code, out, err], [130, '', 'error: interrupted\n']);
});

it('says nothing of how far it is where nobody watches', async () => {
  const running = start(['simulate', '-f', 'pools.yaml', '--each', 'zone', '--until', '2m']);
  const { code, err } = await running.result;
  assert.deepEqual([code, err, running.output.shown], [0, '', []]);
});
