import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Command,
  createEngine,
  type Event,
  type Pod,
  type Taint,
  type Toleration,
  toleratesTaint,
} from '@taintmgr/core';
import { fc } from '../fast-check.ts';
import { itNamesAll } from '../transcripts.ts';

// Random histories against a twin that keeps no work and no schedule: it computes each deadline
// from scratch whenever it is asked.

const numRuns = 1000;
const options = { comparisonOperators: false };

const name = fc.constantFrom('n1', 'n2');
const taint: fc.Arbitrary<Taint> = fc.record({
  key: fc.constantFrom('a', 'b'),
  value: fc.constantFrom('', 'v'),
  effect: fc.constantFrom('NoExecute', 'NoExecute', 'NoSchedule'),
  timeAdded: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    fc.integer({ min: 0, max: 90 }),
    fc.integer({ min: 8_000, max: 60_000 }),
  ),
});
const toleration: fc.Arbitrary<Toleration> = fc.record({
  key: fc.constantFrom('a', 'b', ''),
  operator: fc.constantFrom('Exists', 'Equal'),
  value: fc.constantFrom('', 'v'),
  effect: fc.constantFrom('NoExecute', ''),
  tolerationSeconds: fc.oneof(fc.constant(null), fc.integer({ min: -1, max: 40 })),
});
const uniqueTaints = fc.uniqueArray(taint, {
  maxLength: 3,
  selector: ({ key, effect }) => `${key}:${effect}`,
});
const pod: fc.Arbitrary<Pod> = fc.record({
  namespace: fc.constant('shop'),
  name: fc.constant('web-0'),
  uid: fc.constantFrom('u1', 'u2', 'u3'),
  nodeName: fc.oneof({ weight: 4, arbitrary: name }, fc.constant('')),
  tolerations: fc.array(toleration, { maxLength: 3 }),
  boundAt: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 50_000 })),
  deletionTimestamp: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.constant(5)),
  phase: fc.constant('Running'),
  generation: fc.constant(1),
  mirror: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true)),
  owner: fc.constant(null),
  hasEmptyDir: fc.constant(false),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  fc
    .record({ name, uid: fc.constant('n'), taints: uniqueTaints })
    .map((node): Event => ({ kind: 'nodeUpsert', node })),
  pod.map((pod): Event => ({ kind: 'podUpsert', pod })),
  name.map((name): Event => ({ kind: 'nodeDelete', name })),
  fc.constantFrom('u1', 'u2', 'u3').map((uid): Event => ({ kind: 'podDelete', uid })),
  fc.constant<Event>({ kind: 'synced' }),
  fc.boolean().map((held): Event => ({ kind: 'leadership', held })),
  fc.constant<Event>({ kind: 'tick' }),
);
const history = fc.array(fc.record({ wait: fc.integer({ min: 0, max: 8000 }), event }), {
  maxLength: 60,
});

class Twin {
  readonly pods = new Map<string, Pod>();
  readonly starts = new Map<string, Map<string, Counted>>();
  readonly nodes = new Set<string>();

  apply(now: number, event: Event): void {
    if (event.kind === 'podUpsert') this.#upsert(now, event.pod);
    if (event.kind === 'podDelete') this.pods.delete(event.uid);
    if (event.kind === 'nodeDelete') {
      this.starts.delete(event.name);
      this.nodes.delete(event.name);
    }
    if (event.kind !== 'nodeUpsert') return;
    const before = this.starts.get(event.node.name);
    const after = new Map<string, Counted>();
    for (const taint of event.node.taints.filter(({ effect }) => effect === 'NoExecute')) {
      const identity = `${taint.key}=${taint.value}`;
      after.set(identity, counted(now, taint, before?.get(identity)));
    }
    this.nodes.add(event.node.name);
    this.starts.set(event.node.name, after);
  }

  /** A binding that is yet to come is none: it was when we first heard of the pod. */
  #upsert(now: number, pod: Pod): void {
    const before = this.pods.get(pod.uid);
    const known = before?.nodeName === pod.nodeName ? before.boundAt : null;
    const isFuture = pod.boundAt !== null && pod.boundAt > now;
    this.pods.set(pod.uid, isFuture ? { ...pod, boundAt: known ?? now } : pod);
  }

  deadline(uid: string): number | null {
    const pod = this.pods.get(uid);
    if (!pod || pod.mirror || pod.deletionTimestamp !== null) return null;
    if (!this.nodes.has(pod.nodeName)) return null;
    let earliest = Number.POSITIVE_INFINITY;
    for (const { taint, start, isNamed } of this.starts.get(pod.nodeName)?.values() ?? []) {
      const first = pod.tolerations.find((t) => toleratesTaint(t, taint, options));
      if (first && first.tolerationSeconds === null) continue;
      const seconds = Math.max(0, Number(first?.tolerationSeconds ?? 0));
      const from = isNamed ? wholeSecond(start) : start;
      const given = Math.max(from, wholeSecond(pod.boundAt ?? -1)) + seconds * 1000;
      earliest = Math.min(earliest, first ? given : start);
    }
    return earliest === Number.POSITIVE_INFINITY ? null : earliest;
  }
}

