import { after, before, describe, it } from 'node:test';
import { daemonSet, pdb, pod, type Rule, statefulSet, toleration } from '@taintmgr/sim-cluster';
import { installPlugin, withoutKubectl } from '../../world/plugin.ts';
import { terminal } from '../../world/terminal.ts';
import { startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';
import { playTranscript } from '../../world/transcript.ts';

// `drain-by-taint` and `undo` by the machine's own kubectl, on a cluster at work over HTTPS. One
// after the other: what one has done the next finds.

const page = new URL('../../../../../docs/commands/drain-by-taint.md', import.meta.url);
const folder = new URL('../../testdata/commands/drain-by-taint/', import.meta.url);

/** How long things took, and the names of drains. */
const steady = (text: string): string =>
  text
    .replace(/, \d+\.\ds\)/g, ', 0.5s)')
    .replace(/ drained \((\d+ pods?), \d+s\)/g, ' drained ($1, 1s)')
    .replace(/\bagent-[a-z0-9]{5}\b/g, 'agent-xxxxx')
    .replace(/drain-\d{8}-\d{6}-[0-9a-f]{4}/g, '<drain>');

const read: Rule = {
  verbs: ['get', 'list'],
  apiGroups: ['', 'policy', 'coordination.k8s.io', 'apps'],
  resources: ['nodes', 'pods', 'poddisruptionbudgets', 'leases', 'daemonsets'],
};
const narrow: Rule = { ...read, resources: ['nodes', 'pods'] };

function on(nodeName: string) {
  return { podSpec: { nodeSelector: { 'kubernetes.io/hostname': nodeName } } };
}

describe('kubectl taintmgr drain-by-taint', { skip: withoutKubectl }, () => {
  let cluster: TestCluster;
  before(async () => {
    const tolerations = [toleration('maintenance:NoExecute', 3)];
    cluster = await startTestCluster(
      {
        region: 'r1',
        zones: ['blue', 'green'],
        nodesPerZone: 2,
        workloads: [
          statefulSet('shop', 'web', { replicas: 2, ...on('blue-1') }),
          statefulSet('shop', 'db', { tolerations, ...on('blue-1') }),
          statefulSet('shop', 'api', on('blue-2')),
          pod('shop', 'bare', { spec: on('blue-2').podSpec }),
          statefulSet('shop', 'cart', on('green-1')),
          daemonSet('infra', 'agent', {
            tolerations: [{ operator: 'Exists' }],
            podSpec: { nodeSelector: { 'topology.kubernetes.io/zone': 'blue' } },
          }),
        ],
        budgets: [pdb('shop', 'api', { minAvailable: 1 })],
      },
      { reader: [read], narrow: [narrow] },
    );
    process.env.PATH = installPlugin(cluster.directory);
    process.env.HOME = cluster.directory;
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  /** Pods that have gone come back once their nodes are open again. */
  const isAtRest = (): boolean =>
    cluster.api.list('nodes').some(({ spec }) => spec.unschedulable) || cluster.cluster.isIdle();
  const play = (file: URL): Promise<void> => {
    const type = terminal();
    return playTranscript(
      file,
      async (line) => {
        await until('pods to be back', isAtRest);
        return await type(line);
      },
      steady,
    );
  };

  it('drain-by-taint.md', () => play(page));

  it('errors.txt: nothing is changed', () => play(new URL('errors.txt', folder)));

  it('kube-controller-manager.txt', async () => {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    cluster.api.create('leases', {
      metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
      spec: { holderIdentity: 'host-1', leaseDurationSeconds: 3600, renewTime },
    });
    await play(new URL('kube-controller-manager.txt', folder));
  });
});
