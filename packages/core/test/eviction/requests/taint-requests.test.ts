// Pods of tainted nodes by a policy with the action Request: asked to go, and evicted where that leads to nothing.
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
  type Outcome,
  type PodInput,
} from '@taintmgr/core';
import type { EvictionRequest } from '@taintmgr/core/drain';
import type { EvictionPolicy } from '@taintmgr/core/policy';
import { policyOf } from '../../policy/objects.ts';
import { readyIs } from '../../replica-town.ts';

const minute = 60_000;
const names = ['db', 'web'];
const away: Outcome = { kind: 'failed', status: 503, message: 'away', retryAfter: null };
const denied: Outcome = { kind: 'failed', status: 403, message: 'no right', retryAfter: null };
const refused: Outcome = { kind: 'blocked', message: 'budget', retryAfter: null };

/** A node with two pods and a cluster that answers at once. */
class Town {
  now = 0;
  readonly log: string[] = [];
  readonly pods = new Set(names);
  /** EvictionRequests there are; null: the cluster has no such API. */
  requests: EvictionRequest[] | null = [];
  lists: Outcome = { kind: 'done' };
  creations: Outcome = { kind: 'done' };
  evictions: Outcome = { kind: 'done' };
  engine: Engine = createEngine();
  listed = 0;
  policy: EvictionPolicy | null;
  taint = true;
  readonly #given: Partial<PodInput>;
  readonly #config: Partial<Config>;

  constructor(
    policy: Partial<EvictionPolicy> = {},
    given: Partial<PodInput> = {},
    config: Partial<Config> = {},
  ) {
    this.policy = policyOf('vms', { action: 'Request', ...policy });
    this.#given = given;
    this.#config = config;
    this.start();
  }

  /** Another leads, and begins anew. */
  start(): void {
    this.engine = createEngine({ mode: 'delete', ...this.#config });
    if (this.policy) this.tell({ kind: 'policyUpsert', policy: this.policy });
    this.showNode();
    for (const name of this.pods) this.show(name);
    this.tell({ kind: 'synced' });
  }

  showNode(): void {
    const taints = this.taint
      ? [{ key: 'gone', value: '', effect: 'NoExecute', timeAdded: 0 }]
      : [];
    this.tell({
      kind: 'nodeUpsert',
      node: makeNode({ name: 'n1', taints, conditions: readyIs('True') }),
    });
  }

  show(name: string, fields: Partial<PodInput> = {}): void {
    const pod = makePod({
      namespace: 'shop',
      name,
      uid: name,
      nodeName: 'n1',
      ...this.#given,
      ...fields,
    });
    this.tell({ kind: 'podUpsert', pod });
  }

  end(name: string): void {
    this.pods.delete(name);
    this.tell({ kind: 'podDelete', uid: name });
  }

  tell(event: Event): void {
    for (const command of this.engine.handle(this.now, event)) this.#carryOut(command);
  }

  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const wake = this.engine.nextWake();
      if (wake === null || wake > end) break;
      this.now = Math.max(this.now, wake);
      this.tell({ kind: 'tick' });
    }
    this.now = end;
  }

  /** Somebody answers all requests. */
  answer(heartbeatAt = this.now): void {
    const responder = { name: 'vm.io/mover', heartbeatAt, expectedAt: null, message: '' };
    this.requests = (this.requests ?? []).map((one) => ({ ...one, responder }));
  }

  state(name: string): string {
    const said = this.engine.explain(this.now, { kind: 'pod', namespace: 'shop', name });
    assert.ok(said?.kind === 'pod');
    return said.attempt?.kind === 'asked' ? said.attempt.hold : (said.attempt?.kind ?? 'none');
  }

  #carryOut(command: Command): void {
    if (command.kind === 'recordEvent') {
      if (!command.reason.startsWith('TaintManager'))
        this.log.push(`${command.reason} ${command.pod.name}`);
    }
    if (!('id' in command)) return;
    const outcome = this.#outcomeOf(command);
    this.tell({ kind: 'result', id: command.id, outcome });
    const isGone = command.kind === 'evictPod' || command.kind === 'deletePod';
    if (isGone && outcome.kind === 'done') this.end(command.pod.name);
  }

  #outcomeOf(command: Exclude<Command, { kind: 'report' }>): Outcome {
    if (command.kind === 'evictPod' || command.kind === 'deletePod') {
      this.log.push(`${command.kind} ${command.pod.name}`);
      return this.evictions;
    }
    if (command.kind === 'readEvictionRequests') {
      this.listed += 1;
      assert.deepEqual([command.drain, command.uid], ['', 'taint-eviction']);
      if (this.lists.kind === 'done') {
        const isServed = this.requests !== null;
        this.tell({ kind: 'evictionRequests', drain: '', isServed, requests: this.requests ?? [] });
      }
      return this.lists;
    }
    if (command.kind !== 'writeEvictionRequest') return { kind: 'done' };
    const { write } = command;
    if (write.kind === 'withdraw') {
      this.log.push(`withdraw ${write.name}`);
      this.requests = this.requests?.filter(({ name }) => name !== write.name) ?? null;
      return { kind: 'done' };
    }
    this.log.push(`request ${write.pod.name}`);
    if (this.creations.kind !== 'done') return this.creations;
    this.requests?.push({
      ...{ namespace: 'shop', name: `of-${write.pod.name}`, podUid: write.pod.uid },
      ...{ requester: 'taintmgr.dev/taint-eviction', intent: 'Eviction', drain: command.uid },
      ...{ failed: null, createdAt: this.now, responder: null },
    });
    return { kind: 'done' };
  }
}

