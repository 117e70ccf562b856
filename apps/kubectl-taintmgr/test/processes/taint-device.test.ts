import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import { startDeviceCluster } from '../world/device-cluster.ts';
import { installPlugin } from '../world/plugin.ts';
import { PseudoTerminal, withoutTerminal } from '../world/pseudo-terminal.ts';
import { run } from '../world/run.ts';
import { type TestCluster, until } from '../world/test-cluster.ts';

// taint-device: its question on a terminal, and what comes of it beside kube-controller-manager's machine.

const line =
  'kubectl taintmgr taint-device gpu.example.com/n1/gpu-0 health:NoExecute --name a --timeout 0s';
const question = /Evict 2 pods \(shop\/train-1, shop\/train-2\)\? \[y\/N\] /;
const stays = 'devicetaintrule/a stays with effect None and evicts no pods; to continue:';

describe('taint-device on a terminal', { skip: withoutTerminal }, () => {
  let cluster: TestCluster;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    cluster = await startDeviceCluster();
    const PATH = installPlugin(cluster.directory);
    env = { PATH, HOME: cluster.directory, KUBECONFIG: cluster.kubeconfig, NO_COLOR: '1' };
  });
  after(() => cluster.stop());
  afterEach(() => cluster.api.delete('devicetaintrules', '', 'a'));

  const effect = () => {
    const { spec } = cluster.api.get('devicetaintrules', '', 'a') ?? assert.fail('no rule');
    return (spec as { readonly taint: { readonly effect: string } }).taint.effect;
  };

  const cases: readonly (readonly [
    name: string,
    typed: string,
    code: number,
    says: string,
    effect: string,
  ])[] = [
    ['y', 'y\r', 0, 'taints health:NoExecute: 2 pods leave', 'NoExecute'],
    ['n', 'n\r', 1, `error: ${stays}`, 'None'],
    ['nothing', '\r', 1, `error: ${stays}`, 'None'],
    ['Ctrl-C', '\u0003', 130, `interrupted; ${stays}`, 'None'],
  ];
  for (const [name, typed, code, says, left] of cases) {
    it(`is answered by ${name}`, async () => {
      const terminal = new PseudoTerminal(line, env);
      await terminal.saw(question);
      assert.equal(effect(), 'None');
      terminal.type(typed);
      assert.equal(await terminal.ended(), code, terminal.shown);
      assert.ok(terminal.shown.includes(says), terminal.shown);
      assert.equal(effect(), left);
    });
  }
});

describe('taint-device beside a kube-controller-manager that heeds rules', () => {
  let cluster: TestCluster;
  let manager: UpstreamManager;
  before(async () => {
    cluster = await startDeviceCluster();
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { access } = await loadKubeconfig({ kubeconfig: cluster.kubeconfig });
    manager = new UpstreamManager(access, { lease: false, devices: { rules: true } });
    manager.start();
  });
  after(async () => {
    await manager.stop();
    await cluster.stop();
  });

  const type = (line: string) => run(...line.split(' '));
  const isLeaving = (name: string): boolean =>
    cluster.api.get('pods', 'shop', name)?.metadata.deletionTimestamp !== undefined;

  it('foretells whom it evicts, and nobody goes before NoExecute', async () => {
    const preview = await type('taint-device gpu.example.com/n1 health:None --name a --timeout 1m');
    assert.match(
      preview.out,
      /; 6 pods: 4 to evict, 2 to keep\nkube-controller-manager says: 6 published devices selected\. 5 allocated devices selected\. 4 pods would be evicted in 1 namespace if the effect was NoExecute\./,
    );
    assert.deepEqual(['train-1', 'train-2', 'batch-1', 'ext-1'].filter(isLeaving), []);
    const { code, err } = await type('taint-device devicetaintrule/a --yes --timeout 1m');
    assert.equal(code, 0, err);
    const going = ['train-1', 'train-2', 'batch-1'];
    await until('three pods to go', () => going.every(isLeaving));
    // One tolerates it for a day, one without limit, and one has an extended resource.
    assert.deepEqual(['train-3', 'agent-1', 'ext-1'].filter(isLeaving), []);
    const explained = await type('explain devicetaintrule a');
    assert.match(explained.out, /\nPods: +1 of 6 to evict, 3 terminating, 2 to keep\n/);
    assert.deepEqual(await type('undo devicetaintrule/a'), {
      code: 0,
      out: 'devicetaintrule.resource.k8s.io/a deleted\n1 pod that was to leave stays: shop/train-3\n',
      err: 'Warning: shop/batch-1, shop/train-1, shop/train-2 are terminating and do not come back\n',
    });
  });
});
