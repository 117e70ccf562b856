// Two controllers that run as the pods of a Deployment in the cluster where they evict: processes, and what the
// plugin says of them.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { run as runPlugin } from '@taintmgr/kubectl-taintmgr/test/world/run.ts';
import { deployment, type KubeObject, type Topology } from '@taintmgr/sim-cluster';
import { type Program, startCluster, startWith, until, type WatchedCluster } from './programs.ts';

const namespace = 'taintmgr-system';
const topology: Topology = {
  region: 'r',
  zones: ['a'],
  nodesPerZone: 4,
  workloads: [
    deployment(namespace, 'taintmgr-controller', { replicas: 2 }),
    deployment('shop', 'web', { replicas: 4 }),
  ],
  budgets: [],
};
const wrong = ['NoExecute', 'NoSchedule'].map((effect) => ({
  key: 'gpu',
  value: 'failed',
  effect,
}));

/** Each pod of the controller runs the program for as long as it is there. */
class Replicas {
  readonly #t: TestContext;
  readonly #watched: WatchedCluster;
  readonly #programs = new Map<string, Program>();

  constructor(t: TestContext, watched: WatchedCluster) {
    this.#t = t;
    this.#watched = watched;
    const { api } = watched.cluster;
    const follow = (): void => {
      for (const pod of this.pods) this.#run(pod);
      for (const [name, { child }] of this.#programs) {
        const pod = api.get('pods', namespace, name);
        if (!pod || pod.metadata.deletionTimestamp) child.kill('SIGTERM');
      }
    };
    t.after(api.subscribe(follow));
    follow();
  }

  get pods(): readonly KubeObject[] {
    return this.#watched.cluster.api.list('pods', namespace);
  }

  /** The names of those that are ready and stay. */
  get working(): readonly string[] {
    const isReady = ({ status, metadata }: KubeObject): boolean => {
      const conditions: readonly { type: string; status: string }[] = status?.conditions ?? [];
      const found = conditions.some((one) => one.type === 'Ready' && one.status === 'True');
      return found && !metadata.deletionTimestamp;
    };
    return this.pods.filter(isReady).map(({ metadata }) => metadata.name);
  }

  get leader(): string {
    const { api } = this.#watched.cluster;
    const [status] = api.list('taintmanagers.taintmgr.dev').map((one) => one.status);
    return String(status?.leader ?? '').replace(/_.*/, '');
  }

  get out(): string {
    return [...this.#programs.values()].map((program) => program.out()).join('\n');
  }

  #run({ metadata: { name }, spec }: KubeObject): void {
    if (this.#programs.has(name) || !spec.nodeName) return;
    const environment = {
      KUBECONFIG: this.#watched.kubeconfig,
      POD_NAME: name,
      POD_NAMESPACE: namespace,
      TAINTMGR_LEADER_ELECT_RESOURCE_NAMESPACE: namespace,
    };
    const flags = [
      '--controllers=node-drain-controller,taint-eviction-controller',
      '--mode=delete',
    ];
    const times = ['--leader-elect-lease-duration=3s', '--leader-elect-renew-deadline=2s'];
    const rest = ['--leader-elect-retry-period=500ms', '--secure-port=0', '-v=2'];
    this.#programs.set(
      name,
      startWith(this.#t, 'controller', environment, ...flags, ...times, ...rest),
    );
  }
}

function taint(
  { cluster: { api } }: WatchedCluster,
  name: string,
  taints: readonly object[],
): void {
  const node = api.get('nodes', '', name) ?? assert.fail(name);
  api.update('nodes', { ...node, spec: { ...node.spec, taints } });
}

const plugin = async (line: string): Promise<string> => {
  const { out, err } = await runPlugin(...line.split(' '));
  return `${out}${err}`;
};

const why =
  'the last ready replica of Deployment taintmgr-controller; it is evicted when another is ready';

describe('two controllers that run as pods', () => {
  it('are never both evicted, and the plugin says why one stays', async (t) => {
    const watched = await startCluster(t, topology);
    process.env.KUBECONFIG = watched.kubeconfig;
    const replicas = new Replicas(t, watched);
    await until(
      'a leader',
      () => replicas.leader !== '',
      () => replicas.out,
    );
    for (const name of ['a-1', 'a-2', 'a-3', 'a-4']) taint(watched, name, wrong);
    // Where the node of the leader is tainted first the leader goes, and the other replica leads and stays.
    const isLeftAlone = (): boolean => {
      const web = watched.cluster.api.list('pods', 'shop');
      return web.every(({ spec }) => !spec.nodeName) && replicas.working.join() === replicas.leader;
    };
    await until('all others to go', isLeftAlone, () => replicas.out);
    const { leader } = replicas;
    const explained = await plugin(`explain pod ${leader} -n ${namespace}`);
    assert.match(explained, new RegExp(`^Decision: +Keep\\nBecause: +${why}$`, 'm'));
    const pending = await plugin('pending -A --no-headers');
    const [line = ''] = pending.split('\n').filter((one) => one.includes(leader));
    assert.match(line, / {2}gpu=failed:NoExecute {2,}no other replica is ready$/);
    const free = ['a-1', 'a-2', 'a-3', 'a-4'].find((name) => {
      return replicas.pods.every(({ spec }) => spec.nodeName !== name);
    });
    taint(watched, free ?? assert.fail(), []);
    const hasMoved = (): boolean => {
      return (
        replicas.working.length === 2 && replicas.pods.every(({ spec }) => spec.nodeName === free)
      );
    };
    await until('both to move', hasMoved, () => replicas.out);
  });

  it('are not both evicted by drain-by-taint, whatever it does about budgets', async (t) => {
    const watched = await startCluster(t, topology);
    process.env.KUBECONFIG = watched.kubeconfig;
    const replicas = new Replicas(t, watched);
    await until(
      'a leader',
      () => replicas.leader !== '',
      () => replicas.out,
    );
    const line =
      'drain-by-taint work=now a-1 a-2 a-3 a-4 --disable-eviction --max-parallel-nodes=0 --timeout=15s';
    const { code, err } = await runPlugin(...line.split(' '));
    assert.notEqual(code, 0);
    const last = replicas.working.join();
    assert.match(err, new RegExp(`Warning: ${namespace}/${last} on a-\\d stays for now: ${why}`));
    assert.match(err, /error: 3 of 4 nodes drained within --timeout; 1 pod stays on a-\d/);
  });
});
