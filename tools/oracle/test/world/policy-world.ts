import { ApiServer } from '@taintmgr/api-server';
import {
  type Exchange,
  type Json,
  node,
  pod,
  seededRandom,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { Checkers } from '../../src/checkers.ts';
import { evictionDefaults } from '../../src/terms.ts';

// A cluster with policies and pauses, and a client that is judged by them.

const group = 'taintmgr.dev';
/** The kinds, by their plurals. */
const kinds = { evictionpolicies: 'EvictionPolicy', evictionpauses: 'EvictionPause' } as const;
const lists = {
  nodes: '/api/v1/nodes',
  pods: '/api/v1/pods',
  namespaces: '/api/v1/namespaces',
  policies: `/apis/${group}/v1alpha1/evictionpolicies`,
  pauses: `/apis/${group}/v1alpha1/evictionpauses`,
};

/** A cluster with a tainted node and two pods on it, and a client that has just read it. */
export class World {
  readonly clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly api = new ApiServer({ clock: this.clock, random: seededRandom(1) });
  readonly #checkers: Checkers;
  readonly #line: Exchange;

  /** `timeAdded`: what the taint says of itself. */
  constructor(timeAdded: string | null = null) {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open } } };
    for (const [plural, kind] of Object.entries(kinds)) {
      this.api.create('customresourcedefinitions', {
        metadata: { name: `${plural}.${group}` },
        spec: {
          ...{ group, scope: 'Cluster', names: { plural, kind } },
          versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
        },
      });
    }
    this.pass(1000);
    const terms = { ...evictionDefaults, clusterPolicies: true };
    this.#checkers = new Checkers(this.api, terms);
    const { apiHistory } = this.#checkers;
    this.#line = apiHistory.first.client(apiHistory.server(this.api.exchange));
    apiHistory.first.beginRun();
    for (const name of ['a', 'b']) {
      this.api.create(
        'pods',
        pod('default', name, { labels: { app: name }, spec: { nodeName: 'n' } }),
      );
    }
    this.pass(5000);
    this.api.create(
      'nodes',
      node('n', {
        spec: { taints: [{ key: 'bad', effect: 'NoExecute', ...(timeAdded && { timeAdded }) }] },
      }),
    );
    this.pass(5000);
  }

  pass(ms: number): void {
    this.clock.advanceTo(this.clock.now() + ms);
  }

  put(plural: keyof typeof kinds, name: string, spec: Json): void {
    this.api.create(`${plural}.${group}`, { metadata: { name }, spec });
  }

  delete(plural: keyof typeof kinds, name: string): void {
    this.api.delete(`${plural}.${group}`, '', name);
  }

  /** The client reads all there is; or what is named. */
  read(...names: readonly (keyof typeof lists)[]): void {
    const all = Object.keys(lists) as readonly (keyof typeof lists)[];
    for (const name of names.length > 0 ? names : all) this.#ask('GET', lists[name]);
  }

  /** The client dies and starts anew. */
  restart(): void {
    this.#checkers.apiHistory.first.beginRun();
  }

  evict(name: string): void {
    this.#ask('DELETE', `/api/v1/namespaces/default/pods/${name}`);
  }

  /** The client looks at pod and node first. */
  evictAfterLook(name: string): void {
    this.#ask('GET', `/api/v1/namespaces/default/pods/${name}`);
    this.#ask('GET', '/api/v1/nodes/n');
    this.evict(name);
  }

  /** The client writes down since when the taint counts. */
  keepStart(start: string): void {
    const starts = { taintsWrittenAt: '2026-01-01T00:00:06.000Z', 'bad:NoExecute': start };
    const annotations = { 'taintmgr.dev/taint-starts': JSON.stringify(starts) };
    this.#ask('PATCH', '/api/v1/nodes/n', { metadata: { annotations } });
  }

  /** A drain says on the node that it evicts for the taint, and is alive. */
  mark(heartbeat: string): void {
    const node = this.api.get('nodes', '', 'n');
    if (!node) throw new Error('there is no node');
    const { resourceVersion: _, ...metadata } = node.metadata;
    const mark = { id: 'd', taint: 'bad:NoExecute', by: 'somebody', heartbeat };
    const annotations = { 'taintmgr.dev/drain': JSON.stringify([mark]) };
    this.api.update('nodes', { ...node, metadata: { ...metadata, annotations } });
  }

  get found(): readonly string[] {
    return this.#checkers.violations.map(({ invariant }) => invariant);
  }

  #ask(method: string, path: string, patch?: object): void {
    const nothing = (): void => {};
    const sink = { head: nothing, data: nothing, end: nothing, reset: nothing };
    const headers = patch && { 'content-type': 'application/merge-patch+json' };
    const body = patch ? JSON.stringify(patch) : null;
    this.#line({ method, path, headers: { ...headers }, body }, sink);
  }
}
