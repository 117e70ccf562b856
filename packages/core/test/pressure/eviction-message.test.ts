import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PressureSettingsInput } from '@taintmgr/core/pressure';
import {
  evictions,
  Gi,
  Mi,
  machineWith,
  observationOf,
  pressurePod,
  see,
  semanticsNames,
  usageOf,
} from './objects.ts';

const hard: PressureSettingsInput = { evictionHard: { 'memory.available': '1Gi' } };

describe('what is said of an evicted pod', () => {
  const container = (name: string, requests: Readonly<Record<string, string>> = {}) => ({
    name,
    requests,
  });
  const used = (name: string, bytes: number) => ({
    name,
    workingSetBytes: bytes,
    rootfs: { usedBytes: bytes / 2, inodesUsed: null },
    logs: { usedBytes: bytes / 2, inodesUsed: null },
  });

  it('names containers that use more than they asked for, in the order in which they were seen', () => {
    const pod = pressurePod('web', {
      containers: [container('a', { memory: '100Mi' }), container('b')],
      initContainers: [container('init', { memory: '1Gi' })],
    });
    const usage = usageOf('web', {
      workingSetBytes: 800 * Mi,
      containers: [
        used('b', 600 * Mi),
        used('stranger', Gi),
        used('init', Mi),
        used('a', 200 * Mi),
      ],
    });
    const machine = machineWith([pod], hard);
    const commands = see(
      machine,
      1000,
      observationOf({ 'memory.available': [500 * Mi, 8 * Gi, 1000] }, [usage]),
    );
    const [eviction] = evictions(commands);
    assert.deepEqual(eviction?.status, {
      phase: 'Failed',
      reason: 'Evicted',
      message:
        'The node was low on resource: memory. Threshold quantity: 1Gi, available: 500Mi. ' +
        'Container b was using 600Mi, request is 0, has larger consumption of memory. ' +
        'Container a was using 200Mi, request is 100Mi, has larger consumption of memory. ',
      disruptionTarget: 'TerminationByKubelet',
    });
    const done = { kind: 'done' } as const;
    const accepted = machine.handle(1001, { kind: 'result', id: eviction.id, outcome: done });
    assert.deepEqual(
      accepted.flatMap((one) => (one.kind === 'recordPressureEvent' ? [one.annotations] : [])),
      [
        {
          offending_containers: 'b,a',
          offending_containers_usage: '600Mi,200Mi',
          starved_resource: 'memory',
        },
      ],
    );
  });

  it('blames a pod that asked for memory as a whole only where it uses more', () => {
    const pod = pressurePod('web', { resources: { requests: { memory: '4Gi' } } });
    const usage = [usageOf('web', { workingSetBytes: Gi })];
    const seen = observationOf({ 'memory.available': [500 * Mi, 8 * Gi, 1000] }, usage);
    const messages = semanticsNames.map((semantics) => {
      const [eviction] = evictions(see(machineWith([pod], hard, { semantics }), 1000, seen));
      return eviction?.status.message.split('available: 500Mi. ')[1];
    });
    const blame = 'Pod web was using 1Gi, request is 4Gi, has larger consumption of memory. ';
    assert.deepEqual(messages, ['', blame, blame]);
  });
});
