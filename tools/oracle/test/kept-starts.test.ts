import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '@taintmgr/sim-cluster';
import { Checkers } from '../src/checkers.ts';
import { evictionDefaults, type Terms } from '../src/terms.ts';
import { Scenario, start, stored } from './world/lifecycle-scenario.ts';
import { group, installOwnKinds } from './world/own-kinds.ts';

// Whose pods and starts a client is answerable for that decides about namespaces which were handed over.

const bad = { key: 'bad', effect: 'NoExecute' };
const second = 1000;

/** A node with a pod that tolerates its taint for so many seconds; nobody does anything about it. */
class Untended {
  readonly scenario = new Scenario({ a: 1 });
  readonly checkers: Checkers;

  constructor(tolerationSeconds: number, terms: Partial<Terms> = { takeover: true }) {
    const { api, checkers } = this.scenario;
    this.checkers = new Checkers(api, { ...evictionDefaults, ...terms }, checkers.apiHistory);
    const tolerations = [{ ...bad, operator: 'Exists', tolerationSeconds }];
    api.create('pods', pod('default', 'p', { spec: { nodeName: 'a-1', tolerations } }));
    this.scenario.at(20);
    const { resourceVersion: _, ...metadata } = this.scenario.node('a-1').metadata;
    api.update('nodes', { ...this.scenario.node('a-1'), metadata, spec: { taints: [bad] } });
  }

  /** The namespace of the pod is handed over, or given back. */
  handOver(value: string): void {
    const { api } = this.scenario;
    const { metadata, ...found } = stored(api, 'namespaces', '', 'default');
    const labels = { ...metadata.labels, 'taintmgr.dev/takeover': value };
    api.update('namespaces', { ...found, metadata: { ...metadata, labels } });
  }

  /** What is found at that second, when all was calm since another one. */
  foundAt(at: number, calmSince: number): readonly string[] {
    this.scenario.at(at);
    this.checkers.atRest(start + calmSince * second);
    return this.checkers.violations.map(({ invariant }) => invariant);
  }

  /** The client writes down since when the taint counts, for pods of this namespace. */
  keepStart(at: number): void {
    const time = (instant: number): string => new Date(start + instant * second).toISOString();
    const starts = { taintsWrittenAt: time(20), 'bad:NoExecute default': time(at) };
    const annotations = { 'taintmgr.dev/taint-starts': JSON.stringify(starts) };
    this.scenario.write('PATCH', '/api/v1/nodes/a-1', { metadata: { annotations } });
  }
}

describe('a client that decides about namespaces that were handed over', () => {
  it('keeps starts for their pods, and for no others', () => {
    const untended = new Untended(3600);
    assert.deepEqual(untended.foundAt(60, 30), []);
    untended.handOver('enabled');
    assert.deepEqual(untended.foundAt(90, 70), ['start not kept']);
    assert.deepEqual(new Untended(3600, {}).foundAt(60, 30), ['start not kept']);
  });

  it('is late with their pods, and with no others', () => {
    assert.deepEqual(new Untended(30).foundAt(1000, 60), []);
    assert.deepEqual(new Untended(30, {}).foundAt(1000, 60).at(-1), 'overdue');
  });

  it('has time from when they were handed over', () => {
    const untended = new Untended(30);
    untended.scenario.at(1000);
    untended.handOver('enabled');
    assert.deepEqual(untended.foundAt(1250, 60), []);
    assert.deepEqual(untended.foundAt(1400, 60), ['overdue']);
    const givenBack = new Untended(30);
    givenBack.handOver('enabled');
    givenBack.handOver('disabled');
    assert.deepEqual(givenBack.foundAt(1400, 60), []);
  });
});

describe('the start that is kept when a pause is gone', () => {
  for (const [what, other, found] of [
    ['is later by its time', null, ['kept start too early']],
    ['is not, beside another one', ['evictionpauses', {}], []],
    ['is not, beside a pause that nobody can read', ['evictionpauses', { newer: true }], []],
    ['is not, beside a policy that nobody can read', ['evictionpolicies', { newer: true }], []],
    ['is later beside others', ['evictionpolicies', {}], ['kept start too early']],
  ] as const) {
    it(what, () => {
      const untended = new Untended(3600);
      const { scenario, checkers } = untended;
      const { api } = scenario;
      installOwnKinds(api);
      scenario.at(22);
      api.create(`evictionpauses.${group}`, { metadata: { name: 'p' }, spec: {} });
      if (other) api.create(`${other[0]}.${group}`, { metadata: { name: 'q' }, spec: other[1] });
      for (const kind of ['evictionpauses', 'evictionpolicies']) {
        scenario.send('GET', `/apis/${group}/v1alpha1/${kind}`);
        scenario.send('GET', `/apis/${group}/v1alpha1/${kind}?watch=true`);
      }
      scenario.at(60);
      api.delete(`evictionpauses.${group}`, '', 'p');
      scenario.at(70);
      untended.keepStart(21);
      assert.deepEqual(
        checkers.violations.map(({ invariant }) => invariant),
        found,
      );
    });
  }
});

describe('the start that is kept for one namespace', () => {
  it('is that of the taint, and not before it', () => {
    const untended = new Untended(3600);
    untended.scenario.at(30);
    untended.keepStart(21);
    assert.equal(untended.checkers.violations.length, 0);
    untended.keepStart(10);
    const found = untended.checkers.violations.map(({ invariant, evidence }) => {
      return `${invariant}: ${evidence.slice(0, 53)}`;
    });
    assert.deepEqual(found, [
      'kept start too early: node a-1: bad:NoExecute default is written down as of',
    ]);
  });
});
