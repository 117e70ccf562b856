import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import {
  type Exchange,
  type Json,
  type KubeObject,
  node,
  pod,
  seededRandom,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { NodeDrainCheckers } from '../src/node-drains.ts';

const group = 'taintmgr.dev';
const drains = `nodedrains.${group}`;
const taint = { key: 'work', effect: 'NoSchedule' };
const wave = (name: string, node: string): Json => {
  const values = [node];
  const expression = { key: 'kubernetes.io/hostname', operator: 'In', values };
  return { name, nodeSelector: { matchExpressions: [expression] } };
};
const spec = {
  ...{ nodes: ['a', 'b'], taint, waves: [wave('first', 'a'), wave('second', 'b')] },
};
const owner = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'web',
  uid: '1',
  controller: true,
};

/** Two nodes that are drained one after the other, and a client that does it by hand. */
class World {
  readonly #clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly #api = new ApiServer({ clock: this.#clock, random: seededRandom(1) });
  readonly #checkers: NodeDrainCheckers;
  readonly #line: Exchange;
  /** What is sent arrives so much later. */
  lateMs = 0;

  constructor() {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const properties = { spec: open, status: open };
    const schema = { openAPIV3Schema: { type: 'object', properties } };
    this.#api.create('customresourcedefinitions', {
      metadata: { name: drains },
      spec: {
        ...{ group, scope: 'Cluster', names: { plural: 'nodedrains', kind: 'NodeDrain' } },
        versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
      },
    });
    this.pass(1000);
    this.#checkers = new NodeDrainCheckers(this.#api);
    const { apiHistory } = this.#checkers;
    const server = apiHistory.server(this.#api.exchange);
    this.#line = apiHistory.first.client((request, sink) => {
      if (this.lateMs === 0) return server(request, sink);
      this.#clock.after(this.lateMs, () => void server(request, sink));
      return () => {};
    });
    apiHistory.first.beginRun();
    for (const name of ['a', 'b']) this.#api.create('nodes', node(name));
    const { metadata, ...web } = pod('default', 'web', { spec: { nodeName: 'a' } });
    this.#api.create('pods', { ...web, metadata: { ...metadata, ownerReferences: [owner] } });
    this.pass(300_000);
    this.#api.create(drains, { metadata: { name: 'd' }, spec });
    this.pass(5000);
  }

  pass(ms: number): void {
    this.#clock.advanceTo(this.#clock.now() + ms);
  }

  /** The client taints the node, and shows that it is at work there. */
  taint(name: string): void {
    const heartbeat = new Date(this.#clock.now()).toISOString();
    this.#write(name, true, [{ id: 'd', taint: 'work:NoSchedule', heartbeat }]);
  }

  /** The client takes back what it has set. */
  untaint(name: string): void {
    this.#write(name, false, []);
  }

  /** The status says so of that node. */
  says(name: string, phase: string): void {
    const drain = this.#get(drains, '', 'd');
    this.#api.update(drains, { ...drain, status: { nodeStates: [{ name, phase }] } });
  }

  /** The drain goes on after that time in which its window was open; at its end all is to be over. */
  rest(ms: number): void {
    const drain = this.#get(drains, '', 'd');
    const window = { schedule: '*/8 * * * *', timeZone: 'Etc/UTC', duration: '2m' };
    const startedAt = new Date(this.#clock.now()).toISOString();
    const nodeStates = [{ name: 'a', phase: 'Draining' }];
    const spec = { ...drain.spec, windows: [window] };
    // This very change makes another generation.
    const observedGeneration = (drain.metadata.generation ?? 0) + 1;
    const counts = { nodesDrained: 0, nodeStates, observedGeneration };
    const status = { phase: 'Running', startedAt, ...counts };
    this.#api.update(drains, { ...drain, spec, status });
    this.pass(ms);
    this.#checkers.atRest();
  }

  evict(): void {
    const { uid } = this.#get('pods', 'default', 'web').metadata;
    const deleteOptions = { preconditions: { uid } };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web' } };
    this.#ask('POST', '/api/v1/namespaces/default/pods/web/eviction', {
      ...eviction,
      deleteOptions,
    });
  }

  /** Each once: an eviction marks the pod, and then deletes it. */
  get found(): readonly string[] {
    return [...new Set(this.#checkers.violations.map(({ invariant }) => invariant))];
  }

  #write(name: string, isTainted: boolean, marks: readonly object[]): void {
    const old: readonly { readonly key: string }[] = this.#get('nodes', '', name).spec.taints ?? [];
    const others = old.filter(({ key }) => key !== taint.key);
    const taints = isTainted ? [...others, taint] : others;
    const annotations = { 'taintmgr.dev/drain': JSON.stringify(marks) };
    const change = { metadata: { annotations }, spec: { taints } };
    this.#ask('PATCH', `/api/v1/nodes/${name}`, change);
  }

  #get(resource: string, namespace: string, name: string): KubeObject {
    const object = this.#api.get(resource, namespace, name);
    assert.ok(object);
    return object;
  }

  #ask(method: string, path: string, body: object): void {
    const nothing = (): void => {};
    const sink = { head: nothing, data: nothing, end: nothing, reset: nothing };
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { 'content-type': type };
    this.#line({ method, path, headers, body: JSON.stringify(body) }, sink);
  }
}

const waves = 'keeps to its waves';
const atWork = 'evicts where it shows that it is at work';

const cases: readonly (readonly [
  name: string,
  play: (world: World) => void,
  found: readonly string[],
])[] = [
  ['a wave that begins before another', (world) => world.taint('b'), [waves]],
  [
    'no wave that begins after another',
    (world) => {
      world.taint('a');
      world.taint('b');
    },
    [],
  ],
  [
    'no wave after a node that was drained, though its mark was taken back',
    (world) => {
      world.taint('a');
      world.says('a', 'Drained');
      world.untaint('a');
      world.taint('b');
    },
    [],
  ],
  [
    'a wave after a node that was taken back and is not drained',
    (world) => {
      world.taint('a');
      world.says('a', 'Pending');
      world.untaint('a');
      world.taint('b');
    },
    [waves],
  ],
  [
    'a wave after a node that is said to be drained and never was begun with',
    (world) => {
      world.says('a', 'Drained');
      world.taint('b');
    },
    [waves],
  ],
  [
    'a pod that leaves a node where no drain shows that it is at work',
    (world) => world.evict(),
    [atWork],
  ],
  [
    'a pod that leaves a minute after the last sign of life',
    (world) => {
      world.taint('a');
      world.pass(60_000);
      world.evict();
    },
    [atWork],
  ],
  [
    'no pod whose eviction was sent in time and comes late',
    (world) => {
      world.taint('a');
      world.pass(12_000);
      world.lateMs = 75_000;
      world.evict();
      world.pass(80_000);
    },
    [],
  ],
  [
    'a pod whose eviction was sent before the sign of life',
    (world) => {
      world.lateMs = 75_000;
      world.evict();
      world.lateMs = 0;
      world.pass(50_000);
      world.taint('a');
      world.pass(30_000);
    },
    [atWork],
  ],
  ['no drain whose window has just opened', (world) => world.rest(37_000), []],
  ['a drain that goes on for long', (world) => world.rest(121_000), ['comes to an end']],
];

describe('the checkers of NodeDrains find', () => {
  for (const [name, play, found] of cases) {
    it(name, () => {
      const world = new World();
      play(world);
      assert.deepEqual(world.found, found);
    });
  }
});