const both = (what: string): string[] => names.map((name) => `${what} ${name}`);

describe('a policy with the action Request', () => {
  it('requests the eviction of each pod that is due, and leaves it to whoever answers', () => {
    const town = new Town();
    town.pass(10_000);
    town.answer();
    town.pass(10 * minute);
    assert.deepEqual(town.log, [...both('EvictionRequested'), ...both('request')]);
    assert.match(town.state('db'), /^its eviction is requested \(EvictionRequest\); by pods\/evic/);
    for (const name of names) town.end(name);
    town.pass(minute);
    assert.deepEqual(town.requests, []);
    const { listed } = town;
    town.pass(60 * minute);
    assert.equal(town.listed, listed, 'nothing is read while no pod is to go');
  });

  it('waits for the deadline, and asks nobody before', () => {
    const tolerations = [{ key: 'gone', operator: 'Exists', tolerationSeconds: 300 }];
    const town = new Town({}, { tolerations });
    town.pass(299_999);
    assert.deepEqual(town.log, []);
    town.pass(2_001);
    assert.deepEqual(town.log.slice(2), both('request'));
  });

  it('withdraws when the taint goes', () => {
    const town = new Town();
    town.pass(10_000);
    town.answer();
    town.taint = false;
    town.showNode();
    town.pass(10_000);
    assert.deepEqual(
      town.log.slice(4),
      both('withdraw of').map((line) => line.replace('of ', 'of-')),
    );
    assert.equal(town.state('db'), 'none');
  });

  it('withdraws where a pod comes to tolerate the taint, and of no other', () => {
    const town = new Town();
    town.pass(10_000);
    town.show('db', { tolerations: [{ operator: 'Exists' }] });
    town.pass(10_000);
    assert.deepEqual(town.log.slice(4), ['withdraw of-db']);
  });

  it('calls nothing off while a pod terminates', () => {
    const town = new Town();
    town.pass(10_000);
    for (const name of names) town.show(name, { deletionTimestamp: town.now });
    town.pass(10 * minute);
    assert.deepEqual(town.log.slice(4), []);
    for (const name of names) town.end(name);
    town.pass(minute);
    assert.deepEqual(town.requests, []);
  });

  it('evicts, and takes back, when the policy is gone', () => {
    const town = new Town();
    town.pass(10_000);
    town.policy = null;
    town.tell({ kind: 'policyDelete', name: 'vms' });
    town.pass(10_000);
    const deleted = town.log.filter((line) => line.startsWith('deletePod'));
    assert.deepEqual(deleted, both('deletePod'), 'as the process is set');
    assert.deepEqual(town.requests, []);
  });
});

