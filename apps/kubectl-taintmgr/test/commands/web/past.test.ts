import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { ApiClient, ConnectionError, exchangeSink } from '@taintmgr/k8s-adapter';
import { LiveHistory, type LiveInput } from '@taintmgr/page';
import { node, type Rule, seededRandom, type User, VirtualClock } from '@taintmgr/sim-cluster';
import { feedOf } from '../../../src/commands/web/feed.ts';
import { PastFeed } from '../../../src/commands/web/past.ts';
import { Streams } from '../../../src/commands/web/server.ts';

// Who left before the live page of web was opened, by the Events of a cluster in which nobody keeps records.

const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };
const resources = ['pods', 'nodes'];
const viewing: Rule = { verbs: ['get', 'list'], apiGroups: [''], resources };
const viewer: User = { name: 'viewer', groups: [], rules: [viewing] };

const ago = (seconds: number): string =>
  `${new Date(Date.now() - seconds * 1000).toISOString().slice(0, 19)}Z`;

/** That kube-controller-manager has evicted shop/NAME so long ago. */
function evicted(name: string, seconds: number) {
  const at = ago(seconds);
  return {
    metadata: { namespace: 'shop', name: `${name}.evicted` },
    involvedObject: { kind: 'Pod', namespace: 'shop', name },
    ...{ reason: 'TaintManagerEviction', message: `Marking for deletion Pod shop/${name}` },
    ...{ type: 'Normal', count: 1, source: { component: 'taint-eviction-controller' } },
    ...{ firstTimestamp: at, lastTimestamp: at },
    reportingComponent: 'taint-eviction-controller',
  };
}

function world() {
  const clock = new VirtualClock(Date.now());
  const tokens = new Map([admin, viewer].map((user) => [user.name, user] as const));
  const api = new ApiServer({ clock, random: seededRandom(1), tokens });
  api.create('namespaces', { metadata: { name: 'shop' } });
  api.create('nodes', node('n1'));
  let isDown = false;
  const clientOf = (user: string) =>
    new ApiClient({
      server: 'https://sim',
      transport: {
        send: (request, sink) => {
          if (isDown) throw new ConnectionError('https://sim', 'connection refused');
          const headers = { ...request.headers, authorization: `Bearer ${user}` };
          return api.exchange({ ...request, headers }, exchangeSink(sink));
        },
      },
    });
  return { api, clientOf, fail: () => (isDown = true) };
}

async function seen(client: ApiClient): Promise<LiveInput> {
  const history = new LiveHistory('test', Date.now());
  await feedOf(client, { history, streams: new Streams(1) }, []).read();
  return history.input() ?? assert.fail('nothing was read');
}

describe('the page of web', () => {
  it('begins with who left, and with the time of which Events are gone', async () => {
    const { api, clientOf } = world();
    api.create('events', evicted('web-1', 600));
    const { record, openedAt } = await seen(clientOf('admin'));
    const [{ pod, at, story } = assert.fail(), ...more] = record.evictions;
    assert.deepEqual([pod, Math.round((openedAt - at) / 10), more], ['web-1', 60, []]);
    assert.equal(
      story?.evictedBy,
      'kube-controller-manager, as an Event TaintManagerEviction of taint-eviction-controller says',
    );
    const [gap = assert.fail(), ...others] = record.gaps;
    assert.deepEqual([gap.from, Math.round((openedAt - gap.to) / 60), others], [null, 60, []]);
    assert.match(
      gap.text,
      /^Events of that time are deleted, after an hour by default; looked at: .*no records of/,
    );
  });

  it('says that nobody tells of the past where Events may not be read', async () => {
    const { api, clientOf } = world();
    api.create('events', evicted('web-1', 600));
    const { record, openedAt } = await seen(clientOf('viewer'));
    assert.deepEqual(record.evictions, []);
    const [gap = assert.fail()] = record.gaps;
    assert.ok(gap.from === null && Math.abs(gap.to - openedAt) < 5, `${gap.to}`);
    assert.match(gap.text, /^looked at: pods of all namespaces, no records of/);
  });

  it('reads it again after a minute or more, and keeps what it knew where it cannot be read', async () => {
    const { api, clientOf, fail } = world();
    const history = new LiveHistory('test', Date.now());
    let passed = 0;
    const past = new PastFeed(clientOf('admin'), history, () => passed);
    const known = (): number => {
      history.take({
        ...{ at: Date.now(), evictedBy: 'nobody', warnings: [], notes: [], zones: [], nodes: [] },
        ...{ pods: [], podsLeftOut: 0, actions: [] },
      });
      return history.input()?.record.evictions.length ?? -1;
    };
    await past.read();
    api.create('events', evicted('web-1', 60));
    passed = 59_999;
    await past.readAgain();
    assert.equal(known(), 0);
    passed = 60_000;
    await past.readAgain();
    assert.equal(known(), 1);
    fail();
    passed = 120_000;
    await past.readAgain();
    assert.equal(known(), 1);
    await assert.rejects(past.read(), /connection refused/);
  });
});
