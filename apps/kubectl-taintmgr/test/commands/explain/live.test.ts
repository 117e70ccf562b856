import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { node, pod, toleration } from '@taintmgr/sim-cluster';
import { startDeviceCluster, writeProgress } from '../../world/device-cluster.ts';
import { installPlugin, withoutKubectl } from '../../world/plugin.ts';
import { escapeCharacter, PseudoTerminal, withoutTerminal } from '../../world/pseudo-terminal.ts';
import { start } from '../../world/run.ts';
import { ago, fillShop, keepRenewing, renewLeases } from '../../world/shop-cluster.ts';
import {
  leaveTaints,
  startTestCluster,
  type TestCluster,
  until,
} from '../../world/test-cluster.ts';

// `explain -w`: it goes on, and shows what changes.

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster(null);
  fillShop(cluster);
  leaveTaints(cluster.api);
  process.env.KUBECONFIG = cluster.kubeconfig;
});
// A leader without a sign of life is looked at twice, three seconds apart.
beforeEach(() => renewLeases(cluster));
after(() => cluster.stop());

/** Puts a pod on node-b2, which has no taints yet, or takes it away. */
function addPod(name: string, tolerations: object[] = []): void {
  const spec = { nodeName: 'node-b2', tolerations };
  cluster.api.create('pods', pod('shop', name, { spec } as Parameters<typeof pod>[2]));
}

function taint(nodeName: string, keys: readonly string[]): void {
  const node = cluster.api.get('nodes', '', nodeName);
  assert.ok(node);
  const taints = keys.map((key) => ({ key, effect: 'NoExecute' }));
  cluster.api.update('nodes', { ...node, spec: { ...node.spec, taints } });
}

describe('explain -w for a script', () => {
  it('writes the whole at first, then the lines that changed, and ends quietly', async () => {
    const { output, interrupt, result } = start(['explain', 'node', 'node-b2', '-w']);
    await output.saw(/^shop +bare +Keep/m);
    taint('node-b2', ['late']);
    await output.saw(/^shop +bare +Evict +now +<none> +no toleration for late:NoExecute$/m);
    addPod('second', [toleration('late:NoExecute', 3600)]);
    await output.saw(/^shop +second +Evict +(1h|59m)/m);
    taint('node-b2', []);
    await output.saw(/second +Keep[\s\S]*/);
    interrupt();
    const { code, out, err } = await result;
    assert.equal(code, 130);
    assert.doesNotMatch(err, /timeAdded|estimate/, 'it saw the taint coming');
    assert.equal(out.match(/^Name:/gm)?.length, 1, out);
    assert.equal(out.match(/^NAMESPACE/gm)?.length, 1, out);
  });

  it('writes a document for each change', async () => {
    const args = ['explain', 'pod', 'web-3', '-n', 'shop', '-w', '-o', 'jsonpath={.decision}\n'];
    const { output, interrupt, result } = start(args);
    await output.saw(/^Evict$/m);
    taint('node-b1', []);
    await output.saw(/^Keep$/m);
    interrupt();
    assert.deepEqual((await result).out, 'Evict\nKeep\n');
    taint('node-b1', ['bad-disk']);
  });

  it('writes a zone once while only time passes, though its pods are due', async (t) => {
    // A busy machine takes longer than the leader's lease lasts.
    t.after(keepRenewing(cluster));
    const taints = [{ key: 'due', effect: 'NoExecute', timeAdded: ago(60) }];
    const labels = { 'topology.kubernetes.io/zone': 'zone-z' };
    cluster.api.create('nodes', node('node-z1', { labels, spec: { taints } }));
    cluster.api.create('pods', pod('shop', 'due', { spec: { nodeName: 'node-z1' } }));
    const { output, interrupt, result } = start([
      'explain',
      'zone',
      'zone-z',
      '-w',
      '-o',
      'jsonpath=x\n',
    ]);
    await output.saw(/^x$/m);
    const reads = (): number =>
      cluster.answers.filter((line) => line.startsWith('GET /api/v1/nodes')).length;
    const before = reads();
    await until('two more looks', () => reads() >= before + 7);
    interrupt();
    assert.equal((await result).out, 'x\n');
  });

  it('remembers since when it has seen a taint that does not say so', async () => {
    const line = [
      'explain',
      'node',
      'node-b1',
      '-w',
      '-o',
      'jsonpath={.pods[0].because[0].countsFrom}\n',
    ];
    const { output, interrupt, result } = start(line);
    await output.saw(/^20\d\d-/m);
    for (const label of ['x', 'y']) {
      const before = output.outText;
      const web = cluster.api.get('pods', 'shop', 'web-3');
      assert.ok(web);
      const labels = { ...web.metadata.labels, label };
      cluster.api.update('pods', { ...web, metadata: { ...web.metadata, labels } });
      assert.equal(output.outText, before);
    }
    interrupt();
    const { out, err } = await result;
    assert.match(err, /^Note: taint bad-disk:NoExecute has no timeAdded; /m);
    assert.equal(new Set(out.trim().split('\n')).size, 1, out);
  });

  it('goes on when the API server is away for a while', async () => {
    const { output, interrupt, result } = start(['explain', 'node', 'node-b2', '-w']);
    await output.saw(/^shop +bare +Keep/m);
    cluster.api.faults.down = true;
    await output.saw(/what is shown is old/);
    cluster.api.faults.down = false;
    addPod('third');
    await output.saw(/^shop +third +Keep/m);
    interrupt();
    assert.equal((await result).code, 130);
  });

  it('ends when the node is gone', async () => {
    const { output, result } = start(['explain', 'node', 'node-a3', '-w']);
    await output.saw(/^Pods: +<none>$/m);
    cluster.api.delete('nodes', '', 'node-a3');
    const { code, err } = await result;
    const hint = 'hint: which pods left it, if it is gone: kubectl taintmgr history node node-a3';
    const missing = `Error from server (NotFound): nodes "node-a3" not found\n${hint}\n`;
    assert.deepEqual([code, err], [1, missing]);
  });
});

