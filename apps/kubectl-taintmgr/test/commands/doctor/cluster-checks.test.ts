import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, Pod } from '@taintmgr/core';
import type { Budget } from '@taintmgr/core/drain';
import { actorOf, type Evictors, type Evidence } from '@taintmgr/k8s-adapter';
import type { Evictor, NodeFacts, PodFacts } from '@taintmgr/k8s-adapter/survey';
import {
  checkBarePods,
  checkBudgets,
  checkStuckPods,
  checkTaints,
} from '../../../src/commands/doctor/cluster-checks.ts';
import { checkOverlap } from '../../../src/commands/doctor/controller-checks.ts';
import type { Finding } from '../../../src/commands/doctor/finding.ts';
import { acts, may, withUpstream } from '../../world/explained.ts';
import { node, nodeFactsOf, now, pod, podFactsOf, surveyOf, taint } from '../../world/values.ts';

// What checks of the doctor say of a cluster that was read, at the bounds of what they look for.

const minute = 60_000;

/** Level, what it is about, and the message of each finding. */
function told(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ level, about, message }) => `${level} ${about}: ${message}`);
}

describe('pods that should have ended long ago', () => {
  const ready = nodeFactsOf(node('n1'));
  const off = { status: 'False', since: now, reason: 'KubeletNotReady' } as const;
  const cases: readonly (readonly [string, Partial<Pod>, Partial<PodFacts>, NodeFacts, string])[] =
    [
      ['it stays', {}, {}, ready, 'OK : no pod is stuck'],
      [
        'it goes for less than 10 minutes',
        { deletionTimestamp: now - 10 * minute + 1 },
        {},
        ready,
        'OK : no pod is stuck',
      ],
      [
        'it goes for 10 minutes',
        { deletionTimestamp: now - 10 * minute },
        {},
        ready,
        'WARN pod/web -n shop: should have terminated 10m ago',
      ],
      [
        'somebody keeps it',
        { deletionTimestamp: now - 10 * minute },
        { finalizers: ['example.com/wait'] },
        ready,
        'WARN pod/web -n shop: should have terminated 10m ago: finalizers example.com/wait',
      ],
      [
        'its kubelet says that it is not ready',
        { deletionTimestamp: now - 10 * minute },
        {},
        nodeFactsOf(node('n1'), { ready: off }),
        'WARN pod/web -n shop: should have terminated 10m ago: node n1 is not ready',
      ],
      [
        'its machine seems to be dead',
        { deletionTimestamp: now - 1000 },
        {},
        nodeFactsOf(node('n1'), { ready: { ...off, status: 'Unknown', since: now - 5 * minute } }),
        'WARN pod/web -n shop: should have terminated 1s ago: node n1 is not ready',
      ],
      [
        'it has time left on a dead machine',
        { deletionTimestamp: now + 1000 },
        {},
        nodeFactsOf(node('n1'), { ready: { ...off, status: 'Unknown', since: now - 5 * minute } }),
        'OK : no pod is stuck',
      ],
      [
        'it was never on a node',
        { deletionTimestamp: now - 10 * minute, nodeName: '' },
        {},
        ready,
        'WARN pod/web -n shop: should have terminated 10m ago',
      ],
    ];
  for (const [name, fields, facts, on, expected] of cases) {
    it(`${expected.slice(0, 4).trim()} where ${name}`, () => {
      const survey = surveyOf([on], [podFactsOf(pod('web', fields), facts)]);
      assert.deepEqual(told(checkStuckPods(survey)), [expected]);
    });
  }
});

describe('taints of which nobody knows when they came', () => {
  const unknown =
    'WARN node/n1: k:NoExecute has no timeAdded, and managedFields do not show when it was added: ' +
    'deadlines count from when it is first seen';
  const known = 'OK : the start of every NoExecute taint is known';
  const cases: readonly (readonly [string, Node, string])[] = [
    ['nothing says so', node('n1', taint('k:NoExecute')), unknown],
    ['the taint says so', node('n1', taint('k:NoExecute', 60)), known],
    ['managedFields do', { ...node('n1', taint('k:NoExecute')), taintsWrittenAt: now }, known],
    ['nobody leaves for it', node('n1', taint('k:NoSchedule')), known],
  ];
  for (const [name, one, expected] of cases) {
    it(`${expected.slice(0, 4).trim()} where ${name}`, () => {
      assert.deepEqual(told(checkTaints(surveyOf([nodeFactsOf(one)], []))), [expected]);
    });
  }
});

