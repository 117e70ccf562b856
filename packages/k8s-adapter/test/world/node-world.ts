import assert from 'node:assert/strict';
import { ServedCluster } from '@taintmgr/api-server';
import { type Config, createEngine, type Engine } from '@taintmgr/core';
import { LifecycleCheckers, type LifecycleTerms, lifecycleDefaults } from '@taintmgr/oracle';
import { type KubeObject, namespace, pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { Loop, type Notice } from '../../src/controller/engine-loop.ts';
import { type Exchange, VirtualDriver } from '../../src/driver/virtual.ts';

/** A write that the API server accepted, in seconds after the beginning. */
export interface Write {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly body: KubeObject;
}

export interface NodeWorldOptions {
  /** How many nodes each zone has. */
  readonly zones: Readonly<Record<string, number>>;
  readonly engine?: Partial<Config>;
  readonly terms?: Partial<LifecycleTerms>;
}

const start = Date.parse('2026-01-01T00:00:00Z');

/**
 * A simulated cluster whose nodes nobody watches over but our controller, on a clock that jumps, and
 * a judge who knows nothing of it.
 */
export class NodeWorld {
  readonly cluster: ServedCluster;
  readonly engine: Engine;
  readonly checkers: LifecycleCheckers;
  readonly writes: Write[] = [];
  readonly notices: Notice[] = [];
  readonly #clock = new VirtualClock(start);
  readonly #driver: VirtualDriver;

  constructor({ zones, engine = {}, terms = {} }: NodeWorldOptions) {
    const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };
    this.cluster = new ServedCluster({
      clock: this.#clock,
      seed: 5,
      topology: none,
      without: ['conditionTaints', 'scheduler', 'workloads'],
    });
    this.checkers = new LifecycleCheckers(this.cluster.api, { ...lifecycleDefaults, ...terms });
    const { apiHistory } = this.checkers;
    this.engine = createEngine({ lifecycle: {}, ...engine });
    const { enforcement } = { enforcement: 'taints', ...engine.lifecycle };
    const loop = new Loop({
      machine: this.engine,
      random: seededRandom(4),
      leases: true,
      daemonSets: enforcement === 'pods',
    });
    this.#driver = new VirtualDriver({
      loop,
      exchange: this.#noted(apiHistory.first.client(apiHistory.server(this.cluster.exchange))),
      clock: this.#clock,
      onNotice: (notice) => this.notices.push(notice),
    });
    for (const [zone, count] of Object.entries(zones)) {
      for (let number = 1; number <= count; number++) {
        this.cluster.addNode({ name: `${zone}-${number}`, region: 'r', zone });
      }
    }
    this.cluster.start();
    apiHistory.first.beginRun();
    this.#driver.feed({ kind: 'start' });
  }

  get seconds(): number {
    return (this.#clock.now() - start) / 1000;
  }

  /** Runs to that second of the story. */
  runTo(second: number): void {
    this.#driver.runUntil(start + second * 1000);
  }

  /** Stops the kubelets of nodes, or of the first so many of a zone. */
  stop(...names: readonly string[]): void {
    for (const name of names) this.cluster.node(name).stop();
  }

  resume(...names: readonly string[]): void {
    for (const name of names) this.cluster.node(name).resume();
  }

  addPod(
    nodeName: string,
    name: string,
    tolerations: readonly object[] = [],
    labels: Readonly<Record<string, string>> = { app: name },
    terminationGracePeriodSeconds = 30,
  ): void {
    const { api } = this.cluster;
    if (!api.get('namespaces', '', 'shop')) api.create('namespaces', namespace('shop'));
    const object = pod('shop', name, { labels });
    const spec = { ...object.spec, nodeName, tolerations, terminationGracePeriodSeconds };
    api.create('pods', { ...object, spec });
  }

  node(name: string): KubeObject {
    return this.cluster.api.get('nodes', '', name) ?? assert.fail(`no node ${name}`);
  }

  pod(name: string): KubeObject {
    return this.cluster.api.get('pods', 'shop', name) ?? assert.fail(`no pod ${name}`);
  }

  taints(name: string): readonly string[] {
    const taints: readonly { key: string; effect: string }[] = this.node(name).spec.taints ?? [];
    return taints.map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`);
  }

  /** When NoExecute taints were put on nodes of a zone, in seconds, in order. */
  taintings(zone: string): readonly number[] {
    const seen = new Map<string, boolean>();
    return this.writes.flatMap(({ at, method, path, body }) => {
      const [, name = ''] = /^\/api\/v1\/nodes\/([^/]+)$/.exec(path) ?? [];
      if (method !== 'PATCH' || !name.startsWith(`${zone}-`) || !('spec' in body)) return [];
      const taints: readonly { effect: string }[] = body.spec.taints ?? [];
      const isTainted = taints.some(({ effect }) => effect === 'NoExecute');
      const isNew = isTainted && !seen.get(name);
      seen.set(name, isTainted);
      return isNew ? [at] : [];
    });
  }

  /** Fails with what the judge found; nothing may have gone wrong since that second. */
  judge(calmSinceSecond: number): void {
    this.checkers.atRest(start + calmSinceSecond * 1000);
    this.checkers.atEnd();
    assert.deepEqual(this.checkers.violations, []);
  }

  #noted(exchange: Exchange): Exchange {
    return (request, sink) => {
      const { method, path, body } = request;
      if (method === 'GET') return exchange(request, sink);
      const write = { method, path, body: JSON.parse(body ?? '{}') };
      const head: typeof sink.head = (status, headers) => {
        if (status < 300) this.writes.push({ at: this.seconds, ...write });
        sink.head(status, headers);
      };
      return exchange(request, { ...sink, head });
    };
  }
}
