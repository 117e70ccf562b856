import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Rule, toleration } from '@taintmgr/sim-cluster';
import { run, start } from '../../world/run.ts';
import { app, Scenario } from '../../world/scenario.ts';
import { startTestCluster, type TestCluster } from '../../world/test-cluster.ts';

// Drains while the API server, or the way to it, fails.

const maintenance = 'maintenance=kernel:NoSchedule';
const tolerates = (seconds: number) => ({
  tolerations: [toleration('maintenance:NoExecute', seconds)],
});

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
/** May do everything at first. */
const watcher: Rule[] = [everything];

describe('drain-by-taint with a failing API server', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(
      {
        region: 'r',
        zones: ['back', 'away', 'lossy', 'sick', 'blind'],
        nodesPerZone: 1,
        workloads: [
          app('back', 'web'),
          app('back', 'db', tolerates(3)),
          app('away', 'db', tolerates(60)),
          app('lossy', 'web'),
          app('sick', 'web'),
          app('blind', 'db', tolerates(60)),
        ],
        budgets: [],
      },
      { watcher },
    );
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  const warning = 'Warning: lost connection to the API server, retrying: ';
  const count = (text: string, part: string): number => text.split(part).length - 1;

  it('goes on when the API server is back', async () => {
    const scenario = new Scenario(cluster, 'back');
    const names = ['web', 'db'].map((name) => scenario.pod(name).metadata.name);
    const { output, result } = start(['drain-by-taint', maintenance, 'back-1']);
    await output.saw(/^pod\/web-\S+ evicted/m);
    cluster.api.faults.down = true;
    await output.saw(/lost connection/);
    cluster.api.faults.down = false;
    const { code, out, err } = await result;
    assert.equal(code, 0);
    const [web, db] = names.map((name) => `pod/${name} evicted \\(back, back-1, \\d+\\.\\ds\\)\n`);
    const lines = `^node/back-1 cordoned\nnode/back-1 tainted\n${web}${db}node/back-1 drained \\(2 pods, .*\\)\n$`;
    assert.match(out, new RegExp(lines));
    assert.match(
      err,
      new RegExp(`^${warning}.*\n(${warning}.*\n)*reconnected to the API server\n`),
    );
  });

  it('gives up at --timeout although the API server is away, and says so', async (t) => {
    t.after(() => {
      cluster.api.faults.down = false;
    });
    const { output, result } = start(
      ['drain-by-taint', maintenance, 'away-1', '--timeout=5s'],
      true,
    );
    await output.saw(/waiting for tolerations to expire/);
    cluster.api.faults.down = true;
    const { code, err } = await result;
    assert.equal(code, 3);
    assert.ok(count(err, warning) >= 1 && count(err, warning) <= 4, err);
    assert.match(err, /^error: not drained within --timeout, 0 of 1 pod gone\n/m);
  });

  it('finds out what became of an eviction whose answer was lost', async () => {
    const { faults } = cluster.api;
    const resource = 'pods/eviction';
    faults.add({ fault: { kind: 'lose' }, verbs: ['create'], resource, times: 1 });
    const { code, out } = await run('drain-by-taint', maintenance, 'lossy-1');
    assert.equal(code, 0);
    assert.match(
      out,
      /^node\/lossy-1 cordoned\nnode\/lossy-1 tainted\npod\/web-\S+ evicted .*\nnode\/lossy-1 drained \(1 pod, .*\)\n$/,
    );
  });

  it('ends at once when the right to watch is taken away, and names it', async () => {
    const { output, result } = start(['drain-by-taint', maintenance, 'blind-1', '--token=watcher']);
    await output.saw(/ tainted\n/);
    const verbs = ['get', 'list', 'create', 'patch'];
    watcher.splice(0, 1, { ...everything, verbs });
    // A watch that is on would go on.
    cluster.api.faults.breakStreams();
    const { code, err } = await result;
    assert.equal(code, 1);
    assert.match(err, /User "watcher" cannot watch resource "(nodes|pods)"/);
    assert.match(err, /^error: the drain cannot continue/m);
  });

  it('tries again when the API server answers with an error', async () => {
    const { faults } = cluster.api;
    const fault = { kind: 'answer', code: 500 } as const;
    faults.add({ fault, verbs: ['create'], resource: 'pods/eviction', times: 2 });
    const { code, err } = await run('drain-by-taint', maintenance, 'sick-1');
    assert.equal(code, 0);
    assert.match(err, /^Warning: sick\/web-\S+ on sick-1 could not be evicted: .+\nhint: .*\n$/);
  });
});
