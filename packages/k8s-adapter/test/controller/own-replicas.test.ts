// The controller as a Deployment of two replicas in the cluster that it evicts in, on a virtual clock: its
// pods, the scheduler, the kubelets, and one loop at a time, that of the replica which leads.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { type Config, createEngine, describeReason, type Engine } from '@taintmgr/core';
import { deployment, type KubeObject, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { Loop } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';
import type { PodWatch } from '../../src/pod-watch/pod-source.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const settled = start + 30_000;
const namespace = 'taintmgr-system';
const wrong = [
  { key: 'health.example/gpu', value: 'failed', effect: 'NoExecute' },
  { key: 'health.example/gpu', value: 'failed', effect: 'NoSchedule' },
];

interface Leader {
  readonly name: string;
  readonly engine: Engine;
  readonly driver: VirtualDriver;
}

class World {
  readonly #clock = new VirtualClock(start);
  readonly #config: Partial<Config>;
  readonly #podWatch: PodWatch['mode'];
  readonly cluster = new ServedCluster({
    clock: this.#clock,
    seed: 3,
    topology: {
      region: 'r',
      zones: ['a', 'b'],
      nodesPerZone: 2,
      workloads: [
        deployment(namespace, 'taintmgr-controller', { replicas: 2 }),
        deployment('shop', 'web', { replicas: 6 }),
      ],
      budgets: [],
    },
  });
  #leader: Leader | null = null;
  /** Failovers, the first leader included. */
  leaders = 0;

  constructor(config: Partial<Config>, podWatch: PodWatch['mode'] = 'auto') {
    this.#config = config;
    this.#podWatch = podWatch;
    this.cluster.start();
    this.#clock.advanceTo(settled);
    this.#elect();
  }

  /** So many seconds go by; in each the lease of a leader that is gone may move. */
  pass(seconds: number): void {
    for (let second = 0; second < seconds; second++) {
      const until = this.#clock.now() + 1000;
      if (this.#leader) this.#leader.driver.runUntil(until);
      else this.#clock.advanceTo(until);
      assert.ok(this.working.length > 0, 'one replica works');
      this.#elect();
    }
  }

  taint(names: readonly string[], taints: readonly object[]): void {
    const { api } = this.cluster;
    for (const name of names) {
      const node = api.get('nodes', '', name) ?? assert.fail(name);
      api.update('nodes', { ...node, spec: { ...node.spec, taints } });
    }
  }

  get replicas(): readonly KubeObject[] {
    return this.cluster.api.list('pods', namespace);
  }

  /** Those that are ready and stay. */
  get working(): readonly KubeObject[] {
    return this.replicas.filter(({ metadata, status }) => {
      const conditions: readonly { type: string; status: string }[] = status?.conditions ?? [];
      const isReady = conditions.some((one) => one.type === 'Ready' && one.status === 'True');
      return isReady && !metadata.deletionTimestamp;
    });
  }

  get leader(): Leader {
    return this.#leader ?? assert.fail('nobody leads');
  }

  nodeOf(name: string): string {
    return this.cluster.api.get('pods', namespace, name)?.spec.nodeName ?? assert.fail(name);
  }

  explain(name: string): readonly string[] {
    const explained = this.leader.engine.explain(this.#clock.now(), {
      kind: 'pod',
      namespace,
      name,
    });
    assert.ok(explained?.kind === 'pod');
    return [explained.decision.kind, ...explained.decision.because.map(describeReason)];
  }

  /** A replica that is told to end gives its lease back, and another that is ready takes it. */
  #elect(): void {
    const isThere = this.working.some(({ metadata }) => metadata.name === this.#leader?.name);
    if (isThere) return;
    this.#leader?.driver.feed({ kind: 'stop' });
    this.#leader = null;
    // Of several the one on the last node: by upstream rules the others are evicted before it.
    const next = this.working.toSorted(byNode).at(-1);
    if (!next) return;
    this.leaders += 1;
    const { name } = next.metadata;
    const ownPod = { namespace, name };
    const engine = createEngine({ ...this.#config, ownPod });
    const leases = this.#config.lifecycle !== undefined;
    const sources = { podWatch: { mode: this.#podWatch }, leases, ownPod };
    const loop = new Loop({ machine: engine, random: seededRandom(4), ...sources });
    const { exchange } = this.cluster;
    const driver = new VirtualDriver({ loop, exchange, clock: this.#clock, onNotice: () => {} });
    driver.feed({ kind: 'start' });
    this.#leader = { name, engine, driver };
  }
}

function byNode({ spec: one }: KubeObject, { spec: other }: KubeObject): number {
  return one.nodeName < other.nodeName ? -1 : 1;
}

const cases: readonly (readonly [string, Partial<Config>])[] = [
  ['delete', { mode: 'delete' }],
  ['evict', { mode: 'evict' }],
  ['evict-then-delete', { mode: 'evict-then-delete' }],
  ["kube-controller-manager's rules", { semantics: 'upstream-1.36' }],
];
const nodes = ['a-1', 'a-2', 'b-1', 'b-2'];
const last =
  'the last ready replica of Deployment taintmgr-controller; it is evicted when another is ready';

describe('the controller that runs where it evicts', () => {
  for (const [rules, config] of cases) {
    for (const podWatch of ['auto', 'tainted-nodes'] as const) {
      if (config.semantics && podWatch !== 'auto') continue;
      it(`keeps one replica when every node is tainted, and moves it later (${rules}, ${podWatch})`, () => {
        const world = new World(config, podWatch);
        const { name } = world.leader;
        world.taint(nodes, wrong);
        world.pass(600);
        assert.deepEqual(
          world.working.map(({ metadata }) => metadata.name),
          [name],
        );
        assert.equal(world.leaders, 1);
        assert.deepEqual(world.explain(name), [
          'keep',
          last,
          'no toleration for health.example/gpu=failed:NoExecute',
        ]);
        const free = nodes.find((one) => one !== world.nodeOf(name)) ?? assert.fail();
        world.taint([free], []);
        world.pass(300);
        assert.equal(world.leaders, 2);
        assert.deepEqual(
          world.replicas.map(({ spec }) => spec.nodeName),
          [free, free],
        );
      });
    }
  }

  it('replaces a replica on a dead node, and keeps the one that leads', () => {
    const world = new World({ mode: 'delete', lifecycle: {} });
    const { name } = world.leader;
    const other = world.working.find(({ metadata }) => metadata.name !== name) ?? assert.fail();
    const dead = other.spec.nodeName;
    assert.notEqual(dead, world.nodeOf(name));
    world.cluster.node(dead).stop();
    world.pass(600);
    assert.equal(world.leaders, 1);
    assert.equal(world.working.length, 2);
    assert.ok(world.working.every(({ spec }) => spec.nodeName !== dead));
  });
});
