import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '@taintmgr/core';
import type { Budget } from '@taintmgr/core/drain';
import type { Evictors } from '@taintmgr/k8s-adapter';
import {
  blockerLine,
  blockersText,
  notesOn,
  podDocument,
  podsIn,
  present,
  reportOnPresent,
} from '@taintmgr/k8s-adapter/explain';
import { assumingNumbers } from '@taintmgr/k8s-adapter/survey';
import { pendingColumns } from '../../src/commands/pending.ts';
import { acts, by, explain, may, survey, withUpstream } from '../world/explained.ts';
import {
  budgetOf,
  node,
  nodeFactsOf,
  now,
  pod,
  podFactsOf,
  surveyOf,
  taint,
} from '../world/values.ts';

const shut = budgetOf('db', { healthy: 1, desired: 1, expected: 1 });
const cluster = { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', name: 'db' };
const machine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm' };
const needs = 'The disruption budget db needs 1 healthy pods and has 1 currently';

function look(pods: readonly Pod[], budgets: readonly Budget[] = []) {
  const nodes = [nodeFactsOf(node('n1', taint('bad=disk:NoExecute', 5)))];
  const read = pods.map((one) => podFactsOf(one));
  const survey = surveyOf(nodes, read, { budgets });
  const report = reportOnPresent(survey);
  const reports = podsIn(report);
  const [first] = reports;
  assert.ok(first);
  return {
    cell: blockersText(first.blockers, true),
    lines: first.blockers.map(blockerLine),
    document: podDocument(first, now),
    ...notesOn(survey, report, present),
  };
}

const ready = { ready: 'True' } as const;

describe('who has to see to a pod that is held', () => {
  it('somebody, where a budget never allows anything', () => {
    const { cell, warnings } = look([pod('db-1', ready)], [shut]);
    assert.equal(cell, 'PDB db (needs action)');
    assert.deepEqual(warnings, [
      `PDB shop/db: ${needs}; will not resolve by itself: scale up or relax the PDB`,
    ]);
  });

  it('somebody, where thousands of budgets select one pod: tables name some, json all', () => {
    const budgets = Array.from({ length: 5000 }, (_, index) => ({ ...shut, name: `db-${index}` }));
    const { cell, warnings, document } = look([pod('db-1', ready)], budgets);
    assert.equal(cell, 'PDBs db-0, db-1, db-2 and 4997 more (needs action)');
    assert.match(warnings.join(), /^PDB shop\/db-0, shop\/db-1, shop\/db-2 and 4997 more: /);
    assert.match(JSON.stringify(document.blockers), /"db-4999"/);
  });

  it('its operator, where the budget belongs to an object of one', () => {
    for (const owner of [cluster, machine]) {
      const { kind, name, apiVersion } = owner;
      const budget = { ...shut, owners: [owner] };
      const { cell, lines, document, warnings, notes } = look([pod('db-1', ready)], [budget]);
      assert.equal(cell, `PDB db (its operator acts: ${kind}/${name})`);
      assert.deepEqual(lines, [`${cell}: ${needs}`]);
      assert.deepEqual(warnings, []);
      assert.deepEqual(notes, [
        `PDB shop/db belongs to ${kind}/${name} (${apiVersion}): its operator acts, ` +
          'by moving the pod in its own way; neither scale up nor relax the PDB',
      ]);
      assert.match(JSON.stringify(document.blockers), /"verdict":"othersAct".*"operator":\{/);
    }
  });

  it('an operator that is asked first, where it may have made a budget without an owner', () => {
    const im = { apiVersion: 'longhorn.io/v1beta2', kind: 'InstanceManager', name: 'im-1' };
    const budget = { ...shut, writers: ['longhorn-manager'] };
    const { cell, document, warnings, notes } = look(
      [pod('db-1', { ...ready, owner: im })],
      [budget],
    );
    assert.equal(cell, "PDB db (may be its operator's: ask it first)");
    assert.deepEqual(warnings, [
      `PDB shop/db: ${needs}; an operator may keep it so on purpose, and end that itself ` +
        '(its pods belong to InstanceManager/im-1 (longhorn.io/v1beta2), longhorn-manager wrote it): ' +
        'ask that operator before you scale up, relax or delete the PDB',
    ]);
    assert.deepEqual(notes, []);
    assert.match(JSON.stringify(document.blockers), /"askOperator".*"operatorSign":\{"controller"/);
  });

  it('the operator, where its budget cannot be counted or is one of several', () => {
    const broken = {
      ...shut,
      owners: [cluster],
      refusal: { reason: 'SyncFailed', message: 'boom' },
    };
    for (const budgets of [
      [broken],
      [
        { ...shut, owners: [cluster] },
        { ...shut, name: 'mine' },
      ],
    ]) {
      const { warnings } = look([pod('db-1', ready)], budgets);
      assert.match(
        warnings.join(),
        /will not resolve by itself: see to it by way of Cluster\/db \(postgresql.cnpg.io\/v1\), to which a PDB belongs$/,
      );
    }
  });

  it('whoever may write the budget, where a pod is held although it is not ready', () => {
    const unready = [pod('db-1', { ready: 'False' }), pod('db-2', { ready: null })];
    const { lines, warnings, document } = look(unready, [{ ...shut, healthy: 0, expected: 3 }]);
    assert.match(
      lines[0] ?? '',
      /; the pod is not ready, and unhealthyPodEvictionPolicy: AlwaysAllow would let it go$/,
    );
    assert.deepEqual(warnings, [
      'PDB shop/db holds back 2 pods not ready (db-1, db-2): ' +
        'set unhealthyPodEvictionPolicy: AlwaysAllow in it, and pods that are not ready may go',
    ]);
    assert.match(JSON.stringify(document.blockers), /"remedy":"AlwaysAllow"/);
  });

  it('nobody, where it has that policy', () => {
    const budget = { ...shut, healthy: 0, alwaysEvictUnhealthy: true };
    assert.equal(look([pod('db-1', { ready: 'False' })], [budget]).cell, '<none>');
  });
});

describe('what is lost with a pod that nobody recreates', () => {
  const bare = { owner: null };
  it('is said of pods that are to go', () => {
    const { warnings, document } = look([pod('one', bare)]);
    assert.deepEqual(warnings, ['1 pod without a controller (shop/one): it is not recreated']);
    assert.equal(document.unmanaged, true);
    const four = ['a', 'b', 'c', 'd'].map((name) => pod(name, bare));
    assert.deepEqual(look(four).warnings, [
      '4 pods without a controller (shop/a, shop/b, shop/c and 1 more): they are not recreated',
    ]);
  });

  const others: readonly (readonly [string, Partial<Pod>])[] = [
    ['a pod of a controller', {}],
    ['a static pod', { ...bare, mirror: true }],
    ['a finished pod', { ...bare, phase: 'Succeeded' }],
    [
      'a pod that stays',
      {
        ...bare,
        tolerations: [
          { key: '', operator: 'Exists', value: '', effect: '', tolerationSeconds: null },
        ],
      },
    ],
  ];
  for (const [name, fields] of others) {
    it(`is not said of ${name}`, () => assert.deepEqual(look([pod('one', fields)]).warnings, []));
  }
});

// Tolerations with Lt and Gt count only where a feature gate is on, and KCM's flags are not to be seen in
// managed clusters. That an API server has stored one shows that the gate is on there.

const gt = pod('gt', {
  boundAt: now - 60_000,
  tolerations: [
    { key: 'sla', operator: 'Gt', value: '800', effect: 'NoExecute', tolerationSeconds: null },
  ],
});

/** DECISION of the pod, and the notes about Lt and Gt. */
function said(evictors: Evictors, value: string) {
  const read = by(evictors, survey(node('n1', taint(`sla=${value}:NoExecute`, 5)), gt));
  const evictor = assumingNumbers(read.evictor, read.pods);
  const { text, notes } = explain({ ...read, evictor });
  const [, decision] = /shop +gt +(Keep|Evict)/.exec(text) ?? [];
  return { decision, notes: notes.filter((note) => note.includes(' by Lt or Gt: ')) };
}

const flags = (comparesNumbers: boolean) => ({
  ...acts,
  evidence: [
    {
      ...({ kind: 'pod', namespace: 'kube-system', name: 'kcm', uid: 'u', says: null } as const),
      ...{ startedAt: null, runs: true, comparesNumbers },
    },
  ],
});

describe('a toleration with Gt', () => {
  for (const [name, verdict] of [
    ['acts', acts],
    ['may act', may],
  ] as const) {
    it(`is taken to count where kube-controller-manager ${name} and its flags are not to be seen`, () => {
      const { decision, notes } = said(withUpstream(verdict), '900');
      assert.equal(decision, 'Keep');
      assert.match(
        notes.join('\n'),
        /^1 pod \(shop\/gt\) compared with taint sla=900:NoExecute by Lt or Gt: the toleration is taken to count, because an API server stores such .* if the gate is off there, the pods go as if they had no such toleration$/,
      );
    });
  }

  it('counts or not where flags say so', () => {
    assert.deepEqual(said(withUpstream(flags(true)), '900'), { decision: 'Keep', notes: [] });
    const { decision, notes } = said(withUpstream(flags(false)), '900');
    assert.equal(decision, 'Evict');
    assert.match(
      notes.join(),
      /: the toleration does not count, as .* of kube-controller-manager is off$/,
    );
  });

  it('never covers a value that is no integer, which is said', () => {
    for (const value of ['n900', '0900', '9223372036854775808']) {
      const { decision, notes } = said(withUpstream(acts), value);
      assert.equal(decision, 'Evict');
      assert.match(
        notes.join(),
        /: the value of the taint is no integer, so no such toleration covers it$/,
      );
    }
  });

  /** What is said of the pod on a node with such a value: its document, and the row of `pending`. */
  function asked(evictors: Evictors, value: string, spec = gt) {
    const read = by(evictors, survey(node('n1', taint(`sla=${value}:NoExecute`, 5)), spec));
    const evictor = assumingNumbers(read.evictor, read.pods);
    const [report] = podsIn(reportOnPresent({ ...read, evictor }));
    assert.ok(report);
    const document = podDocument(report, now) as {
      readonly decision: string;
      readonly otherwise?: { readonly decision: string };
    };
    const cells = pendingColumns(now, [report]).map(
      ([head, cell]) => [head, cell(report)] as const,
    );
    return { document, cells: new Map(cells) };
  }

  it('has two answers where nobody can tell if it counts, and the likelier one comes first', () => {
    const { document, cells } = asked(withUpstream(acts), '900');
    assert.equal(document.decision, 'Keep');
    assert.equal(document.otherwise?.decision, 'Evict');
    assert.equal(cells.get('IN'), '- or overdue by 4s');
    assert.equal(cells.get('TOLERATION'), 'sla=800:NoExecute Gt');
  });

  it('has two answers where a time depends on it', () => {
    const [toleration] = gt.tolerations;
    assert.ok(toleration);
    const soon = pod('gt', { tolerations: [{ ...toleration, tolerationSeconds: 60 }] });
    const { document, cells } = asked(withUpstream(acts), '900', soon);
    assert.equal(document.decision, 'Evict');
    assert.equal(document.otherwise?.decision, 'Evict');
    assert.match(cells.get('IN') ?? '', /^~56s or overdue by 4s$/);
  });

  it('has one answer where flags say whether it counts, or it covers the taint in neither case', () => {
    for (const [evictors, value] of [
      [withUpstream(flags(true)), '900'],
      [withUpstream(flags(false)), '900'],
      [withUpstream(acts), '700'],
      [withUpstream(acts), 'n900'],
    ] as const) {
      const { document, cells } = asked(evictors, value);
      assert.equal(document.otherwise, undefined);
      assert.doesNotMatch(cells.get('IN') ?? '', / or /);
    }
  });

  it('is shown where it does not count, in the place of none', () => {
    for (const [evictors, value] of [
      [withUpstream(flags(false)), '900'],
      [withUpstream(acts), 'n900'],
    ] as const) {
      const { cells } = asked(evictors, value);
      assert.equal(cells.get('TOLERATION'), 'sla=800:NoExecute Gt, does not count');
    }
  });

  it('is not mentioned where it would not cover the taint anyway', () => {
    assert.deepEqual(said(withUpstream(acts), '700'), { decision: 'Evict', notes: [] });
  });
});

it('names the policy that refuses the evictions of our controller', () => {
  const said =
    "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'freeze' with binding 'all' denied request: not today";
  const pods = [pod('web'), pod('api')];
  const read = {
    ...survey(node('n1', taint('bad=disk:NoExecute', 5)), ...pods),
    intercepted: new Map(pods.map(({ uid }) => [uid, said])),
  };
  const { text, warnings } = explain(read);
  assert.match(text, /^shop +web +Evict +overdue by 5s +policy freeze \(needs action\) /m);
  assert.match(text, /^Empty: +unknown: held by policy freeze \(needs action\)$/m);
  assert.deepEqual(warnings, [
    'ValidatingAdmissionPolicy freeze (binding all) refuses the eviction of 2 pods (shop/api, shop/web); will not resolve by itself: change the policy or its binding',
  ]);
  const [line = ''] = podsIn(reportOnPresent(read)).flatMap(({ blockers }) =>
    blockers.map(blockerLine),
  );
  assert.equal(line, 'ValidatingAdmissionPolicy freeze by binding all (needs action): not today');
});
