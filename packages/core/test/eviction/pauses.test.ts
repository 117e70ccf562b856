// Deadlines survive a restart, of whatever kind they are: an engine that begins at any instant comes to
// the same as one that saw pauses and taints come and go. They count too for a taint that is seen
// only when they are gone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Config,
  createEngine,
  type Engine,
  type Event,
  makeNode,
  makePod,
  type Node,
  type Pod,
} from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import { cutAt, givenBack, pausedTime, takenBack } from '../../src/eviction/pauses.ts';
import { fc } from '../fast-check.ts';
import { pauseOf } from '../policy/objects.ts';
import { itAnswersEvictions } from './script.ts';

const begin = 1_000_000;

const secondMs = 1000;

const pods = ['shop', 'pay'].flatMap((namespace) =>
  ['n1', 'n2', 'n3'].flatMap((nodeName) => [
    ...[60, 600].map((tolerationSeconds) =>
      makePod({
        namespace,
        name: `${nodeName}-${tolerationSeconds}`,
        nodeName,
        tolerations: [{ operator: 'Exists', tolerationSeconds }],
      }),
    ),
    makePod({ namespace, name: `${nodeName}-none`, nodeName }),
  ]),
);

/** What deadlines come from besides tolerations. */
const config: fc.Arbitrary<Partial<Config>> = fc.record({
  minTaintAgeMs: fc.constantFrom(0, 90 * secondMs),
  deleteAfterMs: fc.constantFrom(null, 0, 120 * secondMs),
  mode: fc.constantFrom('delete', 'evict-then-delete'),
});

const scope = fc.record({
  zones: fc.constantFrom([], [], ['y'], ['z']),
  nodes: fc.constantFrom(null, null, { matchLabels: { pool: 'spot' } }),
  taintKeys: fc.constantFrom([], [], ['a'], ['b*']),
  namespaces: fc.constantFrom([], [], ['shop'], ['p*']),
});

const name = fc.constantFrom('p1', 'p2', 'p3');

type Act =
  | {
      readonly kind: 'pause';
      readonly name: string;
      readonly scope: EvictionPause['scope'];
      readonly forMs: number | null;
    }
  | { readonly kind: 'resume'; readonly name: string }
  /** A pod is bound: it counts from then. */
  | { readonly kind: 'pod'; readonly pod: number }
  /** A taint that evicts nobody comes: the node's taints are written anew. */
  | { readonly kind: 'cordon'; readonly node: 'n1' | 'n2' }
  | { readonly kind: 'nothing' };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      name,
      scope,
      forMs: fc.oneof(
        fc.constant(null),
        fc.integer({ min: 1, max: 90 }).map((s) => s * secondMs),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resume' as const), name }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('pod' as const), pod: fc.nat(pods.length - 1) }),
  },
  fc.record({ kind: fc.constant('cordon' as const), node: fc.constantFrom('n1', 'n2') }),
  fc.constant({ kind: 'nothing' as const }),
);

const steps = fc.array(fc.record({ waitS: fc.integer({ min: 0, max: 60 }), act }), {
  minLength: 2,
  maxLength: 14,
});

/** A cluster with two tainted nodes, and whatever pauses there are in it. */
class World {
  readonly nodes = new Map<string, Node>();
  readonly pauses = new Map<string, EvictionPause>();
  readonly config: Partial<Config>;
  readonly pods: Pod[];
  readonly engine: Engine;

  constructor(settings: Partial<Config> = {}, first: readonly Pod[] = pods) {
    this.config = settings;
    this.pods = [...first];
    this.engine = createEngine(settings);
    const taintsWrittenAt = begin - 10 * secondMs;
    const labels = { pool: 'spot' };
    const early = { key: 'b', value: '', effect: 'NoExecute', timeAdded: begin - 40 * secondMs };
    for (const node of [
      makeNode({ name: 'n1', zone: 'y', taints: ['a:NoExecute'], taintsWrittenAt }),
      makeNode({ name: 'n2', zone: 'z', labels, taints: ['a:NoExecute', early], taintsWrittenAt }),
    ]) {
      this.nodes.set(node.name, node);
    }
    startIn(this, this.engine, begin);
  }

