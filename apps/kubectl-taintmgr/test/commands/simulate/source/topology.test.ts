import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run } from '../../../world/run.ts';
import { temporaryFiles, topology } from '../../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

describe('mistakes in a topology', () => {
  it('of counts and kinds', async () => {
    const source = file(
      'wrong-topology.yaml',
      'apiVersion: taintmgr.dev/v1alpha1\nkind: Topology\nnodes:\n- {zone: a, count: 0}\n' +
        'workloads:\n- {kind: Gadget, name: a/b}\n',
    );
    const { code, err } = await run('simulate', '-f', source);
    assert.equal(code, 1);
    assert.equal(
      err,
      `error: ${source}:4:20: nodes[0].count: want a whole number from 1, got 0\n` +
        `error: ${source}:6:10: workloads[0].kind: want Deployment, StatefulSet, DaemonSet, Job, got "Gadget"\n`,
    );
  });

  it('that an API server would refuse', async () => {
    const workload = 'kind: Deployment, name: shop/web';
    const source = file(
      'refused-topology.yaml',
      'apiVersion: taintmgr.dev/v1alpha1\nkind: Topology\nnodes: [{zone: a}, {zone: a}]\nworkloads:\n' +
        `- {${workload}, budget: {maxUnavailable: 200%}}\n` +
        `- {${workload}}\n` +
        '- {kind: Job, name: shop/once, tolerations: [{operator: Equal}]}\n',
    );
    const { code, err } = await run('simulate', '-f', source);
    assert.equal(code, 1);
    const places = err.trimEnd().replaceAll(`error: ${source}:`, '').split('\n');
    assert.deepEqual(places, [
      '3:20: nodes[1]: nodes "a-1" already exists',
      '5:46: workloads[0].budget: PodDisruptionBudget.policy "web" is invalid: spec.maxUnavailable: ' +
        'Invalid value: "200%": must not be greater than 100%',
      '6:3: workloads[1]: deployments.apps "web" already exists',
      '7:3: workloads[2]: Job.batch "once" is invalid: spec.template.spec.tolerations[0].operator: ' +
        'Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ]);
  });

  it('in how many pods a topology and a script ask for', async () => {
    const crowd = topology.replace(/replicas: \d+/, 'replicas: 2147483647');
    const { err } = await run('simulate', '-f', file('crowd.yaml', crowd));
    assert.match(err, /replicas: want a whole number from 0 to 150000, got 2147483647\n/);
    const script = file(
      'crowd-script.yaml',
      'events:\n- {at: 1m, scale: {workload: shop/web, replicas: 2147483647}}\n',
    );
    const scaled = await run('simulate', '-f', file('topology.yaml', topology), '--script', script);
    assert.match(scaled.err, /replicas: want a whole number from 0 to 150000, got 2147483647\n/);
  });
});
