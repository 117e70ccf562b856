import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run } from '../../world/run.ts';
import { temporaryFiles } from '../../world/simulate-files.ts';

// Scenarios whose numbers were computed by hand, in the comments, and agree to the second. Pods take
// exactly as long as they say, so that chance has no part in it.

const { write: file } = temporaryFiles();

interface Workload {
  readonly name: string;
  readonly downMax: number;
  readonly downSeconds: number;
  readonly outageSeconds: number;
  readonly podMinutesLost: number;
  readonly longestGap: { readonly from: number; readonly seconds: number } | null;
  readonly overAt: number | null;
  readonly downAtEnd: number;
  readonly unavailableSeconds: number;
  readonly evictions: number;
}

interface RunDocument {
  readonly name: string;
  readonly summary: {
    readonly evictions: number;
    readonly workloads: readonly Workload[];
    readonly causes: readonly {
      readonly kind: string;
      readonly name: string;
      readonly pods: number;
      readonly from: number;
      readonly until: number | null;
    }[];
  };
  readonly evictions: readonly {
    readonly at: number;
    readonly node: string;
    readonly because: readonly string[];
  }[];
  readonly refusals: readonly {
    readonly count: number;
    readonly firstAt: number;
    readonly lastAt: number;
  }[];
  readonly nodes: readonly {
    readonly name: string;
    readonly states: readonly {
      readonly at: number;
      readonly cordoned: boolean;
      readonly taints: readonly string[];
    }[];
  }[];
}

const head = 'apiVersion: taintmgr.dev/v1alpha1\nkind: Topology\nnodes:\n';

async function played(
  topology: string,
  script: string,
  ...more: readonly string[]
): Promise<readonly RunDocument[]> {
  const files = ['-f', file('t.yaml', head + topology), '--script', file('s.yaml', script)];
  const { code, out, err } = await run('simulate', ...files, '-o', 'json', ...more);
  assert.equal(code, 0, err);
  return JSON.parse(out).runs;
}

async function first(...args: Parameters<typeof played>): Promise<RunDocument> {
  const [only] = await played(...args);
  return only ?? assert.fail('no run');
}

function workload({ summary }: RunDocument, name: string): Workload {
  return summary.workloads.find((one) => one.name === name) ?? assert.fail(name);
}

/** Times as whole seconds: requests and watches take milliseconds. */
function whole(one: Workload) {
  const { downMax, downSeconds, outageSeconds, podMinutesLost, longestGap, overAt } = one;
  return {
    ...{ downMax, downSeconds: Math.floor(downSeconds), outage: Math.floor(outageSeconds) },
    lost: Math.round(podMinutesLost * 10) / 10,
    gap: longestGap && [Math.floor(longestGap.from), Math.floor(longestGap.seconds)],
    overAt: overAt === null ? null : Math.floor(overAt),
  };
}

/** When a node got a NoExecute taint. */
function taintedAt({ nodes }: RunDocument, name: string): number {
  const states = nodes.find((node) => node.name === name)?.states ?? [];
  const tainted = states.find(({ taints }) => taints.some((taint) => taint.endsWith(':NoExecute')));
  return tainted?.at ?? assert.fail(`${name} was never tainted`);
}

const two = '- {zone: a, count: 1}\n- {zone: b, count: 1}\n';