  do(now: number, drawn: Act): readonly Event[] {
    if (drawn.kind === 'pod') {
      const {
        uid,
        name: podName,
        ...like
      } = this.pods[drawn.pod % this.pods.length] ?? assert.fail();
      const late = { ...like, name: `${podName}-${this.pods.length}`, boundAt: now };
      const pod = makePod(late);
      this.pods.push(pod);
      return [{ kind: 'podUpsert', pod }];
    }
    if (drawn.kind === 'cordon') {
      const node = this.nodes.get(drawn.node) ?? assert.fail();
      const cordon = { key: 'cordon', value: `${now}`, effect: 'NoSchedule', timeAdded: null };
      const taints = [...node.taints.filter(({ key }) => key !== cordon.key), cordon];
      const cordoned = { ...node, taints, taintsWrittenAt: now };
      this.nodes.set(node.name, cordoned);
      return [{ kind: 'nodeUpsert', node: cordoned }];
    }
    if (drawn.kind === 'resume' && this.pauses.delete(drawn.name)) {
      return [{ kind: 'pauseDelete', name: drawn.name }];
    }
    if (drawn.kind !== 'pause') return [];
    const known = this.pauses.get(drawn.name);
    // The end of one that is over stays: who moves it asks for time that others may have used.
    if (known && known.until !== null && known.until <= now) return [];
    const until = drawn.forMs === null ? null : now + drawn.forMs;
    const pause = known
      ? { ...known, until }
      : pauseOf(drawn.name, { since: now, until, scope: drawn.scope });
    this.pauses.set(pause.name, pause);
    return [{ kind: 'pauseUpsert', pause }];
  }

  /** What the first engine writes on nodes is there, and everybody hears of it. */
  write(now: number): readonly Event[] {
    return this.engine.handle(now, { kind: 'tick' }).flatMap((command): readonly Event[] => {
      if (command.kind !== 'keepTaintStarts') return [];
      const { taintStarts, pastPauses, ...bare } =
        this.nodes.get(command.nodeName) ?? assert.fail();
      const { starts, pauses } = command;
      const node = {
        ...bare,
        ...(starts && { taintStarts: starts }),
        ...(pauses.length > 0 && { pastPauses: pauses }),
      };
      this.nodes.set(node.name, node);
      this.engine.handle(now, { kind: 'result', id: command.id, outcome: { kind: 'done' } });
      return [{ kind: 'nodeUpsert', node }];
    });
  }
}

function startIn(world: World, engine: Engine, now: number): void {
  for (const pause of world.pauses.values()) engine.handle(now, { kind: 'pauseUpsert', pause });
  for (const node of world.nodes.values())
    engine.handle(now, { kind: 'nodeUpsert', node, afterGap: true });
  for (const pod of world.pods) engine.handle(now, { kind: 'podUpsert', pod });
  engine.handle(now, { kind: 'synced' });
}

/** What is decided about each pod, and when budgets are asked no more about it. What is over is over. */
function decisions(
  { pods: all, config: settings }: World,
  engine: Engine,
  now: number,
): readonly string[] {
  return all.map(({ namespace, name: podName }) => {
    const told = engine.explain(now, { kind: 'pod', namespace, name: podName });
    assert.ok(told?.kind === 'pod');
    const { decision, remaining, deletedAt = null } = told;
    const isAsking = settings.mode === 'evict-then-delete' && (settings.deleteAfterMs ?? 0) > 0;
    const left = remaining === null || isAsking ? remaining : Math.max(0, remaining);
    const until = deletedAt === null ? null : Math.max(now, deletedAt);
    return `${namespace}/${podName} ${decision.kind} ${left} ${until}`;
  });
}

