// The record of limits as it is written and read: nothing of it is lost on the way, and no time is
// earlier than it was.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { type Command, createEngine, type LimitCommand, makeNode, makePod } from '@taintmgr/core';
import type { LimitRecord } from '@taintmgr/core/policy';
import { namespace, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import {
  LimitRecords,
  limitRecordFrom,
  resumeLimitsRequest,
} from '../../../src/controller/procedures/limit-record.ts';
import type { Answer } from '../../../src/proto/answer.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { answerOf } from '../../world/answer-of.ts';
import { PlayedSteps, playSteps } from '../../world/steps.ts';

const lease = { namespace: 'taintmgr-system', name: 'limits' };
const at = 1_700_000_000_000;

/** What somebody reads of what is written. */
function writtenAndRead(record: LimitRecord): LimitRecord | null {
  const { steps } = new LimitRecords(lease).task({
    ...{ kind: 'keepLimits', id: 'limits/1' },
    ...{ record, resumed: false },
  });
  const { request } = new PlayedSteps(steps);
  return limitRecordFrom(JSON.parse(request.body ?? '')).record;
}

it('is read as it was written, to the second', () => {
  const trip = { since: at, limit: 'pods' as const, count: null };
  const count = { evicted: 2, unavailable: 1, most: 3, of: 4, windowMs: 60_000 };
  const record: LimitRecord = {
    'total@60s': {
      evicted: [
        [at, 2],
        [at + 4_000, 1],
      ],
      of: 9,
      sizes: [
        [at, 9],
        [at + 4_000, 8],
      ],
      tripped: trip,
      begun: ['uid-1'],
    },
    'node=n1 policy=few@20s': { evicted: [], of: null, tripped: null },
    'zone=z@60s': { evicted: [], of: 4, tripped: { since: at, limit: 'percent', count } },
  };
  assert.deepEqual(writtenAndRead(record), record);
  const odd: LimitRecord = {
    'total@60s': { evicted: [[at + 1, 2]], of: 9, sizes: [[at + 1, 9]], tripped: null },
  };
  assert.deepEqual(writtenAndRead(odd)?.['total@60s'], {
    ...{ of: 9, tripped: null },
    ...{ evicted: [[at + 1_000, 2]], sizes: [[at + 1_000, 9]] },
  });
});

/** An API server, and two replicas that keep the record in one Lease there. */
class World {
  readonly api: ApiServer = new ApiServer({ clock: new VirtualClock(at), random: seededRandom(1) });
  readonly ours = new LimitRecords(lease);
  readonly theirs = new LimitRecords(lease);
  requests = 0;

  constructor() {
    this.api.create('namespaces', namespace(lease.namespace));
  }

  /** What people hear of it in the end. */
  read(records: LimitRecords): object | null {
    return this.#play(records, { kind: 'readLimits', id: 'limits/1' });
  }

  /** How a write ends, in a word. */
  write(records: LimitRecords, record: LimitRecord, resumed = false): string {
    const command = { kind: 'keepLimits', id: 'limits/1', record, resumed } as const;
    const notice = this.#play(records, command);
    if (notice && 'outcome' in notice) return notice.outcome.kind;
    return notice?.kind === 'limitRecordWritten' ? 'written' : 'nothing';
  }

  send(request: ApiRequest): Answer {
    this.requests += 1;
    return answerOf(this.api, request);
  }

  deleteLease(): void {
    this.api.delete('leases', lease.namespace, lease.name);
  }

  #play(records: LimitRecords, command: LimitCommand) {
    const task = records.task(command);
    return (
      task.ended?.(
        playSteps(task.steps, (request) => this.send(request), at),
        0,
      ) ?? null
    );
  }
}

