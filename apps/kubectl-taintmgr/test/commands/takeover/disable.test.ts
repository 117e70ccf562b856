import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, Pod } from '@taintmgr/core';
import { duePods } from '../../../src/commands/takeover/disable.ts';
import { node, nodeFactsOf, now, pod, podFactsOf, taint, tolerates } from '../../world/values.ts';

// Which pods `takeover disable` evicts: those that kube-controller-manager was refused.

const hour = 3_600_000;
const second = 1000;

interface Case {
  readonly name: string;
  /** How many seconds ago the taint came by its own word; left out: it does not say. */
  readonly taintAgo?: number;
  readonly node?: Partial<Node>;
  readonly pod: Partial<Pod>;
  readonly ahead?: number;
  readonly due: boolean;
}

const bound = { boundAt: now - 24 * hour };

const cases: readonly Case[] = [
  { name: 'nothing tolerates the taint', pod: bound, due: true },
  { name: 'it tolerates it for ever', pod: { ...bound, ...tolerates('k', null) }, due: false },
  { name: 'it tolerates it for no time', pod: { ...bound, ...tolerates('k', 0) }, due: true },
  {
    name: 'the taint says that the time is over',
    taintAgo: 7200,
    pod: { ...bound, ...tolerates('k', 3600) },
    due: true,
  },
  {
    name: 'kubectl taint was run a minute ago',
    node: { taintsWrittenAt: now - 60 * second },
    pod: { ...bound, ...tolerates('k', 86_400) },
    due: false,
  },
  {
    name: 'kubectl taint was run two hours ago',
    node: { taintsWrittenAt: now - 2 * hour },
    pod: { ...bound, ...tolerates('k', 3600) },
    due: true,
  },
  {
    name: 'since when the taint is there nobody knows',
    node: { taintsWrittenAt: null },
    pod: { ...bound, ...tolerates('k', 3600) },
    due: false,
  },
  {
    name: 'another taint was written a minute ago, and taintmgr knows since when this one is there',
    node: { taintsWrittenAt: now - 60 * second, taintStarts: { 'k:NoExecute': now - 2 * hour } },
    pod: { ...bound, ...tolerates('k', 3600) },
    due: true,
  },
  {
    name: 'it was bound after the taint',
    taintAgo: 7200,
    pod: { boundAt: now - 4 * second, ...tolerates('k', 3600) },
    due: false,
  },
  {
    name: 'it was bound after the taint, and its time is over',
    taintAgo: 7200,
    pod: { boundAt: now - 61 * second, ...tolerates('k', 60) },
    due: true,
  },
  {
    name: 'it was bound in the second in which its time would begin',
    taintAgo: 7200,
    pod: { boundAt: now - 60 * second, ...tolerates('k', 60) },
    due: false,
  },
  {
    name: 'times in whole seconds count from their end',
    taintAgo: 60,
    pod: { ...bound, ...tolerates('k', 60) },
    due: false,
  },
  {
    name: 'it comes due a moment later',
    taintAgo: 60,
    pod: { ...bound, ...tolerates('k', 60) },
    ahead: 2 * second,
    due: true,
  },
  {
    name: 'its mark says that its deletion has begun, and it is there',
    taintAgo: 7200,
    pod: { ...bound, disruption: { reason: 'DeletionByTaintManager', manager: null } },
    due: true,
  },
  { name: 'it is a static pod', pod: { ...bound, mirror: true }, due: false },
  { name: 'it goes already', pod: { ...bound, deletionTimestamp: now }, due: false },
];

describe('takeover disable evicts what kube-controller-manager was refused', () => {
  for (const { name, taintAgo, node: fields, pod: podFields, ahead, due } of cases) {
    it(`${due ? 'a pod' : 'and no pod'} where ${name}`, () => {
      const one = { ...node('n1', taint('k:NoExecute', taintAgo)), ...fields };
      const pods = [podFactsOf(pod('db', podFields))];
      const found = duePods(pods, [nodeFactsOf(one)], now, ahead);
      assert.deepEqual(
        found.map((held) => [held.pod.name, held.why]),
        due ? [['db', 'for k']] : [],
      );
    });
  }
});