describe('pods that nobody makes anew', () => {
  it('are named, but for those that go already', () => {
    const bare = { owner: null };
    const pods = [
      pod('stays', bare),
      pod('goes', { ...bare, deletionTimestamp: now }),
      pod('owned'),
    ].map((one) => podFactsOf(one));
    const [found, ...more] = told(checkBarePods(surveyOf([], pods)));
    assert.match(found ?? '', /^INFO : 1 pod has no controller \(shop\/stays\)/);
    assert.deepEqual(more, []);
  });
});

describe('budgets of operators', () => {
  const shut: Budget = {
    ...{
      namespace: 'shop',
      name: 'im',
      selector: {},
      allowed: 0,
      healthy: 1,
      desired: 1,
      expected: 1,
    },
    ...{ upToDate: true, alwaysEvictUnhealthy: false, refusal: null },
  };
  const owner = { apiVersion: 'longhorn.io/v1beta2', kind: 'InstanceManager', name: 'im-1' };
  const pods = [podFactsOf(pod('im-1', { owner, labels: {}, ready: 'True' }))];
  const fixes = (budgets: readonly Budget[]): readonly string[] =>
    checkBudgets(surveyOf([], pods, { budgets })).map(({ message, fix }) => `${message}; ${fix}`);

  it('that have no owner are not to be relaxed before the operator is asked', () => {
    assert.deepEqual(fixes([shut]), [
      "needs 1 of 1 pods healthy (1 are): it never allows an eviction, which may be its operator's doing " +
        '(its pods belong to InstanceManager/im-1 (longhorn.io/v1beta2)); ask that operator before you change the PDB',
    ]);
  });

  it('that share pods with others are left alone', () => {
    const shared = fixes([
      { ...shut, owners: [owner] },
      { ...shut, name: 'mine', allowed: 1 },
    ]);
    assert.match(shared.join(), /leave one PDB for each pod, that of InstanceManager\/im-1$/);
  });
});

describe('what may not be seen', () => {
  it('is said, and is not taken for well', () => {
    const survey = { ...surveyOf([], []), nodes: null, pods: null, budgets: null };
    const checks = [checkBudgets, checkStuckPods, checkTaints, checkBarePods];
    assert.deepEqual(
      checks.flatMap((check) => told(check(survey))),
      [
        'INFO : no permission to list PodDisruptionBudgets',
        'INFO : no permission to list pods',
        'INFO : no permission to list nodes',
        'INFO : no permission to list pods',
      ],
    );
  });
});

describe('who evicts', () => {
  const seen = (name: string): Evidence => {
    return { kind: 'published', name, leader: `${name}_1`, startedAt: null, age: 0 };
  };
  const ours = (...evidence: readonly Evidence[]) => ({ ...acts, evidence });
  const off = withUpstream({ kind: 'doesNotAct', evidence: [] });
  const cases: readonly (readonly [string, Evictors, Partial<Evictor>, RegExp])[] = [
    [
      'one installation',
      { ...off, taintmgr: ours(seen('a')) },
      {},
      /^OK : taintmgr-controller runs/,
    ],
    [
      'two installations',
      { ...off, taintmgr: ours(seen('a'), seen('b')) },
      {},
      /^WARN : 2 installations of taintmgr-controller run/,
    ],
    [
      'one that takes over',
      { ...withUpstream(acts), taintmgr: ours(seen('a')) },
      { takesOver: true },
      /^OK : .*: kube-controller-manager evicts in namespaces that are not taken over$/,
    ],
    [
      'two of which one takes over',
      { ...withUpstream(acts), taintmgr: ours(seen('a'), seen('b')) },
      { takesOver: true },
      /^WARN : .*; taintmgr-controller \(x\) runs too: the one that ignores PDBs wins$/,
    ],
    [
      'one beside a kube-controller-manager whose flags cannot be seen',
      { ...withUpstream(may), taintmgr: ours(seen('a')) },
      {},
      /^WARN : taintmgr-controller runs.*; kube-controller-manager: /,
    ],
    ['kube-controller-manager', withUpstream(acts), {}, /^INFO : kube-controller-manager/],
  ];
  for (const [name, evictors, fields, expected] of cases) {
    it(name, () => {
      const evictor = { ...actorOf(evictors), asksBudgets: null, ...fields };
      const [found, ...more] = told(checkOverlap(surveyOf([], [], { evictors, evictor })));
      assert.match(found ?? '', expected);
      assert.deepEqual(more, []);
    });
  }
});
