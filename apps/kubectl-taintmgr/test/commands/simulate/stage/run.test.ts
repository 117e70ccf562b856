import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Config, resolveConfig } from '@taintmgr/core';
import { node } from '@taintmgr/sim-cluster';
import { readScript } from '../../../../src/commands/simulate/script/script.ts';
import { gather } from '../../../../src/commands/simulate/source/input/gathering.ts';
import { snapshotSource } from '../../../../src/commands/simulate/source/snapshot.ts';
import { engineConfig, simulate } from '../../../../src/commands/simulate/stage/run.ts';

const leave = { finishedPods: true, returningDaemonSetPods: true, optedOutPods: false };
const lifecycle = { nodeMonitorGracePeriodMs: 20_000, nodeEvictionRate: 2 };
const inCluster: Partial<Config> = { mode: 'evict', lifecycle, leave };

const cases: readonly (readonly [string, Partial<Config>, Partial<Config>])[] = [
  ['nothing', {}, inCluster],
  ['another setting', { blockedRetryWaitMs: 1 }, { ...inCluster, blockedRetryWaitMs: 1 }],
  [
    'one of a group',
    { lifecycle: { nodeEvictionRate: 0.5 } },
    { ...inCluster, lifecycle: { ...lifecycle, nodeEvictionRate: 0.5 } },
  ],
  [
    'what a pod is left for',
    { leave: { ...leave, optedOutPods: true } },
    { ...inCluster, leave: { ...leave, optedOutPods: true } },
  ],
  ['that nobody watches over nodes', { lifecycle: null }, { ...inCluster, lifecycle: null }],
];

describe('how the controller of a simulation is set up', () => {
  for (const [what, script, expected] of cases) {
    it(`is as in the cluster where the script says ${what}`, () => {
      assert.deepEqual(engineConfig(inCluster, script), expected);
      assert.doesNotThrow(() => resolveConfig(engineConfig(inCluster, script)));
    });
  }

  it('leaves a node as much time as in the cluster where the script says how fast nodes are tainted', () => {
    const values = [node('n1'), node('n2')];
    const source = snapshotSource('test', gather('test', values));
    const engine = { lifecycle: { nodeMonitorGracePeriodMs: 200_000 } };
    const until = 600_000;
    const text = `
engine: {lifecycle: {nodeEvictionRate: 0.5}}
events:
- {at: 1m, stopKubelet: {node: n1}}
`;
    const script = readScript('script.yaml', text, until);
    const options = { script, seed: 1, until, semantics: 'precise', policies: [] } as const;
    const { recording } = simulate({ ...options, source: { ...source, engine } });
    const states = recording.nodes.find(({ name }) => name === 'n1')?.states ?? [];
    const unknownAt = states.find(({ at, ready }) => at > 60 && ready === 'Unknown')?.at ?? 0;
    assert.ok(unknownAt > 245 && unknownAt < 275, `at ${unknownAt}`);
  });
});
