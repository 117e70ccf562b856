// Nodes whose kubelets stop, in a world beside a kube-controller-manager that watches over them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { node, pod } from '@taintmgr/sim-cluster';
import { begun, type Scene, startController } from './takeover-controller.ts';
import { TakeoverWorld } from './takeover-world.ts';

const zoneLabel = 'topology.kubernetes.io/zone';
const leases = 'kube-node-lease';
/** It looks every second, and takes a node for dead after 8 s; we do after 4 s. */
const watching = {
  nodes: { nodeMonitorPeriodMs: 1000, nodeMonitorGracePeriodMs: 8000, nodeEvictionRate: 1 },
};
const flags = ['--node-monitor-period=1s', '--node-monitor-grace-period=4s'];

/** A world of such nodes and a controller that takes over. */
interface UnreachableScene extends Scene {
  readonly nodes: UnreachableNodes;
}

/** Nodes are called by their zone: `a-1`. There is a pod `stays`, once in each namespace. */
export async function unreachableScene(
  t: TestContext,
  names: readonly string[],
  nodeLifecycle: object,
): Promise<UnreachableScene> {
  const world = await TakeoverWorld.start(t, {}, 0, watching);
  const nodes = new UnreachableNodes(t, world, ['n1', ...names]);
  for (const namespace of ['in', 'out']) nodes.addPod(namespace, 'stays', 300);
  const config = fileOf(t, {
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'ControllerConfiguration' },
    nodeLifecycle,
  });
  const controller = await startController(t, world, ...flags, `--config=${config}`);
  await begun(world, controller, 'stays');
  world.manager.start();
  return { world, nodes, controller };
}

function fileOf(t: TestContext, content: object): string {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-unreachable-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'config.yaml');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

/** Their kubelets renew leases every second, until they stop. */
class UnreachableNodes {
  readonly #world: TakeoverWorld;
  readonly #alive = new Set<string>();
  #isOver = false;

  constructor(t: TestContext, world: TakeoverWorld, names: readonly string[]) {
    this.#world = world;
    for (const name of names) {
      const [zone = ''] = name.split('-');
      if (name !== 'n1') world.api.create('nodes', node(name, { labels: { [zoneLabel]: zone } }));
      this.#alive.add(name);
    }
    this.#beat();
    t.after(() => {
      this.#isOver = true;
    });
  }

  /** A pod on a-1 that is ready, and tolerates for so long that its node is dead. */
  addPod(namespace: string, name: string, tolerationSeconds: number): void {
    const { api } = this.#world;
    const tolerations = ['unreachable', 'not-ready'].map((key) => ({
      ...{ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute' },
      tolerationSeconds,
    }));
    const made = api.create(
      'pods',
      pod(namespace, name, { spec: { nodeName: 'a-1', tolerations } }),
    );
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: this.#time }];
    api.update('pods', { ...made, status: { ...made.status, conditions } }, 'status');
  }

  stop(...names: readonly string[]): void {
    for (const name of names) this.#alive.delete(name);
  }

  /** It says that it is ready. */
  resume(name: string): void {
    this.#alive.add(name);
    const { api } = this.#world;
    const found = api.get('nodes', '', name) ?? assert.fail(`there is no node ${name}`);
    const times = { lastHeartbeatTime: this.#time, lastTransitionTime: this.#time };
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', ...times }];
    api.update('nodes', { ...found, status: { ...found.status, conditions } }, 'status');
    this.#renew(name);
  }

  /** Whether the pod is ready, as the API has it. */
  isReady(namespace: string, name: string): boolean {
    const found = this.#world.api.get('pods', namespace, name);
    const conditions: readonly { readonly type: string; readonly status: string }[] =
      found?.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  }

  get #time(): string {
    return new Date(this.#world.clock.now()).toISOString().replace(/[.]\d+/, '');
  }

  #beat(): void {
    if (this.#isOver) return;
    for (const name of this.#alive) this.#renew(name);
    this.#world.api.clock.after(1000, () => this.#beat());
  }

  #renew(name: string): void {
    const { api } = this.#world;
    const renewTime = new Date(this.#world.clock.now()).toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
    const found = api.get('leases', leases, name);
    if (found) api.update('leases', { ...found, spec });
    else api.create('leases', { metadata: { namespace: leases, name }, spec });
  }
}
