import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { SortedKeys } from '../../src/store/collection.ts';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';
import { fc } from '../world/fast-check.ts';

const namespaces = ['a', 'a-b', 'default'] as const;

type Write = {
  readonly kind: 'create' | 'label' | 'phase' | 'remove';
  readonly at: number;
  readonly value: number;
};

const writes = fc.array(
  fc.record<Write>({
    kind: fc.constantFrom('create', 'create', 'label', 'phase', 'remove'),
    at: fc.nat({ max: 11 }),
    value: fc.nat({ max: 3 }),
  }),
  { maxLength: 60 },
);

/** An API server with the namespaces of these tests. */
function prepared(historyLength = 10_000) {
  const it = fixture({ historyLength });
  for (const name of namespaces) {
    if (name !== 'default') it.api.create('namespaces', { metadata: { name } });
  }
  return it;
}

/** Carries out one write, if it can be. */
function perform({ api, client }: ReturnType<typeof prepared>, { kind, at, value }: Write): void {
  const namespace = namespaces[at % namespaces.length] as string;
  const name = `p${Math.floor(at / namespaces.length)}`;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  if (kind === 'create') {
    const exists = api.get('pods', namespace, name) !== null;
    if (!exists) api.create('pods', podNamed(name, { nodeName: `n${value}` }, { namespace }));
  } else if (kind === 'label') client.patch(path, { metadata: { labels: { v: String(value) } } });
  else if (kind === 'phase') {
    client.patch(`${path}/status`, { status: { phase: ['Pending', 'Running'][value % 2] } });
  } else client.delete(path, { query: { gracePeriodSeconds: 0 } });
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

/** What a client that applies every event holds. */
function replay(
  start: readonly KubeObject[],
  events: readonly { readonly type: string; readonly object: KubeObject }[],
): readonly KubeObject[] {
  const held = new Map(start.map((object) => [keyOf(object), object]));
  for (const { type, object } of events) {
    if (type === 'DELETED') held.delete(keyOf(object));
    else if (type !== 'BOOKMARK') held.set(keyOf(object), object);
  }
  return [...held.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const selectors = [
  {},
  { labelSelector: 'v in (1,2)' },
  { labelSelector: 'v!=1' },
  { fieldSelector: 'spec.nodeName=n1' },
  { fieldSelector: 'status.phase!=Running' },
] as const;

describe('the store', () => {
  it('tells watchers what a list shows, whatever is written and whatever is selected', () => {
    fc.assert(
      fc.property(writes, writes, (before, after) => {
        const cluster = prepared();
        for (const write of before) perform(cluster, write);
        const { client } = cluster;
        const views = selectors.map((query) => {
          const list = client.get('/api/v1/pods', { query }).body;
          const resourceVersion = list.metadata.resourceVersion ?? '';
          return {
            query,
            list,
            watch: client.watch('/api/v1/pods', { query: { ...query, resourceVersion } }),
          };
        });
        for (const write of after) perform(cluster, write);
        for (const { query, list, watch } of views) {
          const versions = watch.events.map(({ object }) =>
            Number(object.metadata.resourceVersion),
          );
          assert.ok(versions.every((rv, at) => at === 0 || rv > (versions[at - 1] as number)));
          const held = replay(list.items, watch.events);
          const now: readonly KubeObject[] = client.get('/api/v1/pods', { query }).body.items;
          const bare = ({ kind: _kind, apiVersion: _version, ...rest }: KubeObject) => rest;
          const sorted = [...now].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
          assert.deepEqual(held.map(bare), sorted);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('pages through one snapshot, whatever is written between the pages', () => {
    fc.assert(
      fc.property(writes, writes, fc.integer({ min: 1, max: 5 }), (before, between, limit) => {
        const cluster = prepared();
        for (const write of before) perform(cluster, write);
        const { client } = cluster;
        const whole = client.get('/api/v1/pods').body;
        const paged: KubeObject[] = [];
        let token = '';
        let remaining = whole.items.length;
        const pending = [...between];
        do {
          const page = client.get('/api/v1/pods', { query: { limit, continue: token } }).body;
          const metadata: {
            continue?: string;
            remainingItemCount?: number;
            resourceVersion?: string;
          } = page.metadata;
          assert.equal(metadata.resourceVersion, whole.metadata.resourceVersion);
          paged.push(...page.items);
          remaining -= page.items.length;
          assert.equal(metadata.remainingItemCount ?? 0, remaining);
          token = metadata.continue ?? '';
          for (const write of pending.splice(0, 7)) perform(cluster, write);
        } while (token !== '');
        assert.deepEqual(paged, whole.items);
      }),
      { numRuns: 40 },
    );
  });

  it('keeps its keys in byte order', () => {
    const words = fc.array(fc.tuple(fc.boolean(), fc.stringMatching(/^[a-c]{1,2}(-[a-c])?$/)));
    fc.assert(
      fc.property(words, fc.string(), fc.string(), (steps, from, to) => {
        const keys = new SortedKeys();
        const model = new Set<string>();
        for (const [add, key] of steps) {
          if (add) keys.add(key);
          else keys.delete(key);
          if (add) model.add(key);
          else model.delete(key);
        }
        const inRange = [...model].filter((key) => key >= from && key < to).sort();
        assert.deepEqual([...keys.range(from, to)], inRange);
        assert.equal(keys.count(from, to), inRange.length);
        assert.deepEqual([...keys.range('', '\uffff')], [...model].sort());
      }),
    );
  });

  it('keeps many keys in order, too many for one chunk', () => {
    const keys = new SortedKeys();
    const all = Array.from({ length: 5000 }, (_, index) =>
      `k${(index * 7919) % 5000}`.padEnd(6, '_'),
    );
    for (const key of all) keys.add(key);
    assert.deepEqual([...keys.range('', '\uffff')], [...all].sort());
    for (const key of all.slice(0, 4990)) keys.delete(key);
    assert.deepEqual([...keys.range('', '\uffff')], all.slice(4990).sort());
  });
});

describe('who hears of changes', () => {
  it('hears nothing more once he has left, though the change has been made already', () => {
    const { api } = fixture();
    const heard: string[] = [];
    api.subscribe(() => leave());
    const leave = api.subscribe(({ object }) => heard.push(object.metadata.name));
    api.create('pods', podNamed('a'));
    assert.deepEqual(heard, []);
  });
});

it('a compaction forgets also where nothing has changed for a while', () => {
  const { api, client } = fixture();
  client.post(pods, podNamed('a'));
  client.post('/api/v1/nodes', { metadata: { name: 'n-1' } });
  const { resourceVersion = '' } = client.get(pods).body.metadata;
  client.post('/api/v1/nodes', { metadata: { name: 'n-2' } });
  api.compact();
  const watch = client.watch(pods, { query: { resourceVersion } });
  assert.deepEqual(
    watch.events.map(({ type, object }) => [type, object.code]),
    [['ERROR', 410]],
  );
});

it('a list of one namespace has nothing of another whose name begins alike', () => {
  const cluster = prepared();
  for (const namespace of namespaces) {
    cluster.api.create('pods', podNamed('p', {}, { namespace }));
  }
  for (const namespace of namespaces) {
    const { items } = cluster.client.get(`/api/v1/namespaces/${namespace}/pods`).body;
    assert.deepEqual(items.map(keyOf), [`${namespace}/p`]);
  }
});
