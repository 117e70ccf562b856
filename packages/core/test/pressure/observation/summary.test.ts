import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSummary } from '@taintmgr/core/pressure';

describe('the Summary API', () => {
  const time = '2000-01-01T00:00:00Z';
  const at = 946_684_800_000;

  it('is read signal by signal', () => {
    const { samples, pods } = readSummary({
      node: {
        memory: { time, availableBytes: 3, workingSetBytes: 4 },
        fs: { time, availableBytes: 1, capacityBytes: 10, inodesFree: 2, inodes: 20 },
        runtime: { imageFs: { availableBytes: 5 } },
        rlimit: { maxpid: 100, curproc: 40 },
        systemContainers: [
          { name: 'kubelet', memory: { availableBytes: 9, workingSetBytes: 9 } },
          { name: 'pods', memory: { time, availableBytes: 7, workingSetBytes: 1 } },
        ],
      },
      pods: [
        {
          podRef: { uid: 'u' },
          memory: { workingSetBytes: 5 },
          process_stats: { process_count: 6 },
          'ephemeral-storage': { usedBytes: 7 },
          containers: [{ name: 'c', logs: { usedBytes: 1, inodesUsed: 2 } }],
          volume: [{ name: 'v', usedBytes: 8, inodesUsed: 9 }],
        },
        { podRef: {} },
      ],
    });
    assert.deepEqual(samples, {
      'memory.available': { available: 3, capacity: 7, time: at },
      'allocatableMemory.available': { available: 7, capacity: 8, time: at },
      'nodefs.available': { available: 1, capacity: 10, time: at },
      'nodefs.inodesFree': { available: 2, capacity: 20, time: at },
      'pid.available': { available: 60, capacity: 100, time: null },
    });
    assert.deepEqual(pods, [
      {
        uid: 'u',
        workingSetBytes: 5,
        processes: 6,
        storageBytes: 7,
        containers: [
          {
            name: 'c',
            workingSetBytes: null,
            rootfs: { usedBytes: null, inodesUsed: null },
            logs: { usedBytes: 1, inodesUsed: 2 },
          },
        ],
        volumes: [{ name: 'v', usedBytes: 8, inodesUsed: 9 }],
      },
    ]);
  });

  it('counts the commit charge on Windows', () => {
    const memory = { availableBytes: 30, usageBytes: 70 };
    const { samples } = readSummary({
      node: {
        memory: { availableBytes: 1, workingSetBytes: 1 },
        systemContainers: [{ name: 'windows-global-commit-memory', memory }],
      },
    });
    assert.deepEqual(samples['memory.available'], { available: 30, capacity: 100, time: null });
  });

  const strange: readonly unknown[] = [null, 'busy', [], { node: 3, pods: {} }, { pods: [null] }];
  for (const answer of strange) {
    it(`sees nothing in ${JSON.stringify(answer)}`, () => {
      assert.deepEqual(readSummary(answer), { samples: {}, pods: [] });
    });
  }
});
