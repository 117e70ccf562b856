import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../../src/builders.ts';
import { Watch } from '../../src/handlers/watch.ts';
import { VirtualClock } from '../../src/kernel/clock.ts';
import { PodDice } from '../../src/kernel/pod-dice.ts';
import { seededRandom } from '../../src/kernel/prng.ts';
import { storedResource } from '../../src/resources/resources.ts';
import { ServedResources } from '../../src/resources/served.ts';
import { Store } from '../../src/store/store.ts';
import { readListOptions } from '../../src/wire/list-options.ts';
import { fixture, nodes, podNamed, pods, start, summary } from '../world/api-fixture.ts';
import { strategic } from '../world/client.ts';

const initialEnd = { 'k8s.io/initial-events-end': 'true' };

const rvOf = (object: { readonly metadata: { readonly resourceVersion?: string } }): number =>
  Number(object.metadata.resourceVersion);

describe('a watch', () => {
  it('from a list tells what came after it, in order and with rising versions', () => {
    const { api, client } = fixture();
    api.create('pods', podNamed('old'));
    const { resourceVersion = '' } = client.get(pods).body.metadata;
    const watch = client.watch(pods, { query: { resourceVersion } });
    client.post(pods, podNamed('a'));
    client.patch(`${pods}/a`, { metadata: { labels: { x: '1' } } });
    client.patch(`${pods}/a`, { metadata: { labels: { x: '1' } } });
    client.delete(`${pods}/a`);
    assert.deepEqual(summary(watch.events), ['ADDED a', 'MODIFIED a', 'MODIFIED a', 'DELETED a']);
    const versions = watch.events.map(({ object }) => rvOf(object));
    assert.deepEqual(
      versions,
      [...new Set(versions)].sort((a, b) => a - b),
    );
    assert.equal(watch.events[2]?.object.metadata.deletionGracePeriodSeconds, 0);
    assert.ok(
      watch.events.every(({ object }) => object.kind === 'Pod' && object.apiVersion === 'v1'),
    );
  });

  it('sends its head before any event', () => {
    const { client } = fixture();
    const watch = client.watch(nodes, {
      query: { resourceVersion: client.get(nodes).body.metadata.resourceVersion ?? '' },
    });
    assert.equal(watch.response().status, 200);
    assert.equal(watch.response().headers['content-type'], 'application/json');
    assert.equal(watch.response().text, '');
  });

  for (const [name, query, ends] of [
    ['no version', {}, false],
    ['version 0', { resourceVersion: '0' }, false],
    ['version 0 and bookmarks', { resourceVersion: '0', allowWatchBookmarks: 'true' }, true],
    [
      'initial events',
      {
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: 'true',
      },
      true,
    ],
    [
      'initial events without bookmarks',
      { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' },
      false,
    ],
  ] as const) {
    it(`with ${name} begins with what exists, in key order`, () => {
      const { client } = fixture();
      client.post(pods, podNamed('b'));
      client.post(pods, podNamed('a'));
      const watch = client.watch(pods, { query });
      const end = ends ? ['BOOKMARK'] : [];
      assert.deepEqual(summary(watch.events), ['ADDED a', 'ADDED b', ...end]);
      if (ends) assert.deepEqual(watch.events[2]?.object.metadata.annotations, initialEnd);
      client.post(pods, podNamed('c'));
      assert.equal(summary(watch.events).at(-1), 'ADDED c');
    });
  }

  it('without initial events starts now', () => {
    const { client } = fixture();
    client.post(pods, podNamed('a'));
    const query = {
      sendInitialEvents: 'false',
      resourceVersionMatch: 'NotOlderThan',
      resourceVersion: '0',
    };
    const watch = client.watch(pods, { query });
    client.post(pods, podNamed('b'));
    assert.deepEqual(summary(watch.events), ['ADDED b']);
  });

  it('resumes at any event without loss or repeat', () => {
    const { client } = fixture();
    const first = client.watch(pods);
    for (const name of ['a', 'b', 'c']) client.post(pods, podNamed(name));
    first.stop();
    client.post(pods, podNamed('d'));
    const resourceVersion = first.events[1]?.object.metadata.resourceVersion ?? '';
    const second = client.watch(pods, { query: { resourceVersion } });
    assert.deepEqual(summary(first.events), ['ADDED a', 'ADDED b', 'ADDED c']);
    assert.deepEqual(summary(second.events), ['ADDED c', 'ADDED d']);
  });

  it('with a selector shows objects entering and leaving, the last matching state under the new version', () => {
    const { api, client } = fixture();
    api.create('pods', podNamed('t'));
    const resourceVersion = client.get(pods).body.metadata.resourceVersion ?? '';
    const watch = (query: Record<string, string>) =>
      client.watch(pods, { query: { resourceVersion, ...query } });
    const onNode = watch({ fieldSelector: 'spec.nodeName=n1' });
    const unbound = watch({ fieldSelector: 'spec.nodeName=' });
    const pending = watch({ fieldSelector: 'status.phase=Pending' });
    const databases = watch({ labelSelector: 'role=db' });
    api.bind('default', 't', 'n1');
    client.patch(`${pods}/t`, { metadata: { labels: { role: 'db' } } });
    client.patch(`${pods}/t/status`, { status: { phase: 'Running' } }, strategic);
    client.patch(`${pods}/t`, { metadata: { labels: { role: 'web' } } });
    assert.deepEqual(summary(onNode.events), ['ADDED t', 'MODIFIED t', 'MODIFIED t', 'MODIFIED t']);
    assert.deepEqual(summary(unbound.events), ['DELETED t']);
    assert.equal(unbound.events[0]?.object.spec.nodeName, undefined);
    assert.equal(rvOf(unbound.events[0]!.object), rvOf(onNode.events[0]!.object));
    assert.deepEqual(summary(pending.events), ['MODIFIED t', 'MODIFIED t', 'DELETED t']);
    assert.equal(pending.events[2]?.object.status.phase, 'Pending');
    assert.deepEqual(summary(databases.events), ['ADDED t', 'MODIFIED t', 'DELETED t']);
    assert.deepEqual(databases.events[2]?.object.metadata.labels, { role: 'db' });
  });

  it('of one namespace or one name hears of nothing else, by the old prefix too', () => {
    const { api, client } = fixture();
    api.create('namespaces', { metadata: { name: 'other' } });
    const inDefault = client.watch(pods);
    const named = client.watch('/api/v1/pods', { query: { fieldSelector: 'metadata.name=b' } });
    const old = client.watch('/api/v1/watch/namespaces/default/pods/b');
    for (const name of ['a', 'b']) client.post(pods, podNamed(name));
    client.post('/api/v1/namespaces/other/pods', podNamed('c'));
    assert.deepEqual(summary(inDefault.events), ['ADDED a', 'ADDED b']);
    assert.deepEqual(summary(named.events), ['ADDED b']);
    assert.deepEqual(summary(old.events), ['ADDED b']);
  });

  it('of a node ends with one DELETED that carries no deletion mark', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1' } });
    const watch = client.watch(nodes);
    client.delete(`${nodes}/n1`);
    assert.deepEqual(summary(watch.events), ['ADDED n1', 'DELETED n1']);
    assert.equal(watch.events[1]?.object.metadata.deletionTimestamp, undefined);
  });

  for (const [name, expire] of [
    ['compacted', (api: ReturnType<typeof fixture>['api']) => api.compact()],
    ['longer than the window', (api: ReturnType<typeof fixture>['api']) => api.setHistoryLength(1)],
  ] as const) {
    it(`from a version ${name} ago is one ERROR in an ordinary stream`, () => {
      const { api, client } = fixture();
      const resourceVersion = client.get(pods).body.metadata.resourceVersion ?? '';
      for (const n of ['a', 'b', 'c']) client.post(pods, podNamed(n));
      expire(api);
      const watch = client.watch(pods, { query: { resourceVersion } });
      assert.equal(watch.response().status, 200);
      assert.equal(watch.response().ended, true);
      const [event] = watch.events;
      assert.deepEqual([watch.events.length, event?.type], [1, 'ERROR']);
      assert.deepEqual(
        [event?.object.kind, event?.object.code, event?.object.reason],
        ['Status', 410, 'Expired'],
      );
      assert.match(event?.object.message, /^too old resource version: \d+ \(\d+\)$/);
    });
  }

  it('from the very version through which all was forgotten misses nothing', () => {
    const { api, client } = fixture();
    client.post(pods, podNamed('a'));
    const resourceVersion = client.get(pods).body.metadata.resourceVersion ?? '';
    api.compact();
    const watch = client.watch(pods, { query: { resourceVersion } });
    client.post(pods, podNamed('b'));
    assert.deepEqual(summary(watch.events), ['ADDED b']);
  });

  it('from a version of the future sends nothing until the store has passed it', () => {
    const { client } = fixture();
    const now = Number(client.get(pods).body.metadata.resourceVersion);
    const watch = client.watch(pods, { query: { resourceVersion: String(now + 2) } });
    for (const name of ['a', 'b', 'c']) client.post(pods, podNamed(name));
    assert.deepEqual(summary(watch.events), ['ADDED c']);
  });

  it('ends cleanly after timeoutSeconds, and by itself within the hour', () => {
    const { client, pass, clock } = fixture();
    const short = client.watch(pods, { query: { timeoutSeconds: 3 } });
    const long = client.watch(pods);
    pass(2999);
    assert.equal(short.response().ended, false);
    pass(1);
    assert.equal(short.response().ended, true);
    pass(1_790_000);
    assert.equal(long.response().ended, false);
    pass(1_810_000);
    assert.equal(long.response().ended, true);
    assert.equal(clock.nextWake(), null);
  });

  it('sends bookmarks each minute and before its end, but only when the version moved', () => {
    const { client, pass } = fixture();
    const query = { allowWatchBookmarks: 'true', labelSelector: 'none=none', timeoutSeconds: 130 };
    const resourceVersion = client.get(pods).body.metadata.resourceVersion ?? '';
    const watch = client.watch(pods, { query: { ...query, resourceVersion } });
    pass(60_000);
    assert.deepEqual(summary(watch.events), []);
    client.post(nodes, { metadata: { name: 'n1' } });
    pass(60_000);
    assert.deepEqual(summary(watch.events), ['BOOKMARK']);
    client.post(nodes, { metadata: { name: 'n2' } });
    pass(8_000);
    assert.deepEqual(summary(watch.events), ['BOOKMARK', 'BOOKMARK']);
    const { metadata, kind } = watch.events[1]!.object;
    assert.deepEqual([kind, Object.keys(metadata)], ['Pod', ['resourceVersion']]);
    assert.equal(metadata.resourceVersion, client.get(nodes).body.metadata.resourceVersion);
  });

  it('that the client leaves costs nothing any more', () => {
    const { client, clock } = fixture();
    const watch = client.watch(pods, { query: { allowWatchBookmarks: 'true' } });
    assert.notEqual(clock.nextWake(), null);
    watch.stop();
    client.post(pods, podNamed('a'));
    assert.deepEqual(summary(watch.events), ['BOOKMARK']);
    assert.equal(clock.nextWake(), null);
  });

  it('of metadata shows nothing else', () => {
    const { client } = fixture();
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const watch = client.watch(pods, { headers: { accept } });
    client.post(pods, podNamed('a'));
    assert.deepEqual(Object.keys(watch.events[0]!.object), ['kind', 'apiVersion', 'metadata']);
  });

  it('opened and fed by a listener of changes misses nothing and repeats nothing', () => {
    const { api, client } = fixture();
    let watch: ReturnType<typeof client.watch> | null = null;
    api.subscribe(({ type, object }) => {
      if (type !== 'ADDED' || object.metadata.name !== 'a') return;
      api.create('pods', podNamed('b'));
      watch = client.watch(pods);
      api.create('pods', podNamed('c'));
    });
    api.create('pods', podNamed('a'));
    assert.deepEqual(summary(watch!.events), ['ADDED a', 'ADDED b', 'ADDED c']);
  });
});

