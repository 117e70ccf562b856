import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Command,
  type Config,
  createEngine,
  type Engine,
  type Event,
  makeNode,
  makePod,
  type NodeCondition,
  type Taint,
} from '@taintmgr/core';
import { drainOf } from './drain/drain-of.ts';
import { fc } from './fast-check.ts';
import { pauseOf, policyOf } from './policy/objects.ts';

// Whoever asks changes nothing: of two engines that hear the same, one is asked between any two events,
// about any instant, and both do the same at the same time.

const nodeNames = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'];
const podNames = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];

const configs: readonly (readonly [name: string, config: Partial<Config>])[] = [
  [
    'with limits that trip, of a window',
    {
      keepTaintStarts: false,
      keepLimits: false,
      limits: [
        { per: 'total', pods: 2, windowMs: 60_000, onLimit: 'trip' },
        { per: 'namespace', percent: 50, windowMs: 30_000, onLimit: 'queue' },
      ],
    },
  ],
  [
    'with rates, beside kube-controller-manager',
    {
      compare: true,
      limits: [
        { per: 'total', podsPerSecond: 0.1, onLimit: 'queue' },
        { per: 'node', pods: 1, windowMs: 20_000, onLimit: 'queue' },
      ],
    },
  ],
  ['with node lifecycle, taking over', { lifecycle: {}, takeover: true }],
  ['with NodeDrains', { nodeDrains: true, mode: 'evict' }],
  ['as kube-controller-manager', { semantics: 'upstream-1.36', lifecycle: {}, compare: true }],
];

type Step =
  | { readonly kind: 'taint'; readonly node: number; readonly taints: number }
  | { readonly kind: 'ready'; readonly node: number; readonly status: string }
  | { readonly kind: 'pod'; readonly pod: number; readonly seconds: number | null }
  | { readonly kind: 'pause'; readonly lastsMs: number | null }
  | { readonly kind: 'policy'; readonly waitMs: number }
  | { readonly kind: 'renew' | 'unpause' | 'drain' | 'resume' | 'tick' };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom({ kind: 'tick' } as const, { kind: 'renew' } as const) },
  fc.record({ kind: fc.constant('taint'), node: fc.nat(5), taints: fc.nat(2) }),
  fc.record({
    kind: fc.constant('ready'),
    node: fc.nat(5),
    status: fc.constantFrom('True', 'False', 'Unknown'),
  }),
  fc.record({
    kind: fc.constant('pod'),
    pod: fc.nat(9),
    seconds: fc.constantFrom(null, 0, 5, 30, 300),
  }),
  fc.record({ kind: fc.constant('pause'), lastsMs: fc.constantFrom(null, 10_000, 90_000) }),
  fc.record({ kind: fc.constant('policy'), waitMs: fc.constantFrom(0, 20_000) }),
  fc.constantFrom<Step>({ kind: 'unpause' }, { kind: 'drain' }, { kind: 'resume' }),
);

const stories = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 1, 500, 1000, 7_000, 30_000, 61_000),
    step: steps,
    /** How far from the present the questions are. */
    aside: fc.array(fc.constantFrom(-3_600_000, -30_000, -1, 0, 1, 9_000, 60_000, 3_600_000), {
      minLength: 1,
      maxLength: 3,
    }),
    mood: fc.nat(5),
  }),
  { minLength: 10, maxLength: 25 },
);

const taints: readonly (readonly Partial<Taint>[])[] = [
  [],
  [{ key: 'a', effect: 'NoExecute' }],
  [
    { key: 'a', effect: 'NoExecute' },
    { key: 'b', effect: 'NoExecute', timeAdded: 0 },
  ],
];

/** Two engines, one of which is asked, and a cluster that answers both. */
class Pair {
  readonly #quiet: Engine;
  readonly #asked: Engine;
  readonly #told: string[] = [];
  #now = 0;
  #mood = 0;
  #aside: readonly number[] = [];
  readonly #taints = new Map<string, readonly Partial<Taint>[]>();
  readonly #ready = new Map<string, string>();

  constructor(config: Partial<Config>) {
    this.#quiet = createEngine(config);
    this.#asked = createEngine(config);
    const labels = { 'taintmgr.dev/takeover': 'enabled' };
    this.tell({ kind: 'namespaceUpsert', namespace: { name: 'default', labels } });
    for (const name of nodeNames) this.#show(name);
    for (const [index] of podNames.entries()) this.#pod(index, index * 10);
    this.tell({ kind: 'synced' });
  }