/** Whether the times of some taint are still to be written down: nobody could find them yet. */
function isUnwritten({ nodes }: World, now: number): boolean {
  return [...nodes.values()].some(({ taintsWrittenAt }) => (taintsWrittenAt ?? 0) + 2000 > now);
}

it('an engine that starts at any instant gives the same time back as one that was there', () => {
  let compared = 0;
  fc.assert(
    fc.property(steps, fc.nat(), config, fc.boolean(), (drawn, at, settings, tolerate) => {
      const world = new World(
        settings,
        pods.filter(({ tolerations }) => tolerate || tolerations.length === 0),
      );
      const restart = at % drawn.length;
      let later: Engine | null = null;
      let now = begin;
      for (const [index, { waitS, act: one }] of drawn.entries()) {
        now += waitS * secondMs;
        const told = world.do(now, one);
        for (const event of told) world.engine.handle(now, event);
        const written = world.write(now);
        for (const event of written) world.engine.handle(now, event);
        for (const event of [...told, ...written]) later?.handle(now, event);
        later?.handle(now, { kind: 'tick' });
        const expected = decisions(world, world.engine, now);
        if (later) assert.deepEqual(decisions(world, later, now), expected);
        if (isUnwritten(world, now)) continue;
        const started = createEngine(settings);
        startIn(world, started, now);
        assert.deepEqual(decisions(world, started, now), expected);
        compared += 1;
        if (index >= restart) later ??= started;
      }
    }),
    { numRuns: 400 },
  );
  assert.ok(compared > 2000, `${compared}`);
});

it('an engine that sees a taint late gives the same time back as one that saw it at once', () => {
  fc.assert(
    fc.property(steps, fc.nat(), fc.nat(), (drawn, at, delay) => {
      const [world, late] = [new World(), createEngine()];
      startIn(world, late, begin);
      const tainted = at % drawn.length;
      const seen = tainted + (delay % (drawn.length - tainted));
      let now = begin;
      let node = makeNode({ name: 'n3', zone: 'z', labels: { pool: 'spot' } });
      for (const [index, { waitS, act: one }] of drawn.entries()) {
        now += waitS * secondMs;
        for (const event of world.do(now, one))
          for (const engine of [world.engine, late]) engine.handle(now, event);
        if (index === tainted) {
          const taint = { key: 'a', value: '', effect: 'NoExecute', timeAdded: now };
          node = { ...node, taints: [taint], taintsWrittenAt: now };
          world.engine.handle(now, { kind: 'nodeUpsert', node });
        }
        if (index === seen) late.handle(now, { kind: 'nodeUpsert', node });
        for (const engine of [world.engine, late]) engine.handle(now, { kind: 'tick' });
        if (index < seen) continue;
        assert.deepEqual(decisions(world, late, now), decisions(world, world.engine, now));
      }
    }),
    { numRuns: 300 },
  );
});

/** When each pod goes that is to go, in the same order always. */
function remaining(world: World, engine: Engine, now: number): readonly (number | null)[] {
  return world.pods.map(({ namespace, name: podName }) => {
    const told = engine.explain(now, { kind: 'pod', namespace, name: podName });
    assert.ok(told?.kind === 'pod');
    return told.remaining;
  });
}

const everything: EvictionPause['scope'] = {
  zones: [],
  nodes: null,
  taintKeys: [],
  namespaces: [],
};

/** Two hold at the same time; one goes while somebody looks, the other when nobody does. */
const twoAtOnce: readonly { readonly waitS: number; readonly act: Act }[] = [
  { waitS: 0, act: { kind: 'pause', name: 'p1', scope: everything, forMs: null } },
  { waitS: 0, act: { kind: 'pause', name: 'p3', scope: everything, forMs: 1000 } },
  { waitS: 0, act: { kind: 'pod', pod: 0 } },
  { waitS: 1, act: { kind: 'resume', name: 'p1' } },
];

