import { readdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { namespace, pod } from '@taintmgr/sim-cluster';
import { installPlugin, withoutKubectl } from '../../world/plugin.ts';
import { terminal } from '../../world/terminal.ts';
import { startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';
import { playTranscript } from '../../world/transcript.ts';

// `explain pressure` by the machine's own kubectl, against an API server over HTTPS whose kubelets
// report what is used on their nodes.

const folder = new URL('../../testdata/commands/explain/pressure/', import.meta.url);
const files = readdirSync(folder).map((name) => new URL(name, folder));
const gibibyte = 2 ** 30;

/** When a kubelet has looked last. */
const steady = (text: string): string => text.replace(/\b\d+s ago\b/g, '4s ago');

interface Traits {
  readonly requests?: Readonly<Record<string, string>>;
  readonly priorityClassName?: string;
  readonly isMirror?: boolean;
}

function addPod(
  { api }: TestCluster,
  name: string,
  traits: Traits = {},
  nodeName = 'node-1',
): void {
  const { requests, priorityClassName, isMirror = false } = traits;
  const object = pod('shop', name);
  const containers: readonly object[] = object.spec.containers;
  const resources = requests ? { requests } : {};
  api.create('pods', {
    ...object,
    metadata: {
      ...object.metadata,
      ...(isMirror && { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    },
    spec: {
      ...object.spec,
      nodeName,
      ...(priorityClassName && { priorityClassName }),
      containers: containers.map((container) => ({ ...container, resources })),
    },
  });
}

/** node-1 is short of memory, node-2 is well, node-3 cannot be asked, node-4 is short of disk. */
async function fill(test: TestCluster): Promise<void> {
  const { api, cluster } = test;
  const kubeletConfig = {
    evictionHard: { 'memory.available': '512Mi', 'nodefs.available': '10%' },
    evictionSoft: { 'memory.available': '2Gi' },
    evictionSoftGracePeriod: { 'memory.available': '1m30s' },
    evictionMaxPodGracePeriod: 20,
    evictionPressureTransitionPeriod: '5m0s',
  };
  const names = ['node-1', 'node-2', 'node-3', 'node-4'];
  for (const name of names) cluster.addNode({ name, kubeletConfig });
  api.create('namespaces', namespace('shop'));
  addPod(test, 'db');
  addPod(test, 'web', { requests: { memory: '1Gi' } });
  addPod(test, 'cache', { requests: { memory: '1Gi' } });
  addPod(test, 'dns', { priorityClassName: 'system-cluster-critical' });
  addPod(test, 'etcd', { isMirror: true });
  addPod(test, 'idle', {}, 'node-2');
  addPod(test, 'logs', {}, 'node-4');
  await until('the pods to run', () =>
    api.list('pods', 'shop').every(({ status }) => status?.phase === 'Running'),
  );
  const { stats } = cluster.node('node-1');
  stats.usePod('shop/db', { memory: 0.4 * gibibyte });
  stats.usePod('shop/web', { memory: 0.5 * gibibyte });
  stats.usePod('shop/cache', { memory: 6 * gibibyte });
  stats.usePod('shop/dns', { memory: 4 * gibibyte });
  stats.usePod('shop/etcd', { memory: 3 * gibibyte });
  cluster.node('node-3').setStatsFault('error');
  cluster.node('node-4').setCondition('DiskPressure', true);
  cluster.node('node-4').setCondition('MemoryPressure', true);
  cluster.node('node-4').stats.usePod('shop/logs', { logs: 80 * gibibyte });
  await until('the conditions of node-4', () =>
    JSON.stringify(api.get('nodes', '', 'node-4')).includes('KubeletHasInsufficientMemory'),
  );
}

describe('kubectl taintmgr explain pressure', { skip: withoutKubectl }, () => {
  let cluster: TestCluster;
  before(async () => {
    const reader = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes', 'pods'] }];
    cluster = await startTestCluster(null, { reader });
    await fill(cluster);
    process.env.PATH = installPlugin(cluster.directory);
    process.env.HOME = cluster.directory;
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  for (const file of files) {
    it(file.pathname.split('/').at(-1) ?? '', () => playTranscript(file, terminal(), steady));
  }
});
