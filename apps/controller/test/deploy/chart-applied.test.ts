// The chart as kubectl applies it to a cluster: every object is one that the API server takes.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { type EmbeddedCluster, installDefinitions, startEmbedded } from '@taintmgr/api-server';
import { type KubeObject, namespace } from '@taintmgr/sim-cluster';
import { stringify } from 'yaml';
import { objectsOf, renderAll, skip as skipChart } from './chart.ts';
import { titleOf, valuesOf, ways } from './chart-choices.ts';

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const skipKubectl =
  !hasKubectl && process.env.REQUIRE_KUBECTL !== '1' && 'there is no kubectl on PATH';
const skip = skipChart || skipKubectl;
const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };

/** Of the Prometheus operator: that it has them is all that counts here. */
function monitoring(kind: string): KubeObject {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.monitoring.coreos.com` },
    spec: {
      group: 'monitoring.coreos.com',
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

async function startCluster(t: TestContext): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({ topology: none });
  t.after(() => embedded.stop());
  const { api } = embedded.cluster;
  await installDefinitions(api, ['ServiceMonitor', 'PodMonitor', 'PrometheusRule'].map(monitoring));
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const made = namespace('taintmgr-system');
  api.create('namespaces', { ...made, metadata: { ...made.metadata, labels } });
  return embedded;
}

/** What kubectl prints; fails with what it says where it fails. */
async function kubectl(
  { kubeconfig }: EmbeddedCluster,
  args: readonly string[],
  input: string,
): Promise<string> {
  const child = spawn('kubectl', ['--kubeconfig', kubeconfig, ...args]);
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text.err += chunk;
  });
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  assert.equal(code, 0, text.err + text.out);
  return text.out;
}

const watched = {
  mode: 'evict',
  config: { eviction: { concurrentEvictions: 7 } },
  metrics: { readers: [{ name: 'prometheus', namespace: 'monitoring' }], tlsSecretName: 'serving' },
  serviceMonitor: { enabled: true },
  podMonitor: { enabled: true, tokenSecret: { name: 'token' } },
  prometheusRule: { enabled: true },
  dashboard: { enabled: true },
  networkPolicy: { enabled: true, apiServer: [{ ipBlock: { cidr: '10.0.0.1/32' } }] },
};

/** With nothing else, and with all that go together; what is in between is a part of these. */
const applied: readonly (readonly [title: string, values: object])[] = [
  ...ways
    .filter(({ components }) => components.length === 0 || components.length > 2)
    .map((way) => [titleOf(way), valuesOf(way)] as const),
  ['with all that watches it', watched],
];

describe('the chart is taken by an API server', { skip }, () => {
  const renderings = skip ? [] : renderAll(applied.map(([, values]) => ({ values })));
  for (const [index, [title]] of applied.entries()) {
    it(title, async (t) => {
      const embedded = await startCluster(t);
      const objects = objectsOf(renderings[index] ?? assert.fail());
      const yaml = objects.map((object) => stringify(object)).join('---\n');
      const apply = ['apply', '--server-side', '--validate=strict', '-f', '-'];
      const first = (await kubectl(embedded, apply, yaml)).trimEnd().split('\n');
      assert.equal(first.length, objects.length);
      assert.ok(first.every((line) => line.endsWith(' serverside-applied')));
      // Nothing that the server has made of it is taken for a change.
      assert.equal(await kubectl(embedded, ['diff', '--server-side', '-f', '-'], yaml), '');
    });
  }
});
