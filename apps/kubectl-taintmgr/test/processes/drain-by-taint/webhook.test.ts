import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { run, steady } from '../../world/run.ts';
import { app, Scenario } from '../../world/scenario.ts';
import { startTestCluster, type TestCluster } from '../../world/test-cluster.ts';

// Drains of pods whose eviction an admission webhook keeps for itself: a virtual machine is migrated, a
// broker is rolled by its operator, a rule refuses. The words are those that users of them report.

const answers = [
  [
    'vm',
    429,
    'virt-launcher-eviction-interceptor.kubevirt.io',
    'Eviction triggered evacuation of VMI "vm/vm"',
  ],
  [
    'kafka',
    500,
    'strimzi-drain-cleaner.strimzi.io',
    'The pod will be rolled by the Strimzi Cluster Operator',
  ],
  ['rules', 403, 'validation.example.com', '[no-eviction] not while a backup runs'],
  ['mute', 400, 'validation.example.com', ''],
] as const;

describe('drain-by-taint where a webhook keeps evictions for itself', () => {
  let cluster: TestCluster;
  before(async () => {
    const zones = [...answers.map(([zone]) => zone), 'patience'];
    const workloads = zones.map((zone) => app(zone, 'one'));
    cluster = await startTestCluster({
      region: 'r',
      zones,
      nodesPerZone: 2,
      workloads,
      budgets: [],
    });
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  /** What was asked of one pod from now on, as methods. */
  function asked(pod: string): readonly string[] {
    const seen: string[] = [];
    cluster.cluster.api.subscribe(({ resource, object, previous }) => {
      if (resource !== 'pods' || object.metadata.name !== pod) return;
      if (object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp) {
        seen.push('deleted');
      }
    });
    return seen;
  }

  for (const [zone, code, webhook, message] of answers) {
    it(`shows the words of one that says ${code}, waits, and deletes nothing`, async () => {
      const scenario = new Scenario(cluster, zone);
      const { name } = scenario.pod('one').metadata;
      const fault = { kind: 'deny', webhook, code, message } as const;
      const release = cluster.api.faults.add({ fault, resource: 'pods/eviction', name });
      const deletions = asked(name);
      const args = ['drain-by-taint', 'maintenance=kernel:NoSchedule', '-l', scenario.selector];
      const { code: exit, err } = steady(await run(...args, '--timeout=5s'));
      release();
      const words = `admission webhook "${webhook}" denied the request${message ? `: ${message}` : ' without explanation'}`;
      assert.ok(err.includes(`may be moved by another program: ${words}\n`), err);
      // Its own patience: one try in these five seconds, and none of the retries of an error.
      assert.ok(err.includes(`${words} (1 try)`), err);
      assert.deepEqual([exit, deletions], [2, []]);
    });
  }

  it('deletes the pod where the user has set a time for that', async () => {
    const scenario = new Scenario(cluster, 'patience');
    const { name } = scenario.pod('one').metadata;
    const fault = { kind: 'deny', webhook: 'w.example.com', code: 429, message: 'later' } as const;
    cluster.api.faults.add({ fault, resource: 'pods/eviction', name });
    const args = ['drain-by-taint', 'maintenance=kernel:NoSchedule', '-l', scenario.selector];
    const { code, out, err } = await run(...args, '--pdb-policy=delete-after:1s', '--timeout=120s');
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`^pod/${name} deleted `, 'm'));
  });
});
