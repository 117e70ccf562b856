import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { ApiClient, exchangeSink } from '@taintmgr/k8s-adapter';
import { LiveHistory, type LiveInput } from '@taintmgr/page';
import {
  node,
  pod,
  type Rule,
  seededRandom,
  toleration,
  type User,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { feedOf } from '../../../src/commands/web/feed.ts';
import { Streams } from '../../../src/commands/web/server.ts';
import { startDeviceCluster, writeProgress } from '../../world/device-cluster.ts';

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
  return { api, client: clientOf(api) };
}

function clientOf(api: ApiServer, user = 'admin'): ApiClient {
  return new ApiClient({
    server: 'https://sim',
    transport: {
      send: (request, sink) => {
        const headers = { ...request.headers, authorization: `Bearer ${user}` };
        return api.exchange({ ...request, headers }, exchangeSink(sink));
      },
    },
  });
}

async function seenBy(api: ApiServer, user: string): Promise<LiveInput> {
  const history = new LiveHistory('test', Date.now());
  await feedOf(clientOf(api, user), { history, streams: new Streams(1) }, []).read();
  return history.input() ?? assert.fail('nothing was read');
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

  it('shows who is to leave for the taints of devices, and what not everybody may know', async (t) => {
    const resources = ['pods', 'nodes'];
    const viewer: Rule = { verbs: ['get', 'list'], apiGroups: [''], resources };
    const { api, stop } = await startDeviceCluster({ viewer: [viewer] });
    t.after(stop);
    api.create('nodes', node('n1', {}));
    const timeAdded = new Date(Date.now() - 10_000).toISOString();
    api.create('devicetaintrules', {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'DeviceTaintRule',
      metadata: { name: 'ecc' },
      spec: {
        deviceSelector: { driver: 'gpu.example.com', device: 'gpu-1' },
        taint: { key: 'health', effect: 'NoExecute', timeAdded },
      },
    });
    writeProgress(api, 'ecc', 'PodsPendingEviction', '1 pod needs to be evicted.');
    const { pods, actions, startsAt } = await seenBy(api, 'admin');
    const [train] = pods;
    assert.ok(train && pods.length === 1);
    const { setAt, dueAt } = train;
    const addedAt = (Math.floor(Date.parse(timeAdded) / 1000) * 1000 - startsAt) / 1000;
    assert.deepEqual([train.pod, train.state, setAt], ['train-3', 'Evict', addedAt]);
    assert.equal(dueAt, addedAt + 86_430);
    assert.match(
      train.because.join(),
      /health:NoExecute of device gpu.example.com\/n1\/gpu-1 \(claim gpu-b, tainted by DeviceTaintRule ecc\)/,
    );
    const text = 'taints gpu.example.com/n1/gpu-1 health:NoExecute: 1 pod to leave';
    assert.deepEqual(actions, [{ kind: 'rule', name: 'ecc', from: addedAt, until: null, text }]);
    const hidden = await seenBy(api, 'viewer');
    assert.deepEqual(
      hidden.pods.map(({ pod: name, state }) => `${name} ${state}`).sort(),
      ['agent-1', 'batch-1', 'train-1', 'train-2', 'train-3'].map((name) => `${name} Unknown`),
    );
    assert.match(hidden.pods[0]?.because[0] ?? '', /^unknown: no permission to read /);
    assert.deepEqual(hidden.actions, []);
  });
});
