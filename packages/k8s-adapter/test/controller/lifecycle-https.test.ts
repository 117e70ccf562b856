import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startEmbedded } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { type KubeObject, namespace, pod } from '@taintmgr/sim-cluster';
import { Loop } from '../../src/controller/engine-loop.ts';
import { drive } from '../../src/driver/driver.ts';
import { loadKubeconfig } from '../../src/kubeconfig/kubeconfig.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';

const lifecycle = { nodeMonitorPeriodMs: 500, nodeMonitorGracePeriodMs: 2000, nodeEvictionRate: 2 };
const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };
const patienceMs = 120_000;

// The whole way once, in real time and over HTTPS: a kubelet stops and comes back.
it('a silent node loses its pods, a node that is back keeps them', {
  timeout: 180_000,
}, async (t) => {
  const embedded = await startEmbedded({
    topology: none,
    without: ['conditionTaints', 'workloads', 'scheduler'],
    timing: { heartbeatMs: 300, startupMs: [10, 20], podStartMs: [10, 20], podStopMs: [10, 20] },
  });
  t.after(() => embedded.stop());
  const { api } = embedded.cluster;
  const story: string[] = [];
  const waiting = new Map<string, () => void>();
  api.subscribe(({ resource, object }) => {
    const line = lineOf(resource, object);
    if (line === null || line === story.at(-1)) return;
    story.push(line);
    waiting.get(line)?.();
  });
  const seen = (line: string): Promise<void> =>
    story.includes(line) ? Promise.resolve() : within(line, (done) => waiting.set(line, done));

  for (const name of ['a-1', 'a-2']) embedded.cluster.addNode({ name, region: 'r', zone: 'a' });
  api.create('namespaces', namespace('shop'));
  const tolerates = {
    key: 'node.kubernetes.io/unreachable',
    operator: 'Exists',
    effect: 'NoExecute',
  };
  const podOnNode = (name: string, tolerationSeconds: number): void => {
    const { spec } = pod('shop', name);
    const tolerations = [{ ...tolerates, tolerationSeconds }];
    api.create('pods', pod('shop', name, { spec: { ...spec, nodeName: 'a-1', tolerations } }));
  };
  await seen('node a-1 Ready=True taints [not-ready:NoSchedule]');
  podOnNode('soon', 1);
  podOnNode('later', 600);
  await seen('pod later Ready=True');

  const { access } = await loadKubeconfig({ kubeconfig: embedded.kubeconfig });
  const transport = new HttpTransport(access, 'taintmgr/test');
  const loop = new Loop({ machine: createEngine({ lifecycle }), random: () => 0, leases: true });
  const stop = new AbortController();
  const running = drive({ loop, transport, signal: stop.signal, onNotice: () => {} });
  await seen('node a-1 Ready=True taints []');
  const before = story.length;
  embedded.cluster.node('a-1').stop();
  await seen('pod soon leaves');
  const lost = story.slice(before);
  assert.deepEqual(inOrder(lost, /^node a-1/), [
    'node a-1 Ready=Unknown taints []',
    'node a-1 Ready=Unknown taints [unreachable:NoSchedule]',
    'node a-1 Ready=Unknown taints [unreachable:NoSchedule unreachable:NoExecute]',
  ]);
  assert.deepEqual(inOrder(lost, /^pod soon/), ['pod soon Ready=False', 'pod soon leaves']);
  assert.ok(lost.includes('pod later Ready=False'));
  assert.ok(lost.includes('event NodeNotReady a-1'));

  const back = story.length;
  embedded.cluster.node('a-1').resume();
  const well = 'node a-1 Ready=True taints []';
  await within(well, (done) => waiting.set(well, done));
  assert.ok(!story.slice(back).includes('pod later leaves'));
  stop.abort();
  await running;
  transport.close();
});

/** What the story tells of an object as it is now. */
function lineOf(
  resource: string,
  { metadata, spec, status, reason, ...rest }: KubeObject,
): string | null {
  const conditions: readonly { type: string; status: string }[] = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready')?.status;
  if (resource === 'nodes') {
    const taints: readonly { key: string; effect: string }[] = spec.taints ?? [];
    const names = taints.map(
      ({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`,
    );
    return `node ${metadata.name} Ready=${ready} taints [${names.join(' ')}]`;
  }
  if (resource === 'pods') {
    if (metadata.deletionTimestamp) return `pod ${metadata.name} leaves`;
    return ready ? `pod ${metadata.name} Ready=${ready}` : null;
  }
  return resource === 'events' ? `event ${reason} ${rest.involvedObject.name}` : null;
}

function inOrder(story: readonly string[], about: RegExp): readonly string[] {
  const lines = story.filter((line) => about.test(line));
  return lines.filter((line, index) => line !== lines[index - 1]);
}

/** Fails with the name of what did not come. */
function within(what: string, wait: (done: () => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`never came: ${what}`)), patienceMs);
    wait(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