describe('a policy with the action Request where nobody answers', () => {
  const evicted = (town: Town): readonly string[] =>
    town.log.filter((line) => line.startsWith('evictPod'));

  for (const [what, spoil, ms] of [
    ['where the cluster has no such API', (town) => (town.requests = null), 0],
    ['where it may not be read', (town) => (town.lists = denied), 0],
    ['where requests are refused', (town) => (town.creations = denied), 0],
    ['where lists fail for a minute', (town) => (town.lists = away), minute],
    ['where requests fail for a minute', (town) => (town.creations = away), minute],
    ['where nobody answers for a minute', () => {}, minute],
  ] as readonly (readonly [string, (town: Town) => unknown, number])[]) {
    it(`evicts by pods/eviction ${what}, and says so on the pod`, () => {
      const town = new Town();
      spoil(town);
      town.pass(Math.max(0, ms - 2_000));
      if (ms > 0) assert.deepEqual(evicted(town), []);
      town.pass(8_000);
      assert.deepEqual(evicted(town), both('evictPod'));
      const given = town.log.filter((line) => line.startsWith('EvictionRequestGivenUp'));
      assert.deepEqual(given, both('EvictionRequestGivenUp'));
    });
  }

  it('evicts after 20 minutes without a sign of life, and after an hour in any case', () => {
    const town = new Town();
    town.pass(10_000);
    town.answer();
    town.pass(20 * minute - 2_000);
    assert.deepEqual(evicted(town), []);
    town.pass(4_000);
    assert.deepEqual(evicted(town), both('evictPod'));
    const busy = new Town();
    for (let at = 0; at < 59; at++) {
      busy.pass(50_000);
      busy.answer();
      busy.pass(10_000);
    }
    assert.deepEqual(evicted(busy), []);
    busy.pass(2 * minute);
    assert.deepEqual(evicted(busy), both('evictPod'));
  });

  it('asks budgets for as long as it takes then, and requests nothing again', () => {
    const town = new Town();
    town.requests = null;
    town.evictions = refused;
    town.pass(10 * minute);
    assert.equal(town.log.includes('deletePod db'), false);
    assert.ok(evicted(town).length > 20);
    assert.equal(town.state('db'), 'blocked');
    assert.equal(town.listed, 1, 'and looks no more for an API that is not there');
  });

  it('counts over a change of leader from when the request was made', () => {
    const town = new Town();
    town.pass(50_000);
    town.start();
    town.pass(8_000);
    assert.deepEqual(evicted(town), []);
    town.pass(4_000);
    assert.deepEqual(evicted(town), both('evictPod'));
    assert.equal(town.log.filter((line) => line === 'request db').length, 1);
  });

  it('takes back after a change of leader what is not to go any more', () => {
    const town = new Town();
    town.pass(10_000);
    town.taint = false;
    town.start();
    town.pass(10_000);
    assert.deepEqual(town.requests, []);
  });

  it('leaves a pod alone that somebody else moves', () => {
    const town = new Town();
    const other = { namespace: 'shop', name: 'of-db', podUid: 'db', requester: 'acme.io/mover' };
    const asked = { intent: 'Eviction', drain: null, failed: null, createdAt: 0, responder: null };
    town.requests = [{ ...other, ...asked } as EvictionRequest];
    town.pass(30_000);
    assert.deepEqual(town.log.slice(1), ['request web']);
    assert.match(town.state('db'), /^another program is moving it: acme.io\/mover/);
    town.requests = [];
    town.pass(10_000);
    assert.ok(town.log.includes('request db'));
  });
});

describe('replicas of the controller under a policy with the action Request', () => {
  const labels = { 'pod-template-hash': '5d8f6' };
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d8f6' };
  const ready = { labels, owner, phase: 'Running', ready: 'True' } as const;
  const ownPod = { namespace: 'shop', name: 'db' };

  for (const [what, requests] of [
    ['one is asked to go', []],
    ['one is evicted where nobody can be asked', null],
  ] as const) {
    it(`${what}, and the last ready one stays`, () => {
      const town = new Town({}, ready, { ownPod });
      town.requests = requests && [...requests];
      town.pass(10_000);
      if (requests) town.answer();
      town.pass(5_000);
      const done = town.log.filter((line) => /^(request|evictPod) /.test(line));
      assert.deepEqual(done, [requests ? 'request web' : 'evictPod web']);
      assert.equal(town.state('db'), 'none');
    });
  }
});

describe('limits of a policy with the action Request', () => {
  const limits = [{ per: 'total', pods: 1, windowMs: 5 * minute, onLimit: 'queue' } as const];

  it('let one pod be asked to go, and the next when the window is over', () => {
    const town = new Town({ limits });
    town.pass(10_000);
    town.answer();
    town.pass(20_000);
    assert.deepEqual(town.log.slice(1), ['request db']);
    assert.equal(town.state('web'), 'queued');
    town.end('db');
    town.pass(4 * minute);
    assert.equal(town.log.includes('request web'), false);
    town.pass(2 * minute);
    assert.ok(town.log.includes('request web'));
  });

  it('give the place of a pod that is not to go any more to another', () => {
    const town = new Town({ limits });
    town.pass(10_000);
    town.show('db', { tolerations: [{ operator: 'Exists' }] });
    town.pass(10_000);
    assert.deepEqual(
      town.log.filter((line) => !line.startsWith('Event')),
      [
        'EvictionRequested db',
        'request db',
        'EvictionRequested web',
        'withdraw of-db',
        'request web',
      ],
    );
  });

  it('hold on a fallback too', () => {
    const town = new Town({ limits });
    town.requests = null;
    town.pass(minute);
    const evictions = town.log.filter((line) => line.startsWith('evictPod'));
    assert.deepEqual(evictions, ['evictPod db']);
  });
});

it('no policy with the action Request: nothing is read', () => {
  for (const action of ['Delete', 'Evict', 'Keep', null] as const) {
    const town = new Town({ action });
    town.pass(minute);
    assert.equal(town.listed, 0);
  }
});
