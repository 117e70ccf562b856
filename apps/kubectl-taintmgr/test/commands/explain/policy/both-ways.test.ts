import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions, policyKinds } from '@taintmgr/k8s-adapter/kinds';
import { type Json, type KubeObject, node, pdb, pod, toleration } from '@taintmgr/sim-cluster';
import { run } from '../../../world/run.ts';
import {
  leaveTaints,
  startTestCluster,
  type TestCluster,
  until,
} from '../../../world/test-cluster.ts';

// Every command that knows --policy prints the same with policies from files and from the cluster.

/** So long ago that what is left is the same for hours. */
const days = (count: number): string =>
  new Date(Date.now() - count * 86_400_000 - 5_400_000).toISOString();

function manifest(kind: 'EvictionPolicy' | 'EvictionPause', name: string, spec: Json): KubeObject {
  const metadata = { name, creationTimestamp: days(1) };
  return { apiVersion: 'taintmgr.dev/v1alpha1', kind, metadata, spec } as KubeObject;
}

const keyed = (key: string): Json => ({ taints: [{ key }] });

/** One of each action, some that go before others, limits, and a pause. */
const policies: readonly KubeObject[] = [
  manifest('EvictionPolicy', 'kept', {
    priority: 10,
    match: { podSelector: { matchLabels: { app: 'kept' } } },
    action: 'Keep',
  }),
  manifest('EvictionPolicy', 'vault', {
    match: { namespaceSelector: { matchLabels: { protected: 'yes' } } },
    action: 'EvictThenDelete',
    deleteAfter: '240h',
    defaultTolerationSeconds: 865_800,
  }),
  manifest('EvictionPolicy', 'settled', {
    match: keyed('bad'),
    action: 'Evict',
    minTaintAge: '200h',
    limits: [{ per: 'Zone', percent: 20, window: '10m', onLimit: 'Trip' }],
  }),
  manifest('EvictionPolicy', 'as-ever', {
    priority: -1,
    match: keyed('worse'),
    action: 'KubeControllerManager',
  }),
  manifest('EvictionPause', 'night', {
    reason: 'network',
    scope: { taintKeys: ['worse'], namespaces: ['shop'] },
  }),
];

const commands: readonly (readonly string[])[] = [
  ['explain', 'node', 'n1'],
  ['explain', 'node', 'n1', '-o', 'wide'],
  ['explain', 'node', 'n2', '--with-taint', 'bad:NoExecute', '--at', '+24h'],
  ['explain', 'pod', 'web-kept', '-n', 'shop'],
  ['explain', 'pod', 'web-other', '-n', 'shop'],
  ['explain', 'pod', 'secret', '-n', 'vault', '-o', 'wide'],
  ['explain', 'taint', 'bad'],
  ['explain', 'zone', 'a'],
  ['explain', 'policy', 'node/n1'],
  ['explain', 'policy', 'web-other', '-n', 'shop'],
  ['pending', '-A'],
  ['pending', '-A', '-o', 'wide'],
];
const documents = [
  'explain node n1',
  'explain pod secret -n vault',
  'explain zone a',
  'pending -A',
];

/** What a command writes, but for ages of minutes and seconds, and in documents the times that go on. */
async function written(args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(...args);
  const steady = out.replace(
    /"(observedAt|expectedAt|notBefore|remainingSeconds|nextSeconds|lastSeconds)": [^\n]*/g,
    '',
  );
  const ageless = steady.replace(/\b(?:\d+m)?(?:\d+s)? ago \([^)]+\) +/g, 'AGE ');
  return `${code}\n${ageless.replace(/ {2,}/g, '  ')}\n${err}`;
}

describe('policies from files and from the cluster', () => {
  let cluster: TestCluster;
  const fromFiles = new Map<string, string>();
  const all = [...commands, ...documents.map((text) => [...text.split(' '), '-o', 'json'])];

  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
    leaveTaints(cluster.api);
    const { api } = cluster;
    const zone = { metadata: { labels: { 'topology.kubernetes.io/zone': 'a' } } };
    const taints = ['bad', 'worse'].map((key) => {
      return { key, effect: 'NoExecute', timeAdded: days(3) };
    });
    const [n1, n2] = [node('n1', { spec: { taints } }), node('n2')];
    for (const one of [n1, n2]) {
      api.create('nodes', { ...one, metadata: { ...one.metadata, ...zone.metadata } });
    }
    api.create('namespaces', { metadata: { name: 'shop' } });
    api.create('namespaces', { metadata: { name: 'vault', labels: { protected: 'yes' } } });
    for (const [namespace, name] of [
      ['shop', 'web-kept'],
      ['shop', 'web-other'],
      ['vault', 'secret'],
    ] as const) {
      const tolerations = [{ ...toleration('worse:NoExecute', 865_800) }];
      const one = pod(namespace, name, { spec: { nodeName: 'n1', tolerations } });
      const labels = { app: name.replace('web-', '') };
      api.create('pods', { ...one, metadata: { ...one.metadata, labels } });
    }
    api.create('pods', pod('shop', 'elsewhere', { spec: { nodeName: 'n2' } }));
    api.create('poddisruptionbudgets', pdb('vault', 'secret', { minAvailable: 1 }));
    // Until then a pod may count as bound when it is looked at.
    const boundBy = Math.ceil(Date.now() / 1000) * 1000;
    await until('the second in which pods were bound is over', () => Date.now() > boundBy);
    const file = join(cluster.directory, 'policies.json');
    const list = { apiVersion: 'v1', kind: 'List', items: policies };
    writeFileSync(file, JSON.stringify(list));
    for (const args of all)
      fromFiles.set(args.join(' '), await written([...args, '--policy', file]));
    await installDefinitions(api, customResourceDefinitions());
    for (const one of policies) {
      const plural = policyKinds[one.kind as 'EvictionPolicy'].plural;
      api.create(`${plural}.taintmgr.dev`, one);
    }
  });
  after(() => cluster.stop());

  for (const args of all) {
    it(args.join(' '), async () => {
      const fromCluster = await written(args);
      assert.equal(fromFiles.get(args.join(' ')), fromCluster);
      // Something that only policies or the pause bring about.
      assert.match(fromCluster, /policy|POLICY|held|Held|vault|deadline/);
    });
  }
});
