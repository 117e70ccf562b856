import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readManifest } from '@taintmgr/k8s-adapter/kinds';
import {
  namespace,
  node,
  PlainServer,
  pod,
  seededRandom,
  taint,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { planLosses, taintsInUse } from '../../../../src/commands/simulate/each/plan.ts';

const region = 'topology.kubernetes.io/region';
const zone = 'topology.kubernetes.io/zone';

function server(): PlainServer {
  const api = new PlainServer({ clock: new VirtualClock(0), random: seededRandom(1) });
  api.create('namespaces', namespace('shop'));
  return api;
}

function addNode(api: PlainServer, name: string, taints: readonly string[], labels = {}): void {
  api.create(
    'nodes',
    node(name, { labels, spec: { taints: taints.map((one) => ({ ...taint(one) })) } }),
  );
}

describe('the taints in use', () => {
  const policies = [
    ['EvictionPolicy', { match: { taints: [{ key: 'own/policy', value: 'p' }] }, action: 'Evict' }],
    [
      'NodeTaintRule',
      {
        condition: { type: 'KernelDeadlock' },
        taint: { key: 'own/rule', value: 'r', effect: 'NoExecute' },
        nodeSelector: { matchLabels: { pool: 'a' } },
      },
    ],
  ].map(([kind, spec]) => {
    const manifest = { apiVersion: 'taintmgr.dev/v1alpha1', kind, metadata: { name: 'one' }, spec };
    const judged = readManifest(manifest, 0);
    return judged.kind === 'refused' ? assert.fail(JSON.stringify(judged)) : judged.value;
  });

  it('are those of nodes, pods, policies and rules, with the value that most use', () => {
    const api = server();
    addNode(api, 'node-1', ['dedicated=gpu:NoSchedule', 'spare:NoSchedule']);
    addNode(api, 'node-2', ['dedicated=ml:NoSchedule']);
    addNode(api, 'node-3', ['dedicated=ml:NoExecute']);
    const tolerations = [
      { key: 'dedicated', operator: 'Equal', value: 'gpu' },
      { key: 'maintenance', operator: 'Equal', value: 'kernel', effect: 'NoExecute' },
      { operator: 'Exists', effect: 'NoSchedule' },
    ];
    api.create('pods', pod('shop', 'web', { spec: { tolerations } }));
    assert.deepEqual(taintsInUse(api, policies), [
      'dedicated=ml:NoExecute',
      'maintenance=kernel:NoExecute',
      'own/policy=p:NoExecute',
      'own/rule=r:NoExecute',
      'spare:NoExecute',
    ]);
  });

  it('are none that Kubernetes sets by itself, but for that of a machine that is switched off', () => {
    const api = server();
    const ofKubernetes = [
      'node.kubernetes.io/memory-pressure:NoSchedule',
      'node.cloudprovider.kubernetes.io/shutdown:NoSchedule',
    ];
    addNode(api, 'node-1', [
      ...ofKubernetes,
      'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute',
    ]);
    assert.deepEqual(taintsInUse(api, []), [
      'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute',
    ]);
  });
});

describe('a plan', () => {
  const plan = (each: string, api: PlainServer) => {
    const options = { each, by: { kind: 'drain' }, api, pods: [], policies: [] } as const;
    return planLosses(options).map(({ name, event }) => `${name} ${event}`);
  };

  it('names nodes where a zone has the name of one in another region', () => {
    const api = server();
    addNode(api, 'node-1', [], { [region]: 'eu', [zone]: 'a' });
    addNode(api, 'node-2', [], { [zone]: 'a' });
    addNode(api, 'node-3', []);
    assert.deepEqual(plan('zone', api), [
      'a {at: 1m, drain: {nodes: [node-2]}}',
      'eu/a {at: 1m, drain: {zone: eu/a}}',
      'without a zone {at: 1m, drain: {nodes: [node-3]}}',
    ]);
  });

  it('selects by labels, also by an empty one and one that looks like a number', () => {
    const api = server();
    addNode(api, 'node-1', [], { 'own/rack': '' });
    addNode(api, 'node-2', [], { 'own/rack': '1' });
    assert.deepEqual(plan('own/rack', api), [
      '"" {at: 1m, drain: {selector: own/rack=}}',
      '1 {at: 1m, drain: {selector: own/rack=1}}',
    ]);
  });
});
