import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { type ShadowReport, ShadowScore } from '@taintmgr/core/shadow';
import { type PolicyObject, readManifest } from '@taintmgr/k8s-adapter/kinds';
import {
  namespace,
  pod,
  seededRandom,
  taint,
  toleration,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { Loop } from '../../src/controller/engine-loop.ts';
import { type Exchange, VirtualDriver } from '../../src/driver/virtual.ts';
import { KubeControllerManager } from '../seeds/kube-controller-manager.ts';

// kube-controller-manager in a simulated cluster, and our controller in a dry run beside it.

/** Nothing happens at the beginning of a second: times are kept in whole ones. */
const startsAt = Date.UTC(2026, 0, 2, 3, 4, 5, 300);
const namespaces = ['shop', 'batch', 'db'];

const policies: readonly PolicyObject[] = [
  policy('batch', {
    match: { namespaces: ['batch'] },
    action: 'Delete',
    defaultTolerationSeconds: 60,
  }),
  policy('databases', { match: { namespaces: ['db'] }, action: 'Keep' }),
  policy('api', { match: { podSelector: { matchLabels: { app: 'api' } } }, action: 'Evict' }),
  policy('patient', { match: { taints: [{ key: 'flap' }] }, action: 'Delete', minTaintAge: '30s' }),
];

function policy(name: string, spec: object): PolicyObject {
  const head = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy', metadata: { name } };
  const read = readManifest({ ...head, spec }, 0);
  assert.ok(read.kind === 'allowed', JSON.stringify(read));
  return read.value;
}

class World {
  readonly #clock = new VirtualClock(startsAt);
  readonly #cluster: ServedCluster;
  readonly #score: ShadowScore;
  readonly #driver: VirtualDriver;
  readonly manager: KubeControllerManager;

  constructor() {
    const clock = this.#clock;
    const topology = { region: 'r', zones: ['z'], nodesPerZone: 4, workloads: [], budgets: [] };
    const without = ['conditionTaints', 'workloads', 'garbageCollection'] as const;
    const timing = { startupMs: [50, 100] } as const;
    this.#cluster = new ServedCluster({ clock, seed: 1, topology, without, timing });
    this.manager = new KubeControllerManager({
      ...{ clock, random: seededRandom(7), exchange: this.#cluster.exchange },
      onNotice: () => {},
    });
    const engine = createEngine({ keepTaintStarts: false, confirmationWaitMs: 24 * 3_600_000 });
    this.#score = new ShadowScore(engine, {
      mode: 'delete',
      explain: (now, subject) => engine.explain(now, subject),
    });
    const loop = new Loop({ machine: this.#score, random: seededRandom(3), policies });
    const exchange = this.#exchange;
    this.#driver = new VirtualDriver({ loop, exchange, clock, onNotice: () => {} });
    this.#cluster.start();
    for (const name of namespaces) this.#cluster.api.create('namespaces', namespace(name));
    this.manager.start(0);
    this.#driver.feed({ kind: 'start' });
  }

  /** What is read is read; what would change something is accepted, and nobody hears of it. */
  readonly #exchange: Exchange = (request, sink) => {
    if (request.method === 'GET') return this.#cluster.exchange(request, sink);
    const timer = this.#clock.after(1, () => {
      sink.head(200, { 'content-type': 'application/json' });
      sink.data('{}');
      sink.end();
    });
    return () => timer.cancel();
  };

  until(second: number): void {
    const end = startsAt + second * 1000;
    for (let next = this.#clock.now(); next < end; ) {
      const wakes = [this.#driver, this.manager, this.#clock].flatMap(
        (one) => one.nextWake() ?? [],
      );
      next = Math.min(end, Math.max(next, Math.min(...wakes)));
      this.#driver.runUntil(next);
      this.manager.runUntil(next);
    }
  }

  place(
    name: string,
    nodeName: string,
    more: object = {},
    labels: Readonly<Record<string, string>> = {},
  ): void {
    const [ns = '', own = ''] = name.split('/');
    const one = pod(ns, own, { spec: { nodeName, ...more } });
    this.#cluster.api.create('pods', { ...one, metadata: { ...one.metadata, labels } });
  }

  /** As kubectl taint does it: it writes no timeAdded. */
  taint(name: string, ...texts: readonly string[]): void {
    const api = this.#cluster.api.as('kubectl-taint');
    const known = api.get('nodes', '', name);
    assert.ok(known, `there is a node ${name}`);
    api.update('nodes', { ...known, spec: { ...known.spec, taints: texts.map(taint) } });
  }

  report(): ShadowReport {
    return this.#score.report();
  }
}