  run(story: typeof stories extends fc.Arbitrary<infer T> ? T : never): void {
    for (const { afterMs, step, aside, mood } of story) {
      this.#mood = mood;
      this.#aside = aside;
      this.#pass(afterMs);
      this.#take(step);
      this.tell({ kind: 'tick' });
    }
    this.#pass(120_000);
    const said = answers(this.#asked, this.#now);
    assert.deepEqual(said, answers(this.#quiet, this.#now));
    // Whoever sends an answer elsewhere sends all of it.
    assert.deepEqual(structuredClone(said), said);
  }

  /** Both hear it, and one is asked before and after. */
  tell(event: Event): void {
    for (const by of this.#aside) answers(this.#asked, this.#now + by);
    const commands = this.#quiet.handle(this.#now, event);
    assert.deepEqual(this.#asked.handle(this.#now, event), commands, this.#told.join('\n'));
    assert.deepEqual(structuredClone(commands), commands);
    this.#told.push(`${this.#now} ${event.kind}: ${commands.map(({ kind }) => kind)}`);
    for (const by of this.#aside) answers(this.#asked, this.#now + by);
    const wake = this.#quiet.nextWake();
    assert.equal(this.#asked.nextWake(), wake, this.#told.join('\n'));
    assert.ok(wake === null || wake >= this.#now, 'nobody is to go back in time');
    for (const command of commands) this.#answer(command);
  }

  #pass(length: number): void {
    const until = this.#now + length;
    for (let ticks = 0; ticks < 30; ticks++) {
      const wake = this.#quiet.nextWake();
      if (wake === null || wake > until) break;
      this.#now = Math.max(this.#now, wake);
      this.tell({ kind: 'tick' });
    }
    this.#now = Math.max(this.#now, until);
  }

  #take(step: Step): void {
    switch (step.kind) {
      case 'taint': {
        const name = nodeNames[step.node] ?? '';
        this.#taints.set(name, taints[step.taints] ?? []);
        this.#show(name);
        return;
      }
      case 'ready': {
        const name = nodeNames[step.node] ?? '';
        this.#ready.set(name, step.status);
        this.#show(name);
        return;
      }
      case 'pod':
        this.#pod(step.pod, step.seconds);
        return;
      case 'pause': {
        const until = step.lastsMs === null ? null : this.#now + step.lastsMs;
        const pause = pauseOf('night', { until, since: this.#now });
        this.tell({ kind: 'pauseUpsert', pause });
        return;
      }
      case 'unpause':
        this.tell({ kind: 'pauseDelete', name: 'night' });
        return;
      case 'policy': {
        const limits = [{ per: 'total', pods: 1, windowMs: 10_000, onLimit: 'queue' }] as const;
        const policy = policyOf('slow', { minTaintAgeMs: step.waitMs, limits });
        this.tell({ kind: 'policyUpsert', policy });
        return;
      }
      case 'renew':
        for (const [index, nodeName] of nodeNames.entries())
          if (index > 1) {
            const lease = { nodeName, renewedAt: this.#now };
            this.tell({ kind: 'leaseUpsert', lease });
          }
        return;
      case 'drain': {
        const drain = drainOf({ nodes: nodeNames.slice(0, 3) });
        this.tell({ kind: 'nodeDrainUpsert', drain: { ...drain, isGuarded: true } });
        return;
      }
      case 'resume':
        this.tell({ kind: 'resumeEvictions' });
        return;
      case 'tick':
    }
  }

  #show(name: string): void {
    const status = this.#ready.get(name) ?? 'True';
    const told = { reason: '', message: '', heartbeatAt: this.#now, transitionAt: this.#now };
    const conditions: readonly NodeCondition[] = [{ type: 'Ready', status, ...told }];
    const zone = name < 'n4' ? 'a' : 'b';
    const labels = { 'topology.kubernetes.io/zone': zone };
    const known = (this.#taints.get(name) ?? []).map((taint) => {
      return { key: '', value: '', effect: '', timeAdded: null, ...taint };
    });
    const node = makeNode({ name, labels, conditions, taints: known });
    this.tell({ kind: 'nodeUpsert', node });
  }

  #pod(index: number, seconds: number | null): void {
    const tolerations =
      seconds === null ? [] : [{ operator: 'Exists', tolerationSeconds: seconds }];
    const name = podNames[index] ?? '';
    const nodeName = nodeNames[index % nodeNames.length] ?? '';
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
    this.tell({ kind: 'podUpsert', pod: makePod({ name, nodeName, owner, tolerations }) });
  }

  #answer(command: Command): void {
    if (!('id' in command)) return;
    const { id } = command;
    if (command.kind === 'readLimits')
      this.tell({ kind: 'limitRecord', record: null, resume: null });
    if (this.#mood === 0) {
      const outcome = { kind: 'failed', status: 500, message: 'no', retryAfter: null } as const;
      this.tell({ kind: 'result', id, outcome });
      return;
    }
    this.tell({ kind: 'result', id, outcome: { kind: 'done' } });
    if (command.kind === 'deletePod' || command.kind === 'evictPod')
      this.tell({ kind: 'podDelete', uid: command.pod.uid });
    if (command.kind === 'changeTaints') {
      const { name } = command.node;
      this.#taints.set(name, [...(this.#taints.get(name) ?? []), ...command.add]);
      this.#show(name);
    }
  }
}

/** Everything that can be asked. */
function answers(engine: Engine, now: number): unknown {
  const { policies, taintRules, pauses, drains } = engine.policyCounts(now);
  return [
    ...nodeNames.map((name) => engine.explain(now, { kind: 'node', name })),
    ...podNames.map((name) => engine.explain(now, { kind: 'pod', namespace: 'default', name })),
    engine.zones(now),
    engine.limits(now),
    engine.counts(),
    engine.nodes(),
    engine.pauses(),
    engine.takeover(),
    engine.nextWake(),
    { policies, taintRules, pauses, drains },
  ];
}

describe('an engine that is asked about any instant does what one does that is not', () => {
  for (const [name, config] of configs) {
    it(name, () => {
      fc.assert(
        fc.property(stories, (story) => new Pair(config).run(story)),
        { numRuns: 12 },
      );
    });
  }
});
