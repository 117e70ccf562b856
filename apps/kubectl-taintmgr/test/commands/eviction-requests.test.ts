// What explain, pending and status say of EvictionRequests.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  evictionDefinition,
  evictionRequestDefinition,
  installDefinitions,
} from '@taintmgr/api-server';
import { run } from '../world/run.ts';
import { ago, fillShop, renewLeases } from '../world/shop-cluster.ts';
import { startTestCluster, type TestCluster } from '../world/test-cluster.ts';

const mover = 'vm.example.com/migrator';
const lists = /lifecycle\.k8s\.io\/v1alpha1\/evictionrequests/;

describe('EvictionRequests and conditions of others', () => {
  let cluster: TestCluster;
  let pod = '';

  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
    fillShop(cluster);
    pod = cluster.api.list('pods', 'shop').find(({ spec }) => spec.nodeName === 'node-a1')?.metadata
      .name as string;
  });

  after(() => cluster.stop());

  /** What each of the three prints. */
  async function shown(): Promise<Record<'explain' | 'pending' | 'status', string>> {
    renewLeases(cluster);
    const explain = (await run('explain', 'pod', pod, '-n', 'shop')).out;
    const pending = (await run('pending', '-n', 'shop')).out;
    return { explain, pending, status: (await run('status')).out };
  }

  it('are not asked for where the cluster has none, and nothing is printed', async () => {
    const { explain, pending, status } = await shown();
    for (const out of [explain, pending, status]) assert.doesNotMatch(out, /REQUEST|Requests/);
    assert.deepEqual(
      cluster.answers.filter((line) => lists.test(line)),
      [],
    );
  });

  it('are asked for by a policy, and explain says how: or that the cluster has no such kind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'requests-'));
    const file = join(folder, 'vms.yaml');
    const metadata = { name: 'vms' };
    const head = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy', metadata };
    writeFileSync(file, JSON.stringify({ ...head, spec: { action: 'Request' } }));
    renewLeases(cluster);
    const { out } = await run('explain', 'pod', pod, '-n', 'shop', '--policy', file);
    rmSync(folder, { recursive: true });
    assert.match(out, /^Because: .*, by policy vms, after an EvictionRequest$/m);
    assert.match(
      out,
      /^Requests: +the cluster has no EvictionRequests: it is evicted by pods\/eviction$/m,
    );
  });

  it('show who asks, who answers, and how far that one is', async () => {
    const definitions = [evictionRequestDefinition(), evictionDefinition()];
    await installDefinitions(cluster.api, definitions);
    const { uid } = cluster.api.get('pods', 'shop', pod)?.metadata ?? assert.fail();
    const target = { pod: { name: pod, uid } };
    const apiVersion = 'lifecycle.k8s.io/v1alpha1';
    const metadata = { namespace: 'shop', name: 'of-pod' };
    cluster.api.create('evictionrequests.lifecycle.k8s.io', {
      ...{ apiVersion, kind: 'EvictionRequest', metadata },
      spec: { target, requester: 'acme.io/mover', intent: 'Eviction' },
    });
    const first = await shown();
    assert.match(
      first.explain,
      /^Requests: +acme.io\/mover has requested its eviction \(EvictionRequest of-pod\); no controller has answered yet$/m,
    );
    const evictions = 'evictions.lifecycle.k8s.io';
    const made = cluster.api.create(evictions, {
      ...{ apiVersion, kind: 'Eviction', metadata, spec: { target } },
    });
    const heartbeatTime = ago(30);
    const status = {
      targetResponders: [{ name: mover, priority: 10_000, state: 'Active' }],
      responders: [{ name: mover, heartbeatTime, message: 'copied 40 %' }],
    };
    cluster.api.update(evictions, { ...made, status }, 'status');
    const then = await shown();
    assert.match(
      then.explain,
      new RegExp(`; ${mover} answers: copied 40 %, last heard of at ${heartbeatTime}$`, 'm'),
    );
    const [heads = '', ...rows] = then.pending.split('\n');
    assert.match(heads, /REQUESTED BY/);
    assert.match(rows.find((line) => line.includes(` ${pod} `)) ?? '', /acme\.io\/mover/);
    assert.match(then.status, /^EVICTIONREQUEST +REQUESTER +ANSWERED BY +PROGRESS$/m);
    assert.match(
      then.status,
      new RegExp(`^shop/of-pod +acme.io/mover +${mover} +copied 40 %$`, 'm'),
    );
    const json = (await run('explain', 'pod', pod, '-n', 'shop', '-o', 'json')).out;
    const [{ createdAt, ...request }] = JSON.parse(json).evictionRequests;
    assert.ok(Date.parse(createdAt) > 0);
    assert.deepEqual(request, {
      ...{ name: 'of-pod', requester: 'acme.io/mover' },
      responder: { name: mover, lastHeartbeat: heartbeatTime, message: 'copied 40 %' },
    });
  });

  it('of ours that have led to nothing are told of by the Event of their pod', async () => {
    const { uid } = cluster.api.get('pods', 'shop', pod)?.metadata ?? assert.fail();
    const message = 'nobody has answered within a minute: the pod is evicted by pods/eviction';
    cluster.api.create('events', {
      ...{ apiVersion: 'v1', kind: 'Event', type: 'Warning', reason: 'EvictionRequestGivenUp' },
      metadata: { namespace: 'shop', name: 'given-up' },
      involvedObject: { kind: 'Pod', namespace: 'shop', name: pod, uid },
      ...{ message, lastTimestamp: ago(10) },
    });
    assert.ok((await shown()).explain.includes(message));
    cluster.api.delete('events', 'shop', 'given-up');
  });

  it('conditions by which somebody says that he drains a node are shown', async () => {
    const node = cluster.api.get('nodes', '', 'node-a1') ?? assert.fail();
    const lastTransitionTime = ago(300);
    const said = (type: string, reason: string, message: string, status = 'True'): object => {
      return { type, status, reason, message, lastTransitionTime };
    };
    const conditions = [
      ...(node.status?.conditions ?? []),
      said('DrainInProgress', 'KubectlDrain', 'by alice'),
      said('Drained', 'KubectlDrain', '', 'False'),
      said('MaintenanceInProgress', 'Firmware', ''),
    ];
    cluster.api.update('nodes', { ...node, status: { ...node.status, conditions } }, 'status');
    const { explain, status } = await shown();
    const text =
      /, DrainInProgress \(KubectlDrain\) 5m\S* ago, MaintenanceInProgress \(Firmware\) 5m\S* ago\)$/m;
    assert.match(explain, text);
    assert.match(status, /^NODE +CONDITION +REASON +SINCE +MESSAGE$/m);
    assert.match(status, /^node-a1 +DrainInProgress +KubectlDrain +5m\S* ago +by alice$/m);
    const ofNode = (await run('explain', 'node', 'node-a1')).out;
    assert.match(ofNode, /^Conditions: +DrainInProgress \(KubectlDrain\) 5m\S* ago, Maint.* ago$/m);
    const json = JSON.parse((await run('status', '-o', 'json')).out);
    const types = json.nodes[0].maintenance.map(({ type }: { type: string }) => type);
    assert.deepEqual(types, ['DrainInProgress', 'MaintenanceInProgress']);
  });

  it('that are withdrawn are not shown', async () => {
    const resource = 'evictionrequests.lifecycle.k8s.io';
    const request = cluster.api.get(resource, 'shop', 'of-pod') ?? assert.fail();
    cluster.api.update(resource, { ...request, spec: { ...request.spec, intent: 'Withdrawn' } });
    const { explain, pending, status } = await shown();
    for (const out of [explain, pending, status]) assert.doesNotMatch(out, /REQUEST|Requests/);
  });
});