describe('by hand', () => {
  it('start and stop: a pod that another one replaces, and one that comes back under its name', async () => {
    // web: evicted at 60 s; it serves no more at once. Its successor is made at once, and ready 45 s
    // later, at 105 s. db: evicted at 60 s, has stopped at 80 s; then it is made anew, and ready 70 s
    // later, at 150 s: 90 s down, 1.5 pod-minutes.
    const run = await first(
      `- {name: a, zone: a, count: 1}
workloads:
- {kind: Deployment, name: shop/web, replicas: 1, startTime: 45s, stopTime: 10s}
- {kind: StatefulSet, name: shop/db, replicas: 1, startTime: 70s, stopTime: 20s}
`,
      `events:
- {at: 10s, addNode: {name: spare, zone: b}}
- {at: 60s, taint: {node: a-1, taint: "x:NoExecute"}}
`,
    );
    assert.deepEqual(whole(workload(run, 'web')), {
      ...{ downMax: 1, downSeconds: 45, outage: 45, lost: 0.8, gap: [60, 45], overAt: 105 },
    });
    assert.deepEqual(whole(workload(run, 'db')), {
      ...{ downMax: 1, downSeconds: 90, outage: 90, lost: 1.5, gap: [60, 90], overAt: 150 },
    });
  });

  it('a gap: a machine that dies twice, and a node that Kubernetes gives up once', async () => {
    // The pod is on b-1. From 100 s to 130 s its machine is dead, which Kubernetes
    // does not notice within the 50 s it waits; the pod starts again in 40 s: down from 100 s to 170 s.
    // From 300 s to 400 s it is dead again: down from 300 s to 440 s. 210 s in all, of which the longest
    // gap is 140 s; the pod tolerates it for 300 s, so that nobody is evicted. Kubernetes notices it 50 s
    // after the last heartbeat, which is up to 10 s before 300 s, by a look every 5 s: from between 340 and
    // 355 s on, until the machine is back at 400 s and says so. That is 45 to 60 s.
    const run = await first(
      `${two}workloads:
- {kind: Deployment, name: shop/web, replicas: 1, startTime: 40s, nodeSelector: {kubernetes.io/hostname: b-1}}
`,
      `events:
- {at: 100s, stopKubelet: {node: b-1}, lasts: 30s}
- {at: 300s, stopKubelet: {node: b-1}, lasts: 100s}
`,
    );
    const found = workload(run, 'web');
    assert.deepEqual(whole(found), {
      ...{ downMax: 1, downSeconds: 210, outage: 210, lost: 3.5, gap: [300, 140], overAt: 440 },
    });
    assert.equal(run.summary.evictions, 0);
    const noticed = found.unavailableSeconds;
    assert.ok(noticed >= 45 && noticed <= 60, `noticed ${noticed}`);
  });

  it('a limit: one pod in a hundred seconds', async () => {
    // Five pods of one node, one at 60 s as the burst allows, then one each 100 s: at 160, 260, 360,
    // 460 s. Each is down for the 30 s that its successor takes: 5 * 30 s in all, 2.5 pod-minutes, over
    // at 490 s. The limit keeps four pods from 60 s on, the last of them until 460 s.
    const run = await first(
      `- {name: a, zone: a, count: 1}
workloads:
- {kind: Deployment, name: shop/web, replicas: 5, startTime: 30s, stopTime: 5s}
`,
      `policies:
- apiVersion: taintmgr.dev/v1alpha1
  kind: EvictionPolicy
  metadata: {name: slow}
  spec: {limits: [{per: Total, podsPerSecond: 0.01, burst: 1, onLimit: Queue}]}
events:
- {at: 10s, addNode: {name: spare, zone: b}}
- {at: 60s, taint: {node: a-1, taint: "x:NoExecute"}}
`,
    );
    assert.deepEqual(
      run.evictions.map(({ at }) => Math.floor(at)),
      [60, 160, 260, 360, 460],
    );
    assert.deepEqual(whole(workload(run, 'web')), {
      ...{ downMax: 1, downSeconds: 150, outage: 0, lost: 2.5, gap: [60, 30], overAt: 490 },
    });
    assert.deepEqual(
      run.summary.causes.map(({ kind, name, pods, from, until }) => {
        return [kind, name, pods, Math.floor(from), Math.floor(until ?? 0)];
      }),
      [['limit', 'total policy=slow', 4, 60, 460]],
    );
  });

  it('a restart: deadlines go on where they were, and begin anew with kube-controller-manager', async () => {
    // The pod tolerates the taint of 60 s for 100 s. The controller is away from 100 s to 110 s. Ours
    // evicts it at 160 s, or at the end of that second, of which nobody knows when in it the taint was
    // put on; the other rules count from 110 s: at 210 s. Each successor is ready 20 s later.
    const [ours, others] = await played(
      `- {name: a, zone: a, count: 1}
workloads:
- {kind: Deployment, name: shop/web, replicas: 1, startTime: 20s, tolerations: [{key: x, operator: Exists, effect: NoExecute, tolerationSeconds: 100}]}
`,
      `events:
- {at: 10s, addNode: {name: spare, zone: b}}
- {at: 60s, taint: {node: a-1, taint: "x:NoExecute"}}
- {at: 100s, restartController: {}, lasts: 10s}
`,
      '--compare',
    );
    assert.ok(ours && others);
    const at = ({ evictions }: RunDocument): readonly number[] =>
      evictions.map((one) => Math.floor(one.at));
    assert.ok([160, 161].includes(at(ours)[0] ?? 0), `${at(ours)}`);
    assert.deepEqual([at(ours).length, at(others)], [1, [210]]);
    for (const one of [ours, others]) {
      const { downSeconds, longestGap } = workload(one, 'web');
      assert.deepEqual(
        [Math.floor(downSeconds), Math.floor(longestGap?.from ?? 0)],
        [20, ...at(one)],
      );
    }
  });

  it('a drain: one pod at a time, asked for every five seconds', async () => {
    // Two pods on a-1, of which the budget spares one. At 60 s both are asked for: web's
    // first goes, the second is refused. Its successor is ready on the spare node 12 s later, at 72 s; asked
    // again at 65, 70 and 75 s it goes at 75 s, and is back at 87 s. The agent of the DaemonSet stays.
    const run = await first(
      `- {name: a, zone: a, count: 1}
workloads:
- {kind: Deployment, name: shop/web, replicas: 2, startTime: 12s, stopTime: 1s, budget: {maxUnavailable: 1}}
- {kind: DaemonSet, name: infra/agent}
`,
      `events:
- {at: 10s, addNode: {name: spare, zone: b}}
- {at: 60s, drain: {node: a-1}, lasts: 60s}
`,
    );
    assert.deepEqual(
      run.evictions.map(({ at, node, because }) => [Math.floor(at), node, because]),
      [60, 75].map((at) => [at, 'a-1', ['its node is drained']]),
    );
    assert.deepEqual(whole(workload(run, 'web')), {
      ...{ downMax: 1, downSeconds: 24, outage: 0, lost: 0.4, gap: [60, 12], overAt: 87 },
    });
    assert.equal(workload(run, 'agent').evictions, 0);
    // Refused at 60, 65 and 70 s.
    assert.deepEqual(
      run.refusals.map(({ count, firstAt, lastAt }) => [count, firstAt, lastAt]),
      [[3, 60, 70]],
    );
    const states = run.nodes.find(({ name }) => name === 'a-1')?.states ?? [];
    assert.deepEqual(
      states.map(({ at, cordoned }) => [at, cordoned]),
      [
        [0, false],
        [60, true],
        [120, false],
      ],
    );
  });

  it('A against B: what a policy gives beside what it costs', async () => {
    // The machine dies at 60 s for 300 s. A keeps its pod: it is down until the machine is back, at
    // 360 s, and has started again, at 390 s: 330 s. B evicts it when the node is tainted: 50 s after the
    // last heartbeat, which was up to 10 s before 60 s, by a look every 5 s, at the end of that second. Its
    // successor takes 30 s: down for 70 s at least and 86 s at most.
    const policy = (action: string): string =>
      `apiVersion: taintmgr.dev/v1alpha1
kind: EvictionPolicy
metadata: {name: lost}
spec: {match: {taints: [{key: node.kubernetes.io/unreachable}]}, action: ${action}}
`;
    const zero = 'tolerationSeconds: 0, operator: Exists, effect: NoExecute';
    const [a, b] = await played(
      `- {name: a, zone: a, count: 1}
workloads:
- {kind: Deployment, name: shop/web, replicas: 1, startTime: 30s, tolerations: [{key: node.kubernetes.io/unreachable, ${zero}}]}
`,
      `events:
- {at: 10s, addNode: {name: spare, zone: b}}
- {at: 60s, stopKubelet: {node: a-1}, lasts: 300s}
`,
      ...['--variant', `A=${file('keep.yaml', policy('Keep'))}`],
      ...['--variant', `B=${file('delete.yaml', policy('Delete'))}`],
    );
    assert.ok(a && b);
    assert.deepEqual(whole(workload(a, 'web')), {
      ...{ downMax: 1, downSeconds: 330, outage: 330, lost: 5.5, gap: [60, 330], overAt: 390 },
    });
    assert.deepEqual([a.summary.evictions, b.summary.evictions], [0, 1]);
    // When the node was tainted is chance in that range; all that follows is known to the second.
    const tainted = taintedAt(b, 'a-1');
    assert.ok(tainted >= 100 && tainted <= 115, `tainted at ${tainted}`);
    const evicted = b.evictions[0]?.at ?? assert.fail();
    assert.ok(evicted >= tainted && evicted <= tainted + 1.1, `${tainted}, evicted at ${evicted}`);
    const back = Math.floor(evicted) + 30;
    assert.deepEqual(whole(workload(b, 'web')), {
      ...{ downMax: 1, downSeconds: back - 60, outage: back - 60, overAt: back },
      ...{ lost: Math.round((back - 60) / 6) / 10, gap: [60, back - 60] },
    });
  });
});