describe('explain -w where devices are tainted', () => {
  it('shows that a rule makes the pod go', async (t) => {
    const devices = await startDeviceCluster();
    const { KUBECONFIG } = process.env;
    t.after(async () => {
      process.env.KUBECONFIG = KUBECONFIG;
      await devices.stop();
    });
    process.env.KUBECONFIG = devices.kubeconfig;
    devices.api.create('nodes', node('n1', {}));
    const args = ['explain', 'pod', 'train-1', '-n', 'shop', '-w', '-o'];
    const { output, interrupt, result } = start([...args, 'jsonpath={.decision}\n']);
    await output.saw(/^Keep/m);
    devices.api.create('devicetaintrules', {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'DeviceTaintRule',
      metadata: { name: 'ecc' },
      spec: {
        deviceSelector: { driver: 'gpu.example.com', device: 'gpu-0' },
        taint: { key: 'health', effect: 'NoExecute' },
      },
    });
    writeProgress(devices.api, 'ecc', 'PodsPendingEviction', '2 pods need to be evicted.');
    await output.saw(/^Evict/m);
    interrupt();
    assert.equal((await result).code, 130);
  });
});

describe('explain -w on a terminal', { skip: withoutKubectl || withoutTerminal }, () => {
  let env: NodeJS.ProcessEnv;
  before(() => {
    const { directory, kubeconfig } = cluster;
    env = { PATH: installPlugin(directory), HOME: directory, KUBECONFIG: kubeconfig };
  });

  it('keeps the heading and the soonest pods where there is no room for all', async () => {
    // A node that is about to be Unknown takes a line more.
    renewLeases(cluster);
    const line = 'kubectl taintmgr explain node node-a1 -w';
    const terminal = new PseudoTerminal(line, { ...env, NO_COLOR: '1' }, 'cols 200 rows 12');
    await terminal.saw(/\n\.\.\. \d more/);
    terminal.type('\u0003');
    assert.equal(await terminal.ended(), 130, terminal.shown);
    assert.match(
      terminal.shown,
      /Name: {9}node-a1[\s\S]*NAMESPACE +POD[\s\S]*api-1[\s\S]*\.\.\. 5 more/,
    );
    assert.doesNotMatch(terminal.shown, /cart-1/, 'it is last');
  });

  it('rewrites what it shows in place, in colours, and ends with Ctrl-C', async () => {
    const terminal = new PseudoTerminal('kubectl taintmgr explain node node-a1 -w', env);
    await terminal.saw(/db-0/);
    const node = cluster.api.get('nodes', '', 'node-a1');
    assert.ok(node);
    cluster.api.update('nodes', { ...node, spec: { ...node.spec, taints: [] } });
    await terminal.saw(/no NoExecute taints/);
    terminal.type('\u0003');
    assert.equal(await terminal.ended(), 130, terminal.shown);
    assert.ok(terminal.shown.includes(`${escapeCharacter}[2K`), 'lines were erased');
    assert.ok(terminal.shown.includes(`${escapeCharacter}[31m`), 'what is urgent is red');
    assert.doesNotMatch(terminal.shown, /error/);
  });
});
