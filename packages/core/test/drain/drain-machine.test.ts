// The drain machine: by transcripts, beside clocks that are wrong, and in stories drawn at random.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  type Event,
  makeNode,
  makePod,
  type Node,
  type Outcome,
  type Pod,
  parseTaint,
} from '@taintmgr/core';
import type { DrainCommand, DrainTarget } from '@taintmgr/core/drain';
import { fc } from '../fast-check.ts';
import { runDrainScript } from './script.ts';
import { type DrainOptions, drainConfig, StandaloneDrain } from './standalone-drain.ts';

// Each file holds events and, indented under each, what the drain answered. With REWRITE=1 the
// answers are written anew; commit only differences you can explain.
const folder = new URL('../testdata/drain/', import.meta.url);

describe('drains', () => {
  for (const file of readdirSync(folder).sort()) {
    it(file, () => {
      const transcript = readFileSync(new URL(file, folder), 'utf8');
      const output = runDrainScript(transcript.replace(/^ {4}.*\n/gm, ''));
      if (process.env.REWRITE === '1') writeFileSync(new URL(file, folder), output);
      else assert.equal(output, transcript);
    });
  }
});

const noSchedule = parseTaint('m:NoSchedule');
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const hour = 3_600_000;

describe('a drain beside a clock of the cluster that is another', () => {
  for (const ahead of [0, hour, -hour]) {
    it(`waits for a pod that terminates as long as is said: ${ahead / hour} h ahead`, () => {
      const drain = new StandaloneDrain(drainConfig(noSchedule, { skipTerminatingMs: 60_000 }), [
        'n1',
      ]);
      const start = 10 * hour;
      const node = makeNode({ name: 'n1', taints: [{ ...noSchedule, timeAdded: start + ahead }] });
      const deletionTimestamp = start + ahead - 10_000;
      const pod = makePod({ name: 'a', nodeName: 'n1', owner, deletionTimestamp });
      const tell = (now: number, event: Event): readonly string[] => {
        drain.handle(now, event);
        return drain.machine.takeNotes().map(({ kind }) => kind);
      };
      tell(start, { kind: 'clock', ahead });
      tell(start, { kind: 'nodeUpsert', node });
      tell(start, { kind: 'podUpsert', pod });
      tell(start, { kind: 'synced' });
      assert.deepEqual(tell(start, { kind: 'tick' }), ['nodeBegun']);
      tell(start, { kind: 'tick' });
      assert.equal(drain.nextWake(), start + 51_000);
      assert.deepEqual(tell(start + 50_999, { kind: 'tick' }), []);
      assert.deepEqual(tell(start + 51_000, { kind: 'tick' }), ['podSkipped', 'nodeEnded']);
    });
  }
});

it('a wake is never before what was heard last', () => {
  const drain = new StandaloneDrain(drainConfig(noSchedule), ['n1']);
  const tolerations = [{ key: 'm', operator: 'Exists', tolerationSeconds: 5 }];
  const node = makeNode({ name: 'n1', taints: [{ ...noSchedule, timeAdded: -1000 }] });
  drain.handle(0, { kind: 'nodeUpsert', node });
  drain.handle(0, {
    kind: 'podUpsert',
    pod: makePod({ name: 'a', nodeName: 'n1', owner, tolerations }),
  });
  drain.handle(0, { kind: 'synced' });
  drain.handle(0, { kind: 'tick' });
  assert.equal(drain.nextWake(), 5000);
  drain.handle(7000, { kind: 'nodeUpsert', node });
  assert.equal(drain.nextWake(), 7000);
});

// Whatever the API server answers and whenever: nobody goes early, twice or beyond the limits, and
// the drain comes to an end in which everybody has gone who had to.
// Whatever the API server answers and whenever: nobody goes early, twice or beyond the limits, and
// the drain comes to an end in which everybody has gone who had to.

const taint = parseTaint('m:NoExecute');

interface PodDraw {
  readonly node: number;
  readonly seconds: number | null;
  readonly priority: number;
}

interface Draw {
  readonly zones: readonly number[];
  readonly wereTainted: boolean;
  readonly pods: readonly PodDraw[];
  readonly byPriority: boolean;
  readonly heldUpNodesMax: number;
  readonly answers: readonly number[];
  readonly nodesAtOnceMax: number;
  readonly podsAtOnceMax: number;
  readonly zoneSerial: boolean;
  readonly deleteAfterMs: number | null;
}