describe('a watch is told', () => {
  it('of what goes with its last finalizer as it was stored, under a version of its own', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n', finalizers: ['x.io/a'] } });
    client.delete(`${nodes}/n`);
    const watch = client.watch(nodes, { query: { resourceVersion: '0' } });
    client.patch(`${nodes}/n`, { metadata: { finalizers: null } });
    const [added, deleted] = watch.events;
    assert.deepEqual(summary(watch.events), ['ADDED n', 'DELETED n']);
    assert.deepEqual(deleted?.object.metadata.finalizers, ['x.io/a']);
    assert.ok(added && deleted && rvOf(deleted.object) > rvOf(added.object));
  });

  it('that the version it has seen is not there yet, also when it wants all from the beginning', () => {
    const { client } = fixture();
    const query = {
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      resourceVersion: '99999999',
    };
    const { events, response } = client.watch(nodes, { query });
    assert.deepEqual([response().status, response().ended], [200, true]);
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.code, object.reason]),
      [['ERROR', 504, 'Timeout']],
    );
  });

  it('that it cannot go on where a list stopped', () => {
    const { client } = fixture();
    const { status, body } = client.get(nodes, { query: { watch: 'true', continue: 'abc' } });
    assert.equal(status, 422);
    assert.match(body.message, /resourceVersionMatch is forbidden when continue is provided$/);
  });
});

it('a watch that has been stopped hears of nothing more, not only its client', () => {
  const store = new Store({ startRv: 1, historyLength: 10 });
  const backend = {
    ...{ store, served: new ServedResources(), isBrief: false },
    ...{ clock: new VirtualClock(start), random: seededRandom(1) },
    ...{ podDice: new PodDice(1), admission: { judge: () => {} } },
  };
  const options = readListOptions(new URLSearchParams({ watch: 'true' }));
  const watch = new Watch(backend, storedResource('pods'), '', options);
  const heard: string[] = [];
  watch.start({
    event: (type, { metadata }) => heard.push(`${type} ${metadata.name}`),
    ...{ bookmark: () => {}, error: () => {}, end: () => {} },
  });
  store.put('pods', pod('default', 'a'), null);
  watch.stop();
  store.put('pods', pod('default', 'b'), null);
  assert.deepEqual(heard, ['ADDED a']);
});