it('what a pause held goes later, never earlier, where it was deleted while nobody looked', () => {
  let later = 0;
  fc.assert(
    fc.property(steps, fc.nat(), fc.array(name), fc.integer({ min: 1, max: 90 }), (...drawn) => {
      const [before, at, resumed, goneForS] = drawn;
      const world = new World();
      let now = begin;
      const death = at % before.length;
      for (const { waitS, act: one } of before.slice(0, death + 1)) {
        now += waitS * secondMs;
        for (const event of world.do(now, one)) world.engine.handle(now, event);
        for (const event of world.write(now)) world.engine.handle(now, event);
      }
      // The leader dies; what it remembers is what was there. The one that lives on stands for what is due.
      const remembered = [...world.pauses.values()];
      for (const [index, known] of remembered.entries()) {
        if (!resumed.some((one) => one === known.name)) continue;
        now += Math.floor((goneForS * secondMs) / (index + 1));
        for (const event of world.do(now, { kind: 'resume', name: known.name }))
          world.engine.handle(now, event);
      }
      now += goneForS * secondMs;
      const started = createEngine();
      for (const known of remembered.filter((one) => !world.pauses.has(one.name))) {
        const pause = { ...known, name: `gone/${known.name}` };
        started.handle(now, { kind: 'pauseUpsert', pause });
        started.handle(now, { kind: 'pauseDelete', name: pause.name });
      }
      startIn(world, started, now);
      for (const engine of [world.engine, started]) engine.handle(now, { kind: 'tick' });
      const [due, given] = [remaining(world, world.engine, now), remaining(world, started, now)];
      for (const [index, one] of given.entries()) {
        const other = due[index] ?? 0;
        assert.ok(one === null ? due[index] === null : one >= other, `${one} before ${other}`);
        if (one !== null && one > other) later += 1;
      }
    }),
    { numRuns: 300, examples: [[[...twoAtOnce], 3, ['p3'], 1]] },
  );
  assert.ok(later > 0, 'nothing was drawn in which the end of a pause was not known');
});

const spans = fc.array(
  fc.record({ from: fc.nat(50), length: fc.oneof(fc.constant(null), fc.nat(20)) }),
  { maxLength: 5 },
);

it('paused time is what a clock shows that stands still meanwhile', () => {
  fc.assert(
    fc.property(spans, fc.nat(60), fc.nat(40), (drawn, start, length) => {
      const now = 100;
      const pause = pauseOf('p');
      const list = drawn.map(({ from, length: ms }) => ({
        pause,
        from,
        to: ms === null ? null : from + ms,
      }));
      const isPaused = (at: number): boolean =>
        list.some(({ from, to }) => from <= at && at < (to ?? now));
      // Every pause so far is given back, those after the time was over too.
      const paused = Array.from({ length: now }, (_, at) => at).filter(
        (at) => at >= start && isPaused(at),
      ).length;
      const pauses = cutAt(now, pausedTime(list));
      assert.equal(givenBack(start, pauses) + length, start + paused + length);
      assert.equal(givenBack(takenBack(start, pauses, start), pauses) >= start, true);
      const shifted = givenBack(start, pauses);
      assert.equal(givenBack(takenBack(shifted, pauses, start), pauses), shifted);
    }),
    { numRuns: 2000 },
  );
});

const tolerations = [{ operator: 'Exists', tolerationSeconds: 100 }];

const pod = makePod({ name: 'web', nodeName: 'n1', tolerations });

const first = pauseOf('night', { uid: 'u1', since: 0 });

