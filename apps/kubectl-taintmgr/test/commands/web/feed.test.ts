import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { ApiClient, exchangeSink } from '@taintmgr/k8s-adapter';
import { LiveHistory, type LiveInput } from '@taintmgr/page';
import {
  node,
  pod,
  seededRandom,
  toleration,
  type User,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { feedOf } from '../../../src/commands/web/feed.ts';
import { Streams } from '../../../src/commands/web/server.ts';

// A cluster in which nobody acts: more pods are to leave than the page shows.

const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };
const shownMax = 2000;

/** A node that so many pods are to leave, `pod-0` first, each in 1000 s and more. */
function crowded(pods: number): { readonly api: ApiServer; readonly client: ApiClient } {
  const clock = new VirtualClock(Date.now());
  const tokens = new Map([['admin', admin]]);
  const api = new ApiServer({ clock, random: seededRandom(1), tokens });
  api.create('namespaces', { metadata: { name: 'shop' } });
  const taints = [{ key: 'kernel', effect: 'NoExecute', timeAdded: new Date().toISOString() }];
  api.create('nodes', node('n1', { spec: { taints } }));
  for (let at = 0; at < pods; at++) {
    const tolerations = [{ ...toleration('kernel:NoExecute', 1000 + 10 * at) }];
    api.create('pods', pod('shop', `pod-${at}`, { spec: { nodeName: 'n1', tolerations } }));
  }
  const client = new ApiClient({
    server: 'https://sim',
    transport: {
      send: (request, sink) => {
        const headers = { ...request.headers, authorization: 'Bearer admin' };
        return api.exchange({ ...request, headers }, exchangeSink(sink));
      },
    },
  });
  return { api, client };
}

describe('the feed of the page', () => {
  it('knows which pods are gone, also while there are more than it shows', async () => {
    const { api, client } = crowded(shownMax + 5);
    const history = new LiveHistory('test', Date.now());
    const feed = feedOf(client, { history, streams: new Streams(1) }, []);
    const look = async (): Promise<LiveInput> => {
      await feed.read();
      return history.input() ?? assert.fail('nothing was read');
    };
    const first = await look();
    assert.deepEqual([first.pods.length, first.podsLeftOut], [shownMax, 5]);
    // One is gone, and one is shown no more, as it is to leave after all others now.
    api.delete('pods', 'shop', 'pod-0', { gracePeriodSeconds: 0 });
    const known = api.get('pods', 'shop', 'pod-1') ?? assert.fail();
    const tolerations = [{ ...toleration('kernel:NoExecute', 900_000) }];
    api.update('pods', { ...known, spec: { ...known.spec, tolerations } });
    const { pods, podsLeftOut, record } = await look();
    assert.deepEqual([pods.length, podsLeftOut], [shownMax, 4]);
    assert.equal(
      pods.some((one) => one.pod === 'pod-1'),
      false,
    );
    assert.deepEqual(
      record.events.map(({ text }) => text),
      ['shop/pod-0 is to leave no more'],
    );
  });
});
