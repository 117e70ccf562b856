import { after, before, it } from 'node:test';
import { type Result, run } from '../../../world/run.ts';
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

before(() => {
  write('pools.yaml', pools);
  write('bare.yaml', bare);
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