/**
 * By hand, in seconds:
 *
 * | pod | kube-controller-manager | taintmgr | verdict |
 * |---|---|---|---|
 * | shop/web | 10, at once | 10, at once | same |
 * | shop/api | 10, at once | 10, by policy api, which evicts: budgets are asked | same |
 * | shop/slow | 40, as it tolerates the taint for 30 s | 40, both have seen the taint come | same |
 * | batch/job | 10, at once | 70: by policy batch it is given 60 s | later by 60 |
 * | db/pg | 10, at once | never, by policy databases | kept |
 * | shop/flap | 20, at once | never: policy patient waits 30 s, the taint is gone at 23 | kept |
 * | shop/late | 55: it was not running before | 51, at once | earlier by 4 |
 * | shop/stuck | never: it was not running from 60 to 64 | 61, at once; the taint is gone at 63 | onlyTaintmgr |
 *
 * So 3 same, 1 earlier, 1 later, 2 kept, 1 onlyTaintmgr, and budgets would have been asked about one.
 */
it('the shadow says what each would have done', () => {
  const world = new World();
  const tolerations = [toleration('spot:NoExecute', 30)];
  world.until(5);
  world.place('shop/web', 'z-1');
  world.place('shop/api', 'z-1', {}, { app: 'api' });
  world.place('shop/slow', 'z-1', { tolerations });
  world.place('batch/job', 'z-1');
  world.place('db/pg', 'z-1');
  world.place('shop/flap', 'z-2');
  world.place('shop/late', 'z-3');
  world.place('shop/stuck', 'z-4');
  world.until(10);
  world.taint('z-1', 'spot:NoExecute');
  world.until(20);
  world.taint('z-2', 'flap:NoExecute');
  world.until(23);
  world.taint('z-2');
  world.until(50);
  world.manager.crash();
  world.until(51);
  world.taint('z-3', 'spot:NoExecute');
  world.until(55);
  world.manager.start(0);
  world.until(60);
  world.manager.crash();
  world.until(61);
  world.taint('z-4', 'spot:NoExecute');
  world.until(63);
  world.taint('z-4');
  world.until(64);
  world.manager.start(0);
  world.until(61 + 15 * 60 - 1);
  assert.deepEqual(world.report().counts.onlyTaintmgr, 0);
  world.until(61 + 15 * 60 + 1);
  const { counts, following, recent, policies: byPolicy, namespaces: byNamespace } = world.report();
  const verdicts = { same: 3, earlier: 1, later: 1, kept: 2, onlyTaintmgr: 1 };
  assert.deepEqual(counts, { ...verdicts, budgetsAsked: 1 });
  assert.equal(following, 0);
  const said = recent.map(({ pod: { name }, verdict, byMs, reason, policy: by }) => {
    return [name, verdict, byMs === null ? null : Math.round(byMs / 1000), reason, by];
  });
  assert.deepEqual(said.toSorted(), [
    ['api', 'same', 0, null, 'api'],
    ['flap', 'kept', null, 'NoTaint', 'patient'],
    ['job', 'later', 60, 'TolerationExpires', 'batch'],
    ['late', 'earlier', -4, null, ''],
    ['pg', 'kept', null, 'KeptByPolicy', 'databases'],
    ['slow', 'same', 0, null, ''],
    ['stuck', 'onlyTaintmgr', null, null, ''],
    ['web', 'same', 0, null, ''],
  ]);
  const rowsOf = (rows: ShadowReport['policies']): readonly unknown[] =>
    rows.map(({ name, same, earlier, later, kept, onlyTaintmgr }) => {
      return [name, same, earlier, later, kept, onlyTaintmgr];
    });
  assert.deepEqual(rowsOf(byPolicy), [
    ['(none)', 2, 1, 0, 0, 1],
    ['api', 1, 0, 0, 0, 0],
    ['batch', 0, 0, 1, 0, 0],
    ['databases', 0, 0, 0, 1, 0],
    ['patient', 0, 0, 0, 1, 0],
  ]);
  assert.deepEqual(rowsOf(byNamespace), [
    ['shop', 3, 1, 0, 1, 1],
    ['batch', 0, 0, 1, 0, 0],
    ['db', 0, 0, 0, 1, 0],
  ]);
});
