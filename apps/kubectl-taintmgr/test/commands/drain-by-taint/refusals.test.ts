import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BudgetPolicy } from '@taintmgr/core/policy';
import { actorOf, type Evictors } from '@taintmgr/k8s-adapter';
import type { Evictor } from '@taintmgr/k8s-adapter/survey';
import { overlapFault } from '../../../src/commands/drain-by-taint/refusals.ts';
import { acts, may, withUpstream } from '../../world/explained.ts';
import { taint } from '../../world/values.ts';

// When a drain with a NoExecute taint is refused: whoever else evicts for it takes the pods without
// asking budgets.

const flag = '--controllers=*,-taint-eviction-controller';
const names = { namespace: 'kube-system', name: 'kcm', uid: 'u' };
const switchedOff = withUpstream({
  kind: 'doesNotAct',
  evidence: [{ kind: 'pod', ...names, says: flag, startedAt: null }],
});
const noTrace = withUpstream({ kind: 'unknown', who: null, evidence: [{ kind: 'noPod' }] });
const declared = withUpstream({
  kind: 'doesNotAct',
  evidence: [{ kind: 'declared', by: 'TaintManager taintmgr', runs: false }],
});
const ours: Evictors = { ...switchedOff, taintmgr: acts };
const both: Evictors = { ...withUpstream(acts), taintmgr: acts };

const respect = { kind: 'respect' } as const;
const leaves = { heedsDrains: true, asksBudgets: true };
const deletes = { heedsDrains: true, asksBudgets: false };

interface Case {
  readonly name: string;
  readonly evictors: Evictors;
  readonly evictor?: Partial<Evictor>;
  readonly budgets?: BudgetPolicy;
  readonly effect?: string;
  /** Null: the drain may begin. */
  readonly fault: RegExp | null;
}

const cases: readonly Case[] = [
  { name: 'kube-controller-manager is switched off', evictors: switchedOff, fault: null },
  { name: 'nobody was seen, which proves nothing', evictors: noTrace, fault: /is unknown/ },
  { name: 'its administrator says that it does not', evictors: declared, fault: null },
  {
    name: 'kube-controller-manager evicts',
    evictors: withUpstream(acts),
    fault: /^kube-controller-manager .*; use k:NoSchedule, /,
  },
  { name: 'it may', evictors: withUpstream(may), fault: /^kube-controller-manager .*may evict/ },
  {
    name: 'it evicts, for the taint of a drain that is none for it',
    evictors: withUpstream(acts),
    effect: 'NoSchedule',
    fault: null,
  },
  {
    name: 'taintmgr-controller leaves pods to drains',
    evictors: ours,
    evictor: leaves,
    fault: null,
  },
  {
    name: 'taintmgr-controller knows nothing of drains',
    evictors: ours,
    evictor: { asksBudgets: true },
    fault: /^taintmgr-controller .*; use k:NoSchedule, /,
  },
  {
    name: 'taintmgr-controller deletes what the drain leaves',
    evictors: ours,
    evictor: deletes,
    fault: /^taintmgr-controller deletes the pods that the drain leaves, without asking PDBs/,
  },
  {
    name: 'it does, and the drain asks no budgets either',
    evictors: ours,
    evictor: deletes,
    budgets: { kind: 'ignore' },
    fault: null,
  },
  {
    name: 'whether taintmgr-controller asks budgets is not known',
    evictors: ours,
    evictor: { heedsDrains: true, asksBudgets: null },
    fault: /^taintmgr-controller deletes/,
  },
  {
    name: 'kube-controller-manager evicts beside a taintmgr-controller that leaves pods to drains',
    evictors: both,
    evictor: leaves,
    fault: /; use k:NoSchedule, for which no other controller evicts/,
  },
];

describe('a drain with a NoExecute taint, where others may evict for it', () => {
  for (const { name, evictors, evictor, budgets = respect, effect, fault } of cases) {
    it(`${fault ? 'is refused' : 'begins'} where ${name}`, () => {
      const wanted = { ...taint('k:NoExecute'), ...(effect !== undefined && { effect }) };
      const survey = { evictors, evictor: { ...actorOf(evictors), asksBudgets: null, ...evictor } };
      const found = overlapFault(wanted, survey, budgets);
      if (fault) assert.match(found ?? '', fault);
      else assert.equal(found, null);
    });
  }
});
