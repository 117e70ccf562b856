import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createPressureMachine,
  type PressureCommand,
  type PressureSettingsInput,
} from '@taintmgr/core/pressure';
import { itNamesAll } from '../transcripts.ts';
import { evictions, Gi, machineWith, observationOf, pressurePod, see, usageOf } from './objects.ts';
import { itAnswersPressure } from './script.ts';

it('time goes forward', () => {
  const machine = createPressureMachine();
  machine.handle(5, { kind: 'tick' });
  assert.throws(() => machine.handle(4, { kind: 'tick' }), /time goes forward/);
});

it('a wake is never before what was heard last', () => {
  const machine = createPressureMachine({
    settings: { evictionHard: { 'memory.available': '1Gi' } },
  });
  const node = { uid: 'n', labels: {}, conditions: [] };
  machine.handle(0, { kind: 'synced' });
  machine.handle(1000, { kind: 'pressureNode', node: { ...node, name: 'n1' } });
  machine.handle(2000, { kind: 'pressureNode', node: { ...node, name: 'n2' } });
  assert.equal(machine.nextWake(), 2000);
  machine.handle(2000, { kind: 'tick' });
  assert.equal(machine.nextWake(), null);
});

const hard: PressureSettingsInput = { evictionHard: { 'memory.available': '1Gi' } };

describe('limits of all nodes together', () => {
  it('let so many evictions begin in a second', () => {
    const machine = createPressureMachine({
      settings: { ...hard, enforceNodeAllocatable: [] },
      evictionsPerSecond: 1,
    });
    machine.handle(0, { kind: 'synced' });
    for (const name of ['n1', 'n2', 'n3']) {
      const node = { name, uid: name, labels: {}, conditions: [] };
      machine.handle(0, { kind: 'pressureNode', node });
      machine.handle(0, {
        kind: 'pressurePod',
        pod: pressurePod(`on-${name}`, { nodeName: name }),
      });
      const observation = observationOf({ 'memory.available': [1, 8 * Gi, 0] }, [
        usageOf(`on-${name}`, { workingSetBytes: Gi }),
      ]);
      machine.handle(0, { kind: 'observed', nodeName: name, observation });
    }
    const at = [0, 500, 1000, 2000].map((now) =>
      evictions(machine.handle(now, { kind: 'tick' })).map(({ pod }) => pod.name),
    );
    assert.deepEqual(at, [['on-n1'], [], ['on-n2'], ['on-n3']]);
  });
});

it('waits between failed attempts grow, and begin anew after one that did not fail', () => {
  const pods = ['a', 'b'].map((name) => pressurePod(name));
  const machine = machineWith(pods, hard, { retryWaitMsMin: 1000, retryWaitMsMax: 60_000 });
  const usage = pods.map(({ name }) => usageOf(name, { workingSetBytes: Gi }));
  const attempt = (now: number, commands: readonly PressureCommand[], ok: boolean): number => {
    const [eviction] = evictions(commands);
    assert.ok(eviction);
    const failed = { kind: 'failed', status: 500, message: 'boom', retryAfter: null } as const;
    const outcome = ok ? ({ kind: 'done' } as const) : failed;
    machine.handle(now, { kind: 'result', id: eviction.id, outcome });
    machine.handle(now, { kind: 'tick' });
    return (machine.nextWake() ?? now) - now;
  };
  const low = (now: number) => observationOf({ 'memory.available': [1, 8 * Gi, now] }, usage);
  const first = attempt(1000, see(machine, 1000, low(1000)), false);
  const second = attempt(5000, machine.handle(5000, { kind: 'tick' }), false);
  assert.ok(first >= 500 && first <= 1000, `first wait ${first}`);
  assert.ok(second >= 1000 && second <= 2000, `second wait ${second}`);
  attempt(10_000, machine.handle(10_000, { kind: 'tick' }), true);
  machine.handle(11_000, { kind: 'pressurePodGone', uid: 'a' });
  const after = attempt(12_000, see(machine, 12_000, low(12_000)), false);
  assert.ok(after >= 500 && after <= 1000, `wait after success ${after}`);
});

itAnswersPressure('pools reclaim setbacks standby');

itNamesAll('pressure');
