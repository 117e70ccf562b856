import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions, policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { type Clock, node } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { clockAhead, startTestCluster, type TestCluster } from '../../world/test-cluster.ts';

// The clock of a workstation is wrong. Deadlines of pods count from the taint's time, so that has to be
// the cluster's, or who tolerates it for 5 minutes goes at once; and so do heartbeats of controllers.

const minute = 60_000;
const managers = 'taintmanagers.taintmgr.dev';

for (const [name, ahead] of [
  ['10 minutes ahead', 10 * minute],
  ['10 minutes behind', -10 * minute],
] as const) {
  describe(`a drain beside a clock of the cluster that is ${name}`, () => {
    let clock: Clock;
    let cluster: TestCluster;
    beforeEach(async () => {
      clock = clockAhead(ahead);
      cluster = await startTestCluster(null, {}, clock);
      process.env.KUBECONFIG = cluster.kubeconfig;
      cluster.api.create('nodes', node('n1'));
    });
    afterEach(() => cluster.stop());

    it('dates its taint by that', async () => {
      const before = Math.floor(clock.now() / 1000) * 1000;
      const args = ['drain-by-taint', 'maintenance=kernel:NoExecute', '--allow-overlap', 'n1'];
      const { code, err } = await run(...args);
      assert.equal(code, 0, err);
      const taints: readonly { key: string; timeAdded?: string }[] =
        cluster.api.get('nodes', '', 'n1')?.spec.taints ?? [];
      const { timeAdded = '' } = taints.find(({ key }) => key === 'maintenance') ?? {};
      const at = Date.parse(timeAdded);
      assert.ok(before <= at && at <= clock.now(), `at ${timeAdded}`);
    });

    for (const [is, age, fault] of [
      ['runs', 5_000, /^$/],
      [
        'ended 2 minutes ago',
        2 * minute,
        /the last heartbeat of taintmgr-controller is (1m\d+s|2m\S*) old/,
      ],
    ] as const) {
      it(`finds that a controller ${is}`, async () => {
        await installDefinitions(cluster.api, customResourceDefinitions());
        const renewTime = new Date(clock.now() - age).toISOString();
        const kind = { apiVersion: policyApiVersion, kind: 'TaintManager' };
        const made = cluster.api.create(managers, { ...kind, metadata: { name: 'm' } });
        const status = { leader: 'a', controllers: ['node-drain-controller'], renewTime };
        cluster.api.update(managers, { ...made, status }, 'status');
        const taint = 'maintenance=kernel:NoSchedule';
        const args = ['drain-by-taint', taint, 'n1', '--server-side', '--dry-run=server'];
        const { err } = await run(...args);
        assert.match(err, fault);
      });
    }
  });
}
