import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { startDeviceCluster } from '../world/device-cluster.ts';
import { installPlugin } from '../world/plugin.ts';
import { PseudoTerminal, withoutTerminal } from '../world/pseudo-terminal.ts';
import type { TestCluster } from '../world/test-cluster.ts';

// The question of taint-device, on a terminal.

const line =
  'kubectl taintmgr taint-device gpu.example.com/n1/gpu-0 health:NoExecute --name a --timeout 0s';
const question = /Evict 2 pods \(shop\/train-1, shop\/train-2\)\? \[y\/N\] /;
const stays = 'devicetaintrule/a stays with effect None and evicts nobody; to go on:';

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
    ['y', 'y\r', 0, 'taints health:NoExecute: 2 pods go', 'NoExecute'],
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
