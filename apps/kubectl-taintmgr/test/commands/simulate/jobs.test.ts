import assert from 'node:assert/strict';
import { it } from 'node:test';
import { job, type KubeObject, node, pod } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { temporaryFiles } from '../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

/** A Job and its pod, which runs on the node, as kubectl prints them. */
function runningJob(
  name: string,
  nodeName: string,
  spec: KubeObject['spec'],
): readonly KubeObject[] {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid: name, controller: true };
  const made = job('shop', name, 3600, { spec });
  const running = pod('shop', `${name}-1`, {
    labels: { app: name },
    spec: { nodeName, restartPolicy: 'Never' },
  });
  return [
    { ...made, metadata: { ...made.metadata, uid: name } },
    {
      ...running,
      metadata: { ...running.metadata, uid: `${name}-1`, ownerReferences: [owner] },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    },
  ];
}

it('says which Jobs fail when their pods are evicted', async () => {
  const ignore = { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] };
  const source = file(
    'jobs.json',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        node('n1'),
        node('n2'),
        ...runningJob('strict', 'n1', { backoffLimit: 0 }),
        ...runningJob('tolerant', 'n1', {
          backoffLimit: 0,
          podFailurePolicy: { rules: [ignore] },
        }),
        ...runningJob('calm', 'n2', {}),
      ],
    }),
  );
  const taint = '{at: 1m, taint: {node: n1, taint: "m=k:NoExecute"}}';
  const args = ['-f', source, '--event', taint, '--until', '5m'];
  const { out } = await run('simulate', ...args);
  assert.deepEqual(out.replaceAll(/ +/g, ' ').split('\n').slice(2, 7), [
    '',
    'JOB EVICTIONS FAILED PODS NEW PODS END AT',
    'shop/strict 1 1 0 Failed: BackoffLimitExceeded 1m1s',
    'shop/tolerant 1 0 1 <none> <none>',
    'Jobs undisturbed: shop/calm',
  ]);
});

it('drains a node of pods that have ended, too', async () => {
  const [made, running] = runningJob('done', 'n1', {});
  const ended = { ...running, status: { phase: 'Succeeded' } };
  const status = { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] };
  const items = [node('n1'), node('n2'), { ...made, status }, ended];
  const source = file('ended.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const drain = ['--event', '{at: 1m, drain: {node: n1}}', '--until', '5m'];
  const { out, err } = await run('simulate', '-f', source, ...drain, '-o', 'json');
  assert.notEqual(out, '', err);
  const { runs } = JSON.parse(out);
  interface Evicted {
    readonly pod: string;
  }
  const evictions: readonly Evicted[] = runs[0].evictions;
  assert.deepEqual(
    evictions.map((one) => one.pod),
    ['done-1'],
  );
});