const draws: fc.Arbitrary<Draw> = fc.record({
  zones: fc.array(fc.nat(2), { minLength: 1, maxLength: 5 }),
  wereTainted: fc.boolean(),
  pods: fc.array(
    fc.record({
      node: fc.nat(4),
      seconds: fc.option(fc.constantFrom(0, 3, 20)),
      priority: fc.nat(2),
    }),
    { maxLength: 12 },
  ),
  byPriority: fc.boolean(),
  heldUpNodesMax: fc.nat(1),
  answers: fc.array(fc.nat(9), { minLength: 1, maxLength: 40 }),
  nodesAtOnceMax: fc.nat(3),
  podsAtOnceMax: fc.nat(3),
  zoneSerial: fc.boolean(),
  deleteAfterMs: fc.option(fc.constantFrom(0, 4000)),
});

/** An API server with moods, and the pods it has. */
class World {
  readonly drain: StandaloneDrain;
  readonly config: DrainOptions;
  readonly targets: readonly DrainTarget[];
  readonly alive = new Map<string, Pod>();
  readonly accepted = new Set<string>();
  /** When each node got its taint. */
  readonly taintedAt = new Map<string, number>();
  readonly #zoneSerial: boolean;
  readonly #answers: readonly number[];
  /** Events still to happen, in no order. */
  #later: { readonly at: number; readonly run: (now: number) => void }[] = [];
  #asked = 0;
  readonly #wereTainted: boolean;

  constructor(draw: Draw) {
    this.#wereTainted = draw.wereTainted;
    const { zones, answers, nodesAtOnceMax, podsAtOnceMax, zoneSerial, deleteAfterMs } = draw;
    this.#answers = answers;
    this.#zoneSerial = zoneSerial;
    this.targets = zones.map((zone, index) => {
      const name = `z${zone}`;
      return {
        name: `n${index}`,
        zone: name,
        ...(zoneSerial && { wave: { name, nodesAtOnceMax: null } }),
      };
    });
    this.config = {
      nodesAtOnceMax,
      podsAtOnceMax,
      podOrder: { byPriority: draw.byPriority, last: [] },
      heldUpNodesMax: draw.heldUpNodesMax,
      budgets:
        deleteAfterMs === null
          ? { kind: 'respect' }
          : { kind: 'deleteAfter', afterMs: deleteAfterMs },
    };
    this.drain = new StandaloneDrain(drainConfig(taint, this.config), this.targets);
    for (const [index] of zones.entries()) {
      if (draw.wereTainted) this.#showTaint(0, `n${index}`);
      else this.tell(0, { kind: 'nodeUpsert', node: bareNode(`n${index}`) });
    }
    for (const [index, drawn] of draw.pods.entries()) {
      const pod = podOf(index, drawn);
      this.alive.set(pod.uid, pod);
      this.tell(0, { kind: 'podUpsert', pod });
    }
    this.tell(0, { kind: 'synced' });
  }

  tell(now: number, event: Event): void {
    for (const command of this.drain.handle(now, event)) this.#carryOut(now, command);
    this.#checkLimits();
  }