/** When the pod goes where the pause is made anew at 50 s, which is seen at 60 s, and is gone at 80 s. */
function deadlineWith(anew: Partial<typeof first>, seesItGo: boolean): number {
  const engine = createEngine();
  engine.handle(0, { kind: 'nodeUpsert', node: makeNode({ name: 'n1' }) });
  engine.handle(0, { kind: 'podUpsert', pod });
  engine.handle(0, { kind: 'synced' });
  engine.handle(0, { kind: 'pauseUpsert', pause: first });
  const node = makeNode({ name: 'n1', taints: ['a:NoExecute'] });
  engine.handle(10_000, { kind: 'nodeUpsert', node });
  if (seesItGo) engine.handle(50_000, { kind: 'pauseDelete', name: 'night' });
  engine.handle(60_000, { kind: 'pauseUpsert', pause: { ...first, ...anew } });
  engine.handle(80_000, { kind: 'pauseDelete', name: 'night' });
  for (let now = 80_000; now <= 250_000; now += 1000) {
    const commands = engine.handle(now, { kind: 'tick' });
    if (commands.some(({ kind }) => kind === 'deletePod')) return now;
  }
  assert.fail('it never goes');
}

describe('a pause that was made anew', () => {
  it('takes no time from pods that the one before gave back', () => {
    const anew = { uid: 'u2', since: 50_000 };
    assert.equal(deadlineWith(anew, false), 180_000);
    assert.equal(deadlineWith(anew, true), 180_000);
  });

  it('is the same one where only its end is another', () => {
    assert.equal(deadlineWith({ until: 900_000 }, false), 180_000);
  });
});

const shopPod = makePod({ namespace: 'shop', name: 'web', nodeName: 'n1', tolerations });

const editedAt = begin + 60_000;

const node = makeNode({
  ...{ name: 'n1', zone: 'a', taints: ['bad:NoExecute'], taintsWrittenAt: begin },
});

const other = { taintKeys: [], namespaces: [], nodes: null, zones: [] };

type Scope = Partial<EvictionPause['scope']>;

function night(scope: Scope): Event {
  const pause = pauseOf('night', { uid: 'u1', since: begin, scope: { ...other, ...scope } });
  return { kind: 'pauseUpsert', pause };
}

/** An engine that hears of all of this at once, and then that it is all. */
function started(now: number, events: readonly Event[]): Engine {
  const engine = createEngine();
  for (const event of events) engine.handle(now, event);
  engine.handle(now, { kind: 'podUpsert', pod: shopPod });
  engine.handle(now, { kind: 'synced' });
  return engine;
}

function remainingOf(engine: Engine, now: number): number | null {
  const told = engine.explain(now, { kind: 'pod', namespace: 'shop', name: 'web' });
  assert.ok(told?.kind === 'pod');
  assert.equal(told.decision.kind, 'pause');
  return told.remaining;
}

const labelled = { ...node, labels: { pool: 'spot' } };

const spot = { nodes: { matchLabels: { pool: 'spot' } } };

const cases: readonly (readonly [what: string, before: Event, edit: Event, after: Scope])[] = [
  ['of another zone', night({ zones: ['b'] }), night({ zones: ['a', 'b'] }), {}],
  ['of other nodes', night(spot), night({}), {}],
  ['of other taints', night({ taintKeys: ['b'] }), night({}), {}],
  ['of other namespaces', night({ namespaces: ['pay'] }), night({}), {}],
  ['into whose scope a node comes', night(spot), { kind: 'nodeUpsert', node: labelled }, spot],
];

describe('a pause', () => {
  for (const [what, before, edit, after] of cases) {
    it(`${what}: a restart changes no deadline`, () => {
      const engine = started(begin, [{ kind: 'nodeUpsert', node }, before]);
      engine.handle(editedAt, edit);
      const now = editedAt + 10_000;
      const last = edit.kind === 'nodeUpsert' ? edit.node : node;
      const next = started(now, [{ kind: 'nodeUpsert', node: last }, night(after)]);
      assert.equal(remainingOf(next, now), 100_000);
      assert.equal(remainingOf(engine, now), 100_000);
    });
  }
});

itAnswersEvictions('pauses pause-events');
