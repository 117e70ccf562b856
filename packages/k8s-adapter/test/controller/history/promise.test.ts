import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '@taintmgr/core';
import fc from 'fast-check';
import type { Gap } from '../../../src/history/departure.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { ConfigMaps, Controller, podOf, start } from './stage.ts';

// Whatever happens to leaders and to the API server: a pod that left is in what is stored, or in a gap; and it is
// in what is stored where its leader went on to lead, and could write.

type Step =
  /** The leader evicts a pod. */
  | { readonly kind: 'evict' | 'refuse' }
  /** Somebody else does, as all controllers see. */
  | { readonly kind: 'other' }
  /** The first pod that is leaving is gone. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'pass'; readonly seconds: number }
  /**
   * The leader ends, and the other one leads: at once when it ended in order, else after the lease. `lateMs`: its
   * request under way is carried out so much later; null: never. `isWarm`: the next one has seen what it saw.
   */
  | {
      readonly kind: 'crash' | 'depose' | 'stop';
      readonly lateMs: number | null;
      readonly isWarm: boolean;
    }
  /** From now on the API server answers so; null: as it should. */
  | { readonly kind: 'server'; readonly status: number | null }
  /** Somebody writes the newest ConfigMap as it is, or it is written by nobody knows whom. */
  | { readonly kind: 'touch' };

interface Left {
  readonly uid: string;
  readonly at: number;
  readonly term: number;
  /** True if the leader went on, and the server was well, for long enough. */
  isPromised: boolean;
}

const leaseMs = 15_000;
/** A write that was refused is tried again within it, and then one that was not. */
const healthyMs = 65_000;
/** As the docs promise. */
const promisedMs = 10_000;

class World {
  readonly server = new ConfigMaps();
  now = start;
  leader: Controller;
  standby: Controller;
  readonly left: Left[] = [];
  #leaving: Pod[] = [];
  #count = 0;
  #wellSince = start - healthyMs;
  /** True while nobody leads. */
  #isVacant = false;
  #term = 0;
  #late: { readonly at: number; readonly request: ApiRequest }[] = [];

  constructor() {
    this.leader = new Controller('c0');
    this.standby = new Controller('c1');
    this.leader.lead(this.now);
  }

  play(step: Step): void {
    switch (step.kind) {
      case 'evict':
      case 'refuse': {
        const pod = this.#newPod();
        this.leader.evict(this.now, pod, step.kind === 'refuse' ? 'no' : null);
        this.#note(pod);
        if (step.kind === 'evict') this.#leave(pod);
        break;
      }
      case 'other': {
        const pod = this.#newPod();
        const disruption = { reason: 'EvictionByEvictionAPI', manager: null };
        this.#leave({ ...pod, disruption });
        this.#note(pod);
        break;
      }
      case 'gone': {
        const [first, ...others] = this.#leaving;
        this.#leaving = others;
        if (first) this.#tell({ kind: 'podDelete', uid: first.uid });
        break;
      }
      case 'pass':
        for (let second = 0; second < step.seconds; second++) this.#second();
        break;
      case 'server':
        this.server.refuses = step.status;
        this.#wellSince = step.status === null ? this.now : Number.POSITIVE_INFINITY;
        break;
      case 'touch': {
        const newest = [...this.server.objects].at(-1);
        if (newest) this.server.write(newest[0], newest[1].body);
        break;
      }
      default:
        this.#change(step);
    }
  }

  #newPod(): Pod {
    this.#count += 1;
    const pod = podOf(this.#count);
    this.#tell({ kind: 'podUpsert', pod });
    return pod;
  }

