import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Config, Taint } from '@taintmgr/core';
import { fc } from '../fast-check.ts';
import { pauseOf } from '../policy/objects.ts';
import { LifecycleWorld } from './lifecycle-world.ts';

// Whatever happened, in whatever order, and whatever came of the writes: once the cluster is calm, pods that do
// not tolerate their node are gone, dead nodes are tainted, and nodes that are alive are not.

const nodeNames = ['a-1', 'a-2', 'b-1', 'b-2', 'c-1'] as const;
const calmMs = 2 * 3_600_000;

const whats = [
  'taint',
  'untaint',
  'pod',
  'tolerate',
  'pod gone',
  'stop',
  'resume',
  'lease only',
  'not ready',
  'condition',
  'node gone',
  'node',
  'zone',
  'refuse labels',
  'rule',
  'rule gone',
  'pause',
  'unpause',
  'clock',
  'restart',
  'standstill',
  'leadership',
] as const;

const step = fc.record({
  what: fc.constantFrom(...whats),
  node: fc.constantFrom(...nodeNames),
  pod: fc.nat(3),
  seconds: fc.constantFrom(0, 1, 7, 30, 300),
  waitMs: fc.constantFrom(0, 10, 900, 5_000, 20_000, 61_000),
  /** What comes of the next write; null: it succeeds. */
  mishap: fc.constantFrom('refused', 'conflict', 'lost', 'late', null, null),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const config: fc.Arbitrary<Partial<Config>> = fc.record({
  mode: fc.constantFrom('delete', 'evict'),
  evictionsInFlightMax: fc.constantFrom(1, 50),
  keepLimits: fc.boolean(),
  limits: fc.constantFrom<Config['limits']>(
    [],
    [{ per: 'total', pods: 1, windowMs: 20_000, onLimit: 'queue' }],
    [{ per: 'node', podsPerSecond: 0.5, onLimit: 'queue' }],
  ),
  lifecycle: fc.record({
    nodeMonitorGracePeriodMs: fc.constant(20_000),
    nodeStartupGracePeriodMs: fc.constantFrom(20_000, 4 * calmMs),
    nodeEvictionRate: fc.constantFrom(0.1, 1),
    secondaryNodeEvictionRate: fc.constant(0.1),
    largeClusterSizeThreshold: fc.constant(0),
    massUnreachable: fc.constantFrom(null, {
      share: 0.5,
      nodesMin: 2,
      withinMs: 10_000,
      holdMs: 15_000,
    }),
    writesInFlightMax: fc.constantFrom(1, 50),
  }),
});

class Chaos {
  readonly world: LifecycleWorld;
  readonly #mishaps: Step['mishap'][] = [];
  #refusesLabels = false;
  #pods = 0;

  constructor(engine: Partial<Config>) {
    this.world = new LifecycleWorld({
      engine,
      mishap: ({ kind }) => {
        const isRefused = kind === 'setNodeLabels' && this.#refusesLabels;
        return isRefused ? 'refused' : (this.#mishaps.shift() ?? null);
      },
    });
    for (const name of nodeNames) this.world.addNode(name, name.slice(0, 1));
    this.world.sync();
  }

  run(step: Step): void {
    this.#mishaps.push(step.mishap);
    this.#do(step);
    this.world.runUntil(this.world.now + step.waitMs);
  }

  /** From now on nothing goes wrong any more, and nothing but time passes. */
  calmDown(): void {
    const { world } = this;
    this.#mishaps.length = 0;
    world.tell({ kind: 'leadership', held: true });
    world.tell({ kind: 'pauseDelete', name: 'night' });
    world.tell({ kind: 'taintRuleDelete', name: 'disk' });
    for (const [name, { state }] of world.kubelets) {
      if (state !== 'stopped' || name === 'c-1') world.setKubelet(name, 'running');
    }
    if (!world.nodes.has('c-1')) world.addNode('c-1', 'c');
    world.runUntil(world.now + calmMs);
  }

  #do({ what, node, pod, seconds }: Step): void {
    const { world } = this;
    switch (what) {
      case 'taint':
        world.changeNode(node, { taints: [...this.#taintsBut(node, 'bad'), bad] });
        break;
      case 'untaint':
        world.changeNode(node, { taints: this.#taintsBut(node, 'bad') });
        break;
      case 'pod':
        this.#pods += 1;
        world.addPod(`p-${this.#pods}`, node, { tolerations: [tolerated(seconds)] });
        break;
      case 'tolerate':
        world.changePod(`p-${this.#pods - pod}`, { tolerations: [tolerated(seconds)] });
        break;
      case 'pod gone':
        world.removePod(`p-${this.#pods - pod}`);
        break;
      case 'stop':
      case 'resume':
      case 'lease only':
      case 'not ready':
        this.#setKubelet(node, what);
        break;
      case 'condition':
        world.setCondition(node, 'Disk', seconds > 5 ? 'True' : 'False');
        break;
      case 'node gone':
        world.removeNode(node);
        break;
      case 'node':
        if (!world.nodes.has(node)) world.addNode(node, 'b', { reported: seconds > 5 });
        break;
      case 'zone':
        this.#label(node, 'topology.kubernetes.io/zone', seconds > 5 ? 'a' : 'b');
        break;
      case 'refuse labels':
        this.#refusesLabels = true;
        this.#label(node, 'kubernetes.io/os', 'linux');
        break;
      case 'rule':
        world.tell({ kind: 'taintRuleUpsert', rule: { ...rule, holdsMs: seconds * 1000 } });
        break;
      case 'rule gone':
        world.tell({ kind: 'taintRuleDelete', name: 'disk' });
        break;
      case 'pause':
        world.tell({
          kind: 'pauseUpsert',
          pause: pauseOf('night', { since: world.now, readiness: true }),
        });
        break;
      case 'unpause':
        world.tell({ kind: 'pauseDelete', name: 'night' });
        break;
      case 'clock':
        world.setClock(1000 * (seconds - 30));
        break;
      case 'restart':
        world.restart();
        break;
      case 'standstill':
        world.standStill(seconds * 1000);
        break;
      case 'leadership':
        world.tell({ kind: 'leadership', held: seconds > 5 });
    }
  }

  #setKubelet(node: string, what: 'stop' | 'resume' | 'lease only' | 'not ready'): void {
    if (!this.world.kubelets.has(node)) return;
    const state = {
      stop: 'stopped',
      resume: 'running',
      'lease only': 'leaseOnly',
      'not ready': 'running',
    } as const;
    this.world.setKubelet(node, state[what], what === 'not ready' ? 'False' : 'True');
  }

  #label(node: string, key: string, value: string): void {
    const labels = { ...this.world.nodes.get(node)?.labels, [key]: value };
    this.world.changeNode(node, { labels });
  }

  #taintsBut(node: string, key: string): readonly Taint[] {
    return (this.world.nodes.get(node)?.taints ?? []).filter((taint) => taint.key !== key);
  }
}

/** As `kubectl taint` writes it. */
const bad: Taint = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: null };
const rule = {
  name: 'disk',
  uid: 'disk',
  generation: 1,
  condition: 'Disk',
  status: 'True',
  holdsMs: 0,
  clearMs: 0,
  taint: { key: 'disk', value: '', effect: 'NoExecute' },
  nodes: {},
  nodesMax: 1,
  dryRun: false,
} as const;

function tolerated(seconds: number) {
  const toleration = { key: 'bad', operator: 'Exists', value: '', effect: 'NoExecute' };
  return { ...toleration, tolerationSeconds: seconds };
}

function assertCalm({ nodes, pods, kubelets }: LifecycleWorld): void {
  for (const { name, taints, conditions } of nodes.values()) {
    const keys = taints
      .map(({ key, effect }) => `${key}:${effect}`)
      .filter((key) => key !== 'bad:NoExecute');
    const isDead = kubelets.get(name)?.state === 'stopped';
    const unreachable = 'node.kubernetes.io/unreachable';
    const wanted = isDead ? [`${unreachable}:NoExecute`, `${unreachable}:NoSchedule`] : [];
    // A node whose kubelet has never reported may still have the grace of its start.
    const isKnown = conditions?.some(({ type }) => type === 'Ready');
    if (isKnown) assert.deepEqual(keys.sort(), wanted, name);
  }
  for (const { name, nodeName } of pods.values()) {
    const node = nodes.get(nodeName);
    const keys = node?.taints.filter(({ effect }) => effect === 'NoExecute').map(({ key }) => key);
    assert.deepEqual(keys ?? [], [], `${name} stays on ${nodeName}`);
  }
}

it('once a cluster is calm, its nodes are tainted as they are, and their pods are gone', () => {
  fc.assert(
    fc.property(config, fc.array(step, { maxLength: 40 }), (engine, steps) => {
      const chaos = new Chaos(engine);
      for (const one of steps) chaos.run(one);
      chaos.calmDown();
      assertCalm(chaos.world);
    }),
    { numRuns: 120 },
  );
});