/** A time without a fraction may be anywhere within its second. */
function wholeSecond(time: number): number {
  return Number.isInteger(time / 1000) ? time + 1000 : time;
}

/** Since when a taint counts, and whether it says so itself. */
interface Counted {
  readonly taint: Taint;
  readonly start: number;
  readonly isNamed: boolean;
}

function counted(now: number, taint: Taint, before: Counted | undefined): Counted {
  const { timeAdded } = taint;
  if (before?.taint.timeAdded === timeAdded) return { ...before, taint };
  // A time that is yet to come is none; a taint that has a new one was put on anew.
  if (timeAdded !== null && timeAdded > now + 5_000) return { taint, start: now, isNamed: false };
  if (timeAdded !== null) return { taint, start: timeAdded, isNamed: true };
  // A taint that loses its time was there at the end of the second which that time named.
  const there = before?.isNamed ? wholeSecond(before.start) : before?.start;
  return { taint, start: there ?? now, isNamed: false };
}

function sent(commands: readonly Command[]): readonly { id: string; uid: string }[] {
  return commands.flatMap((c) => (c.kind === 'deletePod' ? [{ id: c.id, uid: c.pod.uid }] : []));
}

/** Only pods named at the time of asking can be explained, so all have one name and many uids. */
function pendingDeadline(engine: ReturnType<typeof createEngine>, now: number, uid: string) {
  for (const node of ['n1', 'n2']) {
    const explanation = engine.explain(now, { kind: 'node', name: node });
    if (explanation?.kind !== 'node') continue;
    const found = explanation.pods.find(({ pod }) => pod.uid === uid);
    if (found?.decision.kind === 'evict') return found.decision.deadline;
  }
  return null;
}

describe('the engine against its twin', () => {
  it('knows the same deadlines after any history', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const engine = createEngine();
        const twin = new Twin();
        let now = 0;
        for (const { wait, event } of steps) {
          now += wait;
          twin.apply(now, event);
          engine.handle(now, event);
          for (const uid of ['u1', 'u2', 'u3']) {
            assert.equal(pendingDeadline(engine, now, uid), twin.deadline(uid), uid);
          }
        }
      }),
      { numRuns },
    );
  });

  it('sends nothing early, nothing to keep, nothing as a standby; and everything in the end', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const engine = createEngine();
        const twin = new Twin();
        const accepted = new Set<string>();
        let [now, synced, leader] = [0, false, true];
        const feed = (at: number, event: Event): void => {
          now = at;
          twin.apply(now, event);
          if (event.kind === 'podUpsert' || event.kind === 'podDelete') {
            accepted.delete(event.kind === 'podUpsert' ? event.pod.uid : event.uid);
          }
          if (event.kind === 'synced') synced = true;
          if (event.kind === 'leadership') leader = event.held;
          const told = engine.handle(now, event);
          const commands = sent([...told, ...engine.handle(now, { kind: 'tick' })]);
          assert.ok(commands.length === 0 || (synced && leader), 'only a synced leader acts');
          for (const { id, uid } of commands) {
            const deadline = twin.deadline(uid);
            assert.ok(
              deadline !== null && deadline <= now,
              `${uid} due ${deadline} sent at ${now}`,
            );
            const failing = (id.charCodeAt(id.length - 1) + now) % 3 === 0;
            if (!failing) accepted.add(uid);
            engine.handle(now, {
              kind: 'result',
              id,
              outcome: failing
                ? { kind: 'failed', status: 500, message: 'boom', retryAfter: null }
                : { kind: 'done' },
            });
          }
        };
        for (const { wait, event } of steps) feed(now + wait, event);
        feed(now, { kind: 'synced' });
        feed(now, { kind: 'leadership', held: true });
        // The end: follow the wakes until every deadline and every retry has had its turn.
        const end = now + 200_000;
        for (let wake = engine.nextWake(); wake !== null && wake <= end; wake = engine.nextWake()) {
          feed(Math.max(now, wake), { kind: 'tick' });
        }
        for (const uid of ['u1', 'u2', 'u3']) {
          const deadline = twin.deadline(uid);
          assert.ok(deadline === null || accepted.has(uid), `${uid} due ${deadline} never went`);
        }
      }),
      { numRuns },
    );
  });

  it('answers an extra tick with nothing', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const engine = createEngine();
        let now = 0;
        for (const { wait, event } of steps) {
          now += wait;
          engine.handle(now, event);
          engine.handle(now, { kind: 'tick' });
          assert.deepEqual(engine.handle(now, { kind: 'tick' }), []);
        }
      }),
      { numRuns },
    );
  });
});

itNamesAll('eviction');
