import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Evictors } from '@taintmgr/k8s-adapter';
import { assumingNumbers } from '../../src/cluster/evictors.ts';
import { acts, by, explain, may, survey, withUpstream } from '../world/explained.ts';
import { node, now, pod, taint } from '../world/values.ts';

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

  it('is not mentioned where it would not cover the taint anyway', () => {
    assert.deepEqual(said(withUpstream(acts), '700'), { decision: 'Evict', notes: [] });
  });
});
