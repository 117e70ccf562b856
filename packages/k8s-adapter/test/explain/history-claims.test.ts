// Who is said to have evicted a pod: the plugin that drains is not the controller.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimsOf, contradictions, type Evidence } from '../../src/explain/history-claims.ts';
import { eventTrace, podTrace } from '../../src/explain/history-traces.ts';
import { type Departure, departureFrom } from '../../src/history/departure.ts';

const time = '2026-11-30T02:00:00Z';
const plugin = 'kubectl taintmgr drain-by-taint';

function marking(by: string) {
  const trace = eventTrace({
    metadata: { namespace: 'shop', creationTimestamp: time },
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'u1' },
    reason: 'TaintManagerEviction',
    message: 'Marking for deletion Pod shop/web-1: no toleration for maint:NoExecute',
    ...{ firstTimestamp: time, source: { component: by }, reportingComponent: by },
  });
  return trace ?? assert.fail('it says when');
}

function marked(reason: string, manager: string) {
  const type = 'DisruptionTarget';
  const fields = { 'f:conditions': { [`k:{"type":"${type}"}`]: { 'f:reason': {} } } };
  return podTrace({
    metadata: {
      ...{ namespace: 'shop', name: 'web-1', uid: 'u1' },
      managedFields: [
        { manager, operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': fields } },
      ],
    },
    status: { conditions: [{ type, status: 'True', reason, lastTransitionTime: time }] },
  });
}

function recorded(by: Departure['by']): Departure {
  const pod = { namespace: 'shop', pod: 'web-1', uid: 'u1', seenAt: Date.parse(time) };
  return departureFrom({ ...pod, by }) ?? assert.fail('it is one');
}

const seenMark = (manager: string) =>
  recorded({
    ...{ kind: 'taintManager', source: 'condition', reason: 'DeletionByTaintManager', manager },
  });

const nothing: Evidence = {
  ...{ departures: [], pod: null, events: [], deletions: [], node: 'n1', names: new Map() },
};

describe('a pod of a drain', () => {
  const cases: readonly (readonly [string, Partial<Evidence>, readonly string[]])[] = [
    ['by an Event of the plugin', { events: [marking('kubectl-taintmgr')] }, [plugin]],
    ['by an Event of the controller', { events: [marking('taintmgr')] }, ['taintmgr-controller']],
    [
      'by its condition and an Event of the plugin',
      {
        pod: marked('DeletionByTaintManager', 'kubectl-taintmgr'),
        events: [marking('kubectl-taintmgr')],
      },
      [plugin],
    ],
    [
      'by the Eviction API and an Event of the plugin',
      {
        pod: marked('EvictionByEvictionAPI', 'kube-apiserver'),
        events: [marking('kubectl-taintmgr')],
      },
      [plugin],
    ],
    [
      'by the mark of the plugin, as a leader saw it',
      { departures: [seenMark('kubectl-taintmgr')], events: [marking('kubectl-taintmgr')] },
      [plugin],
    ],
    [
      'by a record of a NodeDrain, with the Event of the controller that carried it out',
      {
        departures: [recorded({ kind: 'drain', source: 'ownAct', drain: 'kernel' })],
        events: [marking('taintmgr-controller')],
      },
      ['NodeDrain kernel (taintmgr-controller)'],
    ],
    [
      'by a record of a NodeDrain, and an Event of the plugin that says otherwise',
      {
        departures: [recorded({ kind: 'drain', source: 'ownAct', drain: 'kernel' })],
        events: [marking('kubectl-taintmgr')],
      },
      ['NodeDrain kernel (taintmgr-controller)', plugin],
    ],
    [
      'by an Event of the plugin, and one of the controller',
      { events: [marking('kubectl-taintmgr'), marking('taintmgr-controller')] },
      [plugin, 'taintmgr-controller'],
    ],
  ];
  for (const [name, evidence, expected] of cases) {
    it(name, () => {
      const claims = claimsOf({ ...nothing, ...evidence });
      const told = [...claims.slice(0, 1), ...contradictions(claims)];
      assert.deepEqual(
        told.map(({ who }) => who),
        expected,
      );
    });
  }
});
