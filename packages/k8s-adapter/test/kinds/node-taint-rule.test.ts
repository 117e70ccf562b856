import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeTaintRule } from '@taintmgr/core/policy';
import { readManifest } from '../../src/kinds/manifest.ts';
import { manifest, now, read } from './read-kind.ts';

describe('NodeTaintRule', () => {
  const taint = { key: 'example.com/broken', effect: 'NoExecute' };
  const plain: NodeTaintRule = {
    name: 'one',
    uid: '',
    generation: 0,
    condition: 'KernelDeadlock',
    status: 'True',
    holdsMs: 0,
    clearMs: 0,
    taint: { ...taint, value: '' },
    nodes: {},
    nodesMax: null,
    dryRun: false,
  };
  it('has defaults', () => {
    const got = read('NodeTaintRule', { condition: { type: 'KernelDeadlock' }, taint });
    assert.deepEqual(got, { kind: 'NodeTaintRule', value: plain });
  });
  it('says all that it can', () => {
    const spec = {
      condition: { type: 'Ready', status: 'Unknown' },
      holds: '5m',
      clear: '30s',
      taint: { ...taint, value: 'yes' },
      nodeSelector: { matchLabels: { pool: 'spot' } },
      maxNodes: '07%',
      dryRun: true,
    };
    const value: NodeTaintRule = {
      ...plain,
      condition: 'Ready',
      status: 'Unknown',
      holdsMs: 300_000,
      clearMs: 30_000,
      taint: { ...taint, value: 'yes' },
      nodes: { matchLabels: { pool: 'spot' } },
      nodesMax: '7%',
      dryRun: true,
    };
    assert.deepEqual(read('NodeTaintRule', spec), { kind: 'NodeTaintRule', value });
  });
  const isRead = (key: string, effect: string): boolean => {
    const spec = { condition: { type: 'KernelDeadlock' }, taint: { key, effect } };
    return readManifest(manifest('NodeTaintRule', spec), now).kind === 'allowed';
  };
  const well = 'node.kubernetes.io';
  for (const [key, effect, expected] of [
    [`${well}/not-ready`, 'NoExecute', false],
    [`${well}/not-ready`, 'NoSchedule', false],
    [`${well}/not-ready`, 'PreferNoSchedule', true],
    [`${well}/unreachable`, 'NoExecute', false],
    [`${well}/memory-pressure`, 'NoSchedule', false],
    [`${well}/memory-pressure`, 'NoExecute', true],
    [`${well}/unschedulable`, 'NoSchedule', false],
    ['constructor', 'NoSchedule', true],
  ] as const) {
    it(`${expected ? 'may give' : 'leaves to the node-lifecycle-controller'} ${key}:${effect}`, () => {
      assert.equal(isRead(key, effect), expected);
    });
  }
});
