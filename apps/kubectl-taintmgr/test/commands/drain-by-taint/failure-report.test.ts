import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '@taintmgr/core';
import type { Budget } from '@taintmgr/core/drain';
import { plainDrainSpec } from '@taintmgr/core/policy';
import { unseen } from '../../../src/commands/drain-by-taint/carry-out.ts';
import { renderLeft, verdictsOf } from '../../../src/commands/drain-by-taint/failure-report.ts';
import { resultOf } from '../../../src/commands/drain-by-taint/outcome.ts';
import { plain } from '../../../src/render/style.ts';
import { blocked, Drain, db, refusal, web } from '../../world/progressing-drain.ts';
import { budgetOf, node, now, pod, tolerates } from '../../world/values.ts';

describe('what a drain leaves behind', () => {
  const lines = (text: string): string => text.replace(/^\n/, '').replace(/^ {6}/gm, '').trimEnd();
  const budget = budgetOf('web', { expected: 3 });
  const hint =
    'hint: PDB shop/web: scale up or relax the PDB, or use --pdb-policy=delete-after:DURATION';
  const timeouts = { ...plainDrainSpec.timeouts, node: 5000 };
  const ceph = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', name: 'rook-ceph' };

  const cases: readonly (readonly [
    name: string,
    begin: () => Drain,
    budgets: readonly Budget[] | null,
    expected: string,
  ])[] = [
    [
      'pods held by a budget',
      () => {
        const going = pod('api-0', { deletionTimestamp: now });
        const drain = new Drain([web, going], { timeouts });
        drain.answer('web-0', blocked);
        drain.feed({ kind: 'tick' }, now + 5000);
        drain.answer('web-0', blocked, now + 5000);
        return drain;
      },
      [budget],
      `
      error: not drained because pods are blocked, 0 of 2 pods gone
        POD          NODE   STATE
        shop/web-0   n1     ${refusal} (1 try)
        shop/api-0   n1     terminating
      ${hint}`,
    ],
    [
      'pods held by a budget that would let nobody go',
      () => {
        const drain = new Drain([web], { once: true });
        drain.answer('web-0', blocked);
        return drain;
      },
      [{ ...budget, desired: 3 }],
      `
      error: not drained because pods are blocked, 0 of 1 pod gone
        POD          NODE   STATE
        shop/web-0   n1     ${refusal} (1 try; will not resolve by itself)
      ${hint}`,
    ],
    [
      'one of two nodes, held by a budget',
      () => {
        const drain = new Drain([web, pod('x', { nodeName: 'n2' })], { once: true });
        drain.answer('x', { kind: 'done' });
        drain.gone(pod('x', { nodeName: 'n2' }));
        drain.answer('web-0', blocked);
        return drain;
      },
      [{ ...budget, desired: 3 }],
      `
      error: 1 of 2 nodes drained; 1 pod stays on n1: PDB web needs action
        POD          NODE   STATE
        shop/web-0   n1     ${refusal} (1 try; will not resolve by itself)
      ${hint}`,
    ],
    [
      // longhorn/longhorn#3481, rook: to relax the budget of an operator may cost the data behind it.
      'pods held by the budget of an operator, which nobody else is to relax',
      () => {
        const drain = new Drain([web], { once: true });
        drain.answer('web-0', blocked);
        return drain;
      },
      [{ ...budget, desired: 3, owners: [ceph] }],
      `
      error: not drained because pods are blocked, 0 of 1 pod gone
        POD          NODE   STATE
        shop/web-0   n1     ${refusal} (1 try; its operator acts)`,
    ],
    [
      // longhorn/longhorn#4838: the budget of an instance manager has no owner.
      'pods held by budgets of people and by one that an operator may have made',
      () => {
        const drain = new Drain([web, db], { once: true });
        drain.answer('web-0', blocked);
        drain.answer('db-0', blocked);
        return drain;
      },
      [
        { ...budget, desired: 3, selector: { matchLabels: { app: 'web' } } },
        {
          ...{ ...budget, desired: 3, name: 'im', selector: { matchLabels: { app: 'db' } } },
          writers: ['longhorn-manager'],
        },
      ],
      `
      error: not drained because pods are blocked, 0 of 2 pods gone
        POD          NODE   STATE
        shop/web-0   n1     ${refusal} (1 try; will not resolve by itself)
        shop/db-0    n1     ${refusal} (1 try; may be its operator's)
      hint: PDB shop/web: scale up or relax the PDB
      hint: PDB shop/im may be its operator's (longhorn-manager wrote it): ask it before you change the PDB`,
    ],
    [
      'pods that take their time',
      () => {
        const drain = new Drain([pod('db-0', tolerates('maintenance', 60))], {
          timeouts,
        });
        drain.feed({ kind: 'tick' }, now + 5000);
        return drain;
      },
      null,
      `
      error: not drained within --timeout, 0 of 1 pod gone
        POD         NODE   STATE
        shop/db-0   n1     tolerates the taint until 2026-01-02T03:05:06Z`,
    ],
    [
      'pods that somebody else takes for the taint',
      () => {
        const drain = new Drain([web, pod('db-0', tolerates('maintenance', 60))]);
        drain.answer('web-0', blocked);
        const disruption = { reason: 'DeletionByTaintManager', manager: 'kube-controller-manager' };
        drain.feed({ kind: 'podUpsert', pod: { ...web, disruption } });
        return drain;
      },
      [budget],
      `
      error: stopped because kube-controller-manager evicts for the taint and ignores PDBs, 0 of 2 pods gone
        POD          NODE   STATE
        shop/web-0   n1     deleted by kube-controller-manager
        shop/db-0    n1     tolerates the taint until 2026-01-02T03:05:06Z`,
    ],
    [
      'rights that are missing',
      () => {
        const drain = new Drain([web]);
        const message = 'no\u001b[2J';
        drain.answer('web-0', { kind: 'failed', status: 403, message, retryAfter: null });
        return drain;
      },
      [],
      `
      error: the drain cannot continue, 0 of 1 pod gone
        POD          NODE   STATE
        shop/web-0   n1     no^[[2J (1 try)`,
    ],
    [
      'a taint that somebody took off, and zones not begun',
      () => {
        const limits = { ...plainDrainSpec.limits, heldUpNodes: 0 };
        const drain = new Drain([web, pod('x', { nodeName: 'n2' })], { order: 'ByZone', limits });
        drain.feed({ kind: 'nodeUpsert', node: node('n1') });
        return drain;
      },
      [],
      `
      error: the drain cannot continue, 0 of 2 nodes drained; 2 pods stay on n1, n2
        node n1: another program removed the taint
        node n2: not started, because an earlier zone failed
        POD          NODE   STATE
        shop/web-0   n1     being evicted
        shop/x       n2     not its turn yet`,
    ],
  ];
  for (const [name, begin, budgets, expected] of cases) {
    it(name, () => {
      const { machine } = begin();
      const result = resultOf(machine);
      const podOf = (uid: string): Pod =>
        uid === db.uid ? { ...db, labels: { app: 'db' } } : { ...web, labels: { app: 'web' } };
      const verdicts = verdictsOf(machine, budgets, podOf);
      assert.equal(renderLeft({ result, machine, refusal: null }, verdicts), lines(expected));
    });
  }

  it('many pods: a terminal shows the first of them, and how many more there are', () => {
    const pods = Array.from({ length: 12 }, (_, index) => pod(`web-${index}`));
    const { machine } = new Drain(pods);
    const end = { result: 'Interrupted', machine, refusal: null } as const;
    const shown = renderLeft(end, new Map(), { width: 80, paint: plain }).split('\n');
    assert.equal(shown.length, 8);
    assert.equal(shown.at(-1), '  and 7 pods more; -o json names all');
    assert.equal(renderLeft(end, new Map()).split('\n').length, 14);
  });

  it('an end before anything was read', () => {
    const targets = [{ name: 'n1', zone: '' }];
    const machine = unseen({ targets });
    const end = { result: 'Interrupted', machine, refusal: null } as const;
    assert.equal(
      renderLeft(end, new Map()),
      'error: interrupted before the pods were known; run the same command again to continue',
    );
    const refused = { result: 'Failed', machine, refusal: 'pods is forbidden' } as const;
    assert.equal(
      renderLeft(refused, new Map()),
      'error: the drain cannot continue before the pods were known: pods is forbidden',
    );
  });
});