  #leave(pod: Pod): void {
    const leaving = { ...pod, deletionTimestamp: this.now + 30_000 };
    this.#leaving.push(leaving);
    this.#tell({ kind: 'podUpsert', pod: leaving });
  }

  #tell(event: Parameters<Controller['witness']['hear']>[1]): void {
    for (const { witness } of [this.leader, this.standby]) witness.hear(this.now, event);
  }

  #note({ uid }: Pod): void {
    this.left.push({ uid, at: this.now, term: this.#term, isPromised: false });
  }

  #second(): void {
    this.now += 1_000;
    for (const { at, request } of this.#late) if (at === this.now) this.server.answer(request);
    this.#late = this.#late.filter(({ at }) => at > this.now);
    for (const one of [this.leader, this.standby]) this.#run(one);
    const isWell = this.now - this.#wellSince >= healthyMs + promisedMs;
    for (const one of this.left) {
      const isLong = this.now - one.at >= promisedMs && !this.#isVacant;
      if (isWell && isLong && one.term === this.#term) one.isPromised = true;
    }
  }

  /** Writes are answered a second later, reads at once. */
  #run(one: Controller): void {
    const answer = (id: string, request: ApiRequest): void =>
      one.answer(this.now, id, this.server.answer(request));
    for (const [id, request] of [...one.sent]) answer(id, request);
    for (let turn = 0; turn < 1_000; turn++) {
      const [reading] = [...one.sent].filter(([, { method }]) => method === 'GET');
      const wake = one.keeper.nextWake();
      if (reading) answer(...reading);
      else if (wake === null || wake > this.now) break;
      else one.tick(this.now);
    }
  }

  #change({ kind, lateMs, isWarm }: Extract<Step, { kind: 'crash' | 'depose' | 'stop' }>): void {
    const before = this.leader;
    if (kind === 'stop') this.#stop();
    else if (lateMs !== null) {
      for (const request of before.sent.values()) {
        this.#late.push({ at: this.now + lateMs, request });
      }
    }
    if (kind === 'depose') before.lead(this.now, false);
    const next = isWarm ? this.standby : this.#fresh();
    this.leader = next;
    this.standby = kind === 'depose' ? before : this.#fresh();
    this.#isVacant = true;
    this.#term += 1;
    if (kind !== 'stop') for (let ms = 0; ms < leaseMs; ms += 1_000) this.#second();
    this.#isVacant = false;
    next.lead(this.now);
  }

  /** Requests under way come to their end before the last write. */
  #stop(): void {
    const { leader } = this;
    for (let turn = 0; turn < 100; turn++) {
      leader.perform(leader.keeper.end(this.now));
      if (leader.sent.size === 0) return;
      for (const [id, request] of [...leader.sent]) {
        leader.answer(this.now, id, this.server.answer(request));
      }
    }
  }

  /** It has heard of all pods that there are. */
  #fresh(): Controller {
    const one = new Controller(`c${++this.#count}`);
    for (const pod of this.#leaving) one.witness.hear(this.now, { kind: 'podUpsert', pod });
    return one;
  }
}

const changes = fc.record({
  kind: fc.constantFrom('crash' as const, 'depose' as const, 'stop' as const),
  lateMs: fc.option(fc.constantFrom(1_000, 5_000, 14_000, 16_000, 17_000, 20_000)),
  isWarm: fc.boolean(),
});
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>({ kind: 'evict' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'refuse' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'other' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'gone' }) },
  {
    weight: 8,
    arbitrary: fc
      .oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(90, 700))
      .map((seconds): Step => ({ kind: 'pass', seconds })),
  },
  { weight: 3, arbitrary: changes },
  {
    weight: 1,
    arbitrary: fc.constantFrom(403, 500, null).map((status): Step => ({ kind: 'server', status })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'touch' }) },
);

function isInGap(at: number, gaps: readonly Gap[]): boolean {
  return gaps.some(({ from = Number.NEGATIVE_INFINITY, to }) => from <= at && at <= to);
}

function timeOf({ at }: Left): number {
  return at - start;
}

it('loses nothing that it promises, and says what it may have lost', () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 5, maxLength: 60 }), (all) => {
      const world = new World();
      for (const step of all) world.play(step);
      world.play({ kind: 'server', status: null });
      world.play({ kind: 'pass', seconds: 90 });
      world.play({ kind: 'crash', lateMs: null, isWarm: false });
      world.play({ kind: 'pass', seconds: 90 });
      const { departures, gaps } = world.server.search();
      const found = new Set(departures.map(({ uid }) => uid));
      const lost = world.left.filter(({ uid }) => !found.has(uid));
      const promised = lost.filter(({ isPromised }) => isPromised);
      assert.deepEqual(promised.map(timeOf), [], 'promised');
      const unsaid = lost.filter(({ at }) => !isInGap(at, gaps));
      assert.deepEqual(unsaid.map(timeOf), [], `not in ${JSON.stringify(gaps)}`);
    }),
    { numRuns: 300 },
  );
});
