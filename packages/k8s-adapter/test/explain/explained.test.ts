import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type EmbeddedCluster, startEmbedded, topologies } from '@taintmgr/api-server';
import { parseTaint } from '@taintmgr/core/model';
import { namespace, node, pod } from '@taintmgr/sim-cluster';
import { ApiClient } from '../../src/client/client.ts';
import { explainSubject } from '../../src/explain/explained.ts';
import { parsePattern } from '../../src/explain/question.ts';
import { explainNode, explainPod, zoneSubject } from '../../src/explain/subjects.ts';
import { loadKubeconfig } from '../../src/kubeconfig/kubeconfig.ts';
import { ClusterReader } from '../../src/survey/reader.ts';
import type { Access } from '../../src/transport/access.ts';
import { ApiError, ConnectionError } from '../../src/transport/errors.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { freePort } from '../world/free-port.ts';

const hour = 3600;
const timeAdded = '2026-01-01T00:00:00Z';
const bad = { key: 'bad', effect: 'NoExecute', timeAdded };
const tolerates = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute' });

let embedded: EmbeddedCluster;
let access: Access;
before(async () => {
  embedded = await startEmbedded(topologies.empty);
  const { api } = embedded.cluster;
  api.create('namespaces', namespace('shop'));
  api.create('nodes', node('n1', { spec: { taints: [bad] } }));
  api.create('nodes', node('n2'));
  for (const [name, nodeName, tolerations] of [
    ['web', 'n1', [{ ...tolerates('bad'), tolerationSeconds: 2_000_000_000 }]],
    ['stays', 'n1', [tolerates('bad')]],
    ['far', 'n2', []],
  ] as const) {
    api.create('pods', pod('shop', name, { spec: { nodeName, tolerations: [...tolerations] } }));
  }
  access = (await loadKubeconfig({ kubeconfig: embedded.kubeconfig })).access;
});
after(() => embedded.stop());

/** Fate and reason of each pod. */
function fates(document: {
  readonly pods: readonly { name: string; decision: string; reason: unknown }[] | undefined;
}): readonly string[] {
  return (document.pods ?? []).map((one) => `${one.name} ${one.decision} ${one.reason}`).sort();
}

describe('an explanation', () => {
  it('is the same by an access, a client and a reader', async () => {
    const transport = new HttpTransport(access, 'taintmgr/test');
    const client = new ApiClient({ transport, server: access.server });
    const reader = new ClusterReader(client, undefined, undefined, () => Date.parse(timeAdded));
    const ways = await Promise.all([access, client].map((way) => explainNode(way, 'n1')));
    const [first, second] = ways.map(({ document }) => fates(document));
    assert.deepEqual(first, ['stays Keep ToleratedForever', 'web Evict TolerationExpires']);
    assert.deepEqual(second, first);
    // By the clock of the reader the taint has just been put on.
    const { document, at } = await explainNode(reader, 'n1');
    assert.deepEqual([at, document.observedAt], [Date.parse(timeAdded), timeAdded]);
    transport.close();
  });

  it('takes nothing from others who ask by the same access', async () => {
    const shared: Access = {
      server: access.server,
      authorize: () => access.authorize(),
      rejected: () => access.rejected(),
      close: () => assert.fail('it is closed'),
    };
    const both = await Promise.all(['n1', 'n2'].map((name) => explainNode(shared, name)));
    assert.deepEqual(
      both.map(({ document }) => document.pods?.length),
      [2, 1],
    );
  });

  it('answers what if, and names what it assumed', async () => {
    const assumed = parseTaint('maintenance=kernel:NoExecute');
    const { document, report } = await explainNode(access, 'n2', { with: [assumed] });
    assert.deepEqual(fates(document), ['far Evict NoToleration']);
    assert.equal(document.pods?.[0]?.present?.decision, 'Keep');
    assert.equal(report.nodes[0]?.taints.length, 1);
    const without = [parsePattern('bad')];
    const other = await explainPod(access, 'shop', 'web', { without, compare: true });
    assert.equal(other.document.decision, 'Keep');
    assert.equal(other.document.kubeControllerManager?.version, '1.36');
  });

  it('is of a later moment, without another look', async () => {
    const now = await explainPod(access, 'shop', 'web');
    const later = now.asOf(now.at + hour * 1000);
    const left = ({ document }: typeof now): number => document.remainingSeconds ?? Number.NaN;
    assert.equal(left(now) - left(later), hour);
    assert.equal(later.document.deadline, now.document.deadline);
    const asked = await explainPod(access, 'shop', 'web', { after: hour * 1000 });
    assert.ok(asked.document.asOf !== undefined);
  });

  it('remembers since when it saw a taint', async () => {
    const { api } = embedded.cluster;
    const taints = [{ key: 'undated', effect: 'NoExecute' }];
    api.create('nodes', node('n3', { spec: { taints } }));
    const spec = {
      nodeName: 'n3',
      tolerations: [{ ...tolerates('undated'), tolerationSeconds: hour }],
    };
    api.create('pods', pod('shop', 'timed', { spec }));
    // Nobody can tell by managedFields when the taint was put on.
    const made = api.get('nodes', '', 'n3') ?? assert.fail();
    api.update('nodes', { ...made, metadata: { ...made.metadata, managedFields: [{}] } });
    api.compact();
    const first = await explainPod(access, 'shop', 'timed');
    const again = await first.again(access);
    assert.ok(again.at > first.at);
    const [start, same] = [first, again].map(({ report }) => report.nodes[0]?.taints[0]?.start);
    assert.equal(same, start);
    const anew = await explainPod(access, 'shop', 'timed');
    assert.notEqual(anew.report.nodes[0]?.taints[0]?.start, start);
  });

  it('of a zone that there is not names those that there are', async () => {
    const asked = explainSubject(access, zoneSubject('z9'));
    await assert.rejects(asked, { name: 'UsageError', message: /^zone "z9" has no nodes; / });
  });

  it('is an error where there is no such object, or no way in', async () => {
    await assert.rejects(explainNode(access, 'n9'), (error) => {
      assert.ok(error instanceof ApiError);
      return error.failure.reason === 'NotFound';
    });
    await assert.rejects(explainPod(access, 'shop', 'n9'), /^ApiError: .*pods "n9" not found/);
    const server = `https://127.0.0.1:${await freePort()}`;
    await assert.rejects(explainNode({ ...wayTo(access), server }, 'n1'), ConnectionError);
    const stranger = async () => ({ headers: {}, tls: { rejectUnauthorized: false }, agent: null });
    const refused = explainNode({ ...wayTo(access), authorize: stranger }, 'n1');
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof ApiError);
      return error.failure.status === 401 || error.failure.status === 403;
    });
  });
});

function wayTo({ server }: Access): Access {
  const authorize = async () => ({ headers: {}, tls: {}, agent: null });
  return { server, authorize, rejected: () => {} };
}