  /** Lets time pass until nothing is left to happen; the time. */
  run(): number {
    let now = 0;
    for (let step = 0; step < 5000; step++) {
      const wake = this.drain.nextWake();
      assert.ok(wake === null || wake >= now, 'nobody is to go back in time');
      const times = [...this.#later.map(({ at }) => at), ...(wake === null ? [] : [wake])];
      if (times.length === 0) return now;
      now = Math.max(now, Math.min(...times));
      const due = this.#later.filter(({ at }) => at <= now);
      this.#later = this.#later.filter(({ at }) => at > now);
      for (const { run } of due) run(now);
      this.tell(now, { kind: 'tick' });
    }
    return assert.fail('it does not come to an end');
  }

  #carryOut(now: number, command: DrainCommand): void {
    if (command.kind === 'recordEvent') return;
    if (command.kind === 'taintNode') {
      this.#taint(now, command);
      return;
    }
    assert.ok(command.kind === 'evictPod' || command.kind === 'deletePod', command.kind);
    const { uid } = command.pod;
    const pod = this.alive.get(uid);
    assert.ok(pod, `${uid} is asked to go and has gone`);
    assert.ok(!this.accepted.has(uid), `${uid} is asked to go twice`);
    this.#checkOrder(pod);
    const [toleration] = pod.tolerations;
    const seconds = toleration ? Number(toleration.tolerationSeconds) : 0;
    const since = this.taintedAt.get(pod.nodeName) ?? Number.POSITIVE_INFINITY;
    assert.ok(now >= since + seconds * 1000, `${uid} goes early`);
    const mood = this.#answers[this.#asked++ % this.#answers.length] ?? 0;
    const outcome = outcomeOf(mood, command.kind, this.#asked);
    if (outcome.kind === 'done') this.#accept(now, pod, mood);
    const { id } = command;
    const answerAt = now + mood * 100;
    this.#later.push({
      at: answerAt,
      run: (at) => this.tell(at, { kind: 'result', id, outcome }),
    });
  }

  #checkOrder({ nodeName, priority = 0, name }: Pod): void {
    if (!this.config.podOrder?.byPriority) return;
    const here = [...this.alive.values()].filter((one) => one.nodeName === nodeName);
    assert.ok(!here.some((one) => (one.priority ?? 0) < priority), `${name} goes out of its turn`);
  }

  /** The write may be lost before or after it was done, and the watch may be quicker or slower. */
  #taint(now: number, { id, nodeName }: Extract<DrainCommand, { kind: 'taintNode' }>): void {
    const mood = this.#answers[this.#asked++ % this.#answers.length] ?? 0;
    const outcome = outcomeOf(mood, 'deletePod', this.#asked);
    if (outcome.kind === 'done' || mood === 8) {
      this.#later.push({ at: now + 300, run: (at) => this.#showTaint(at, nodeName) });
    }
    const answer = { kind: 'result', id, outcome } as const;
    this.#later.push({ at: now + mood * 100, run: (at) => this.tell(at, answer) });
  }

  #showTaint(now: number, name: string): void {
    const since = this.taintedAt.get(name) ?? now;
    this.taintedAt.set(name, since);
    const node = { ...bareNode(name), taints: [{ ...taint, timeAdded: since }] };
    this.tell(now, { kind: 'nodeUpsert', node });
  }

  #accept(now: number, pod: Pod, mood: number): void {
    this.accepted.add(pod.uid);
    const leaving = { ...pod, deletionTimestamp: now + 30_000 };
    this.#later.push({
      at: now + 50,
      run: (at) => this.tell(at, { kind: 'podUpsert', pod: leaving }),
    });
    this.#later.push({
      at: now + 60 + mood * 300,
      run: (at) => {
        this.alive.delete(pod.uid);
        this.tell(at, { kind: 'podDelete', uid: pod.uid });
      },
    });
  }

  #checkLimits(): void {
    const { nodesAtOnceMax, podsAtOnceMax = 0, heldUpNodesMax = 0 } = this.config;
    const draining = this.drain.machine
      .nodes()
      .filter(({ phase }) => phase.kind === 'tainting' || phase.kind === 'draining');
    const pending = this.drain.machine.nodes().filter(({ phase }) => phase.kind === 'pending');
    if (!this.#wereTainted) {
      assert.ok(!pending.some(({ name }) => this.taintedAt.has(name)), 'tainted before its turn');
    }
    const leaving = this.drain.machine
      .pods()
      .filter(({ state }) => ['evicting', 'accepted', 'terminating'].includes(state.kind));
    if (Number(nodesAtOnceMax) > 0)
      assert.ok(draining.length <= Number(nodesAtOnceMax) + heldUpNodesMax, 'too many nodes');
    if (podsAtOnceMax > 0) assert.ok(leaving.length <= podsAtOnceMax, 'too many pods');
    if (this.#zoneSerial)
      assert.ok(new Set(draining.map(({ zone }) => zone)).size <= 1, 'two zones');
  }
}

function bareNode(name: string): Node {
  return { name, uid: name, taints: [] };
}

/** Most moods are good in the end: no server refuses for ever. */
function outcomeOf(mood: number, how: 'evictPod' | 'deletePod', asked: number): Outcome {
  if (asked > 100 || mood < 5) return { kind: 'done' };
  if (mood < 8 && how === 'evictPod') return { kind: 'blocked', message: 'no', retryAfter: null };
  return { kind: 'failed', status: mood === 8 ? null : 500, message: 'no', retryAfter: null };
}

function podOf(index: number, { node, seconds, priority }: PodDraw): Pod {
  const toleration = { key: 'm', operator: 'Exists', value: '', effect: '' };
  return {
    namespace: 'shop',
    name: `p${index}`,
    uid: `p${index}`,
    nodeName: `n${node}`,
    priority,
    tolerations: seconds === null ? [] : [{ ...toleration, tolerationSeconds: seconds }],
    boundAt: null,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 1,
    mirror: false,
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs' },
    hasEmptyDir: false,
  };
}

describe('a drain', () => {
  it('ends with everybody gone who had to, whatever happens on the way', () => {
    fc.assert(
      fc.property(draws, (draw) => {
        const world = new World(draw);
        world.run();
        assert.ok(world.drain.machine.finished, 'it has ended');
        const targets = new Set(world.targets.map(({ name }) => name));
        const left = [...world.alive.values()].filter(({ nodeName }) => targets.has(nodeName));
        assert.deepEqual(left, []);
        assert.ok(world.drain.machine.nodes().every(({ phase }) => phase.kind === 'drained'));
      }),
      { numRuns: 300 },
    );
  });
});