describe('the Lease of limits', () => {
  const none = { kind: 'limitRecord', record: null, resume: null };
  const one: LimitRecord = { 'total@60s': { evicted: [[at, 1]], of: 9, tripped: null } };
  const two: LimitRecord = { 'total@60s': { evicted: [[at, 2]], of: 9, tripped: null } };

  it('is made with the first record, and is written anew with each that follows', () => {
    const world = new World();
    const { ours } = world;
    assert.deepEqual(world.read(ours), none);
    assert.equal(world.write(ours, one), 'written');
    assert.equal(world.write(ours, two), 'written');
    assert.deepEqual(world.read(world.theirs), { ...none, record: two });
  });

  it('is not written by who has not read what another wrote', () => {
    const world = new World();
    const { ours, theirs } = world;
    for (const records of [ours, theirs]) world.read(records);
    assert.equal(world.write(ours, one), 'written');
    assert.equal(world.write(theirs, {}), 'changed', 'it was made meanwhile');
    world.read(theirs);
    assert.equal(world.write(ours, two), 'written');
    assert.equal(world.write(theirs, {}), 'changed', 'it was written meanwhile');
    assert.deepEqual(world.read(theirs), { ...none, record: two });
    assert.equal(world.write(theirs, one), 'written');
  });

  it('of a version whose record has another form is not taken for none', () => {
    const world = new World();
    world.write(world.ours, one);
    const stored = world.api.get('leases', lease.namespace, lease.name) ?? assert.fail();
    const write = (text: string): void => {
      const annotations = { 'taintmgr.dev/limits': text };
      const now = world.api.get('leases', lease.namespace, lease.name) ?? assert.fail();
      world.api.update('leases', { ...now, metadata: { ...now.metadata, annotations } });
    };
    const message =
      'its annotation taintmgr.dev/limits is no record of this version: run the version that wrote it, or remove the annotation to count anew';
    for (const text of ['H4sIAAAA', '{"total@60s":[1]}', '[]']) {
      write(text);
      assert.partialDeepStrictEqual(world.read(world.theirs), {
        kind: 'limitRecordFailed',
        outcome: { kind: 'failed', message },
      });
    }
    const [[limit, recorded]] = Object.entries(
      JSON.parse(stored.metadata.annotations?.['taintmgr.dev/limits'] ?? ''),
    ) as [[string, object]];
    write(JSON.stringify({ [limit]: { ...recorded, next: [1] } }));
    assert.deepEqual(world.read(world.theirs), { ...none, record: one });
  });

  it('is read again where somebody deleted it, or made another of its name', () => {
    const world = new World();
    const { ours, theirs } = world;
    world.write(ours, one);
    world.deleteLease();
    assert.equal(world.write(ours, two), 'changed');
    assert.deepEqual(world.read(ours), none);
    assert.equal(world.write(ours, one), 'written');
    world.deleteLease();
    world.read(theirs);
    world.write(theirs, {});
    assert.equal(world.write(ours, two), 'changed');
  });

  it('carries what somebody asks for until it was done, and loses no request that came later', () => {
    const world = new World();
    const { ours } = world;
    const resume = { limits: ['total'], by: 'ada' };
    world.write(ours, one);
    world.send(resumeLimitsRequest(lease, resume));
    assert.equal(world.write(ours, two), 'changed');
    assert.deepEqual(world.read(ours), { ...none, record: one, resume });
    assert.equal(world.write(ours, one), 'written');
    assert.deepEqual(world.read(ours), { ...none, record: one, resume });
    assert.equal(world.write(ours, two, true), 'written');
    assert.deepEqual(world.read(ours), { ...none, record: two });
  });

  it('is not read where the server refuses that: nobody takes it for empty', () => {
    const task = new LimitRecords(lease).task({ kind: 'readLimits', id: 'limits/1' });
    const refusal = { kind: 'response', status: 403, headers: {}, body: '' } as const;
    const notice = task.ended?.(
      playSteps(task.steps, () => refusal, at),
      0,
    );
    assert.ok(notice?.kind === 'limitRecordFailed' && notice.outcome.kind === 'failed');
    assert.equal(notice.lease, 'taintmgr-system/limits');
  });

  it('is not asked to hold more than the server takes', () => {
    const world = new World();
    const entries = Array.from({ length: 5_000 }, (_, n) => [`node=n${n}@60s`, one['total@60s']]);
    assert.equal(world.write(world.ours, Object.fromEntries(entries)), 'failed');
    assert.equal(world.requests, 0);
  });

  it('is what its Events are about', () => {
    const world = new World();
    world.write(world.ours, one);
    const uid = world.api.get('leases', lease.namespace, lease.name)?.metadata.uid;
    const said = { type: 'Warning', reason: 'LimitTripped', message: 'total' } as const;
    const { subject, ...event } = world.ours.event({ kind: 'recordLimitEvent', ...said });
    assert.deepEqual(event, said);
    assert.deepEqual(subject, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      ...lease,
      uid,
    });
  });
});

it('holds evictions only for as long as their windows last, with more scopes than one record has place for', () => {
  const rule = { per: 'workload', pods: 1, windowMs: 60_000, onLimit: 'queue' } as const;
  const engine = createEngine({ keepLimits: true, keepTaintStarts: false, limits: [rule] });
  const records = new LimitRecords(lease);
  let now = at;
  const commands: Command[] = [];
  const gone = new Set<string>();
  const refused: string[] = [];
  engine.handle(now, {
    kind: 'nodeUpsert',
    node: makeNode({ name: 'n1', taints: ['a:NoExecute'] }),
  });
  for (let index = 0; index < 900; index++) {
    const name = `${'long-'.repeat(40)}${index}`;
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name };
    const pod = makePod({ name: `p${index}`, nodeName: 'n1', owner });
    engine.handle(now, { kind: 'podUpsert', pod });
  }
  commands.push(...engine.handle(now, { kind: 'synced' }));
  const answer = (command: Command): void => {
    if (!('id' in command)) return;
    const { id } = command;
    const kept = command.kind === 'keepLimits' ? records.task(command).steps.next() : null;
    const refusal = kept?.done ? kept.value : null;
    if (refusal) refused.push('message' in refusal ? refusal.message : '');
    const event = { kind: 'limitRecord', record: null, resume: null } as const;
    if (command.kind === 'readLimits') commands.push(...engine.handle(now, event));
    const outcome = refusal ?? ({ kind: 'done' } as const);
    commands.push(...engine.handle(now, { kind: 'result', id, outcome }));
    if (command.kind !== 'deletePod') return;
    gone.add(command.pod.uid);
    commands.push(...engine.handle(now, { kind: 'podDelete', uid: command.pod.uid }));
  };
  for (let turns = 0; turns < 10_000; turns++) {
    for (let command = commands.shift(); command; command = commands.shift()) answer(command);
    const wake = engine.nextWake();
    if (wake === null || wake > at + 300_000) break;
    now = Math.max(now + 10, wake);
    commands.push(...engine.handle(now, { kind: 'tick' }));
  }
  assert.equal(gone.size, 900);
  assert.match(refused[0] ?? '', /characters are too many for an annotation/);
});
