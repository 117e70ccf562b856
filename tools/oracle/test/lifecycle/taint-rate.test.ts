import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node } from '@taintmgr/sim-cluster';
import { Checkers } from '../../src/checkers.ts';
import { lifecycleDefaults } from '../../src/lifecycle/lifecycle-terms.ts';
import { Zones, zoneOf } from '../../src/lifecycle/zones.ts';
import { evictionDefaults } from '../../src/terms.ts';
import { brokenIn, Scenario, start } from '../world/lifecycle-scenario.ts';

const seconds = (first: number, count: number, step: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index * step);

/** Several nodes of a zone stop at 25 s and go Unknown at 75 s. */
function outage(zones: Readonly<Record<string, number>>, ...lost: readonly string[]): Scenario {
  const scenario = new Scenario(zones);
  scenario.at(25);
  for (const name of lost) scenario.cluster.node(name).stop();
  scenario.at(75);
  scenario.markUnknown(...lost);
  for (const name of lost) scenario.addTaint(name, 'NoSchedule');
  return scenario;
}

function taintAt(scenario: Scenario, times: readonly number[], names: readonly string[]): void {
  for (const [index, time] of times.entries()) {
    scenario.at(time);
    scenario.addTaint(names[index] ?? '', 'NoExecute');
  }
}

describe('the rate of taintings', () => {
  const two = ['a-1', 'a-2'] as const;
  const outages: readonly (readonly [string, readonly number[], readonly string[]])[] = [
    ['one node every ten seconds is right', [75, 85], []],
    ['nine seconds are too few', [75, 84], ['taint rate']],
    ['two at once are too many', [75, 75], ['taint rate']],
    ['the second may come late by the bound', [75, 100], []],
    ['but not by much more', [75, 120], ['unhealthy node not tainted']],
  ];
  for (const [what, times, broken] of outages) {
    it(what, () => {
      const scenario = outage({ a: 6 }, ...two);
      taintAt(scenario, times, two);
      assert.deepEqual(brokenIn(scenario.end(130)), broken);
    });
  }

  it('is counted for each zone', () => {
    const scenario = outage({ a: 3, b: 3 }, 'a-1', 'b-1');
    taintAt(scenario, [75, 75], ['a-1', 'b-1']);
    assert.deepEqual(scenario.end(200), []);
  });

  it('is the full one for a zone that is down while others live', () => {
    const lost = ['b-1', 'b-2', 'b-3'];
    const scenario = outage({ a: 3, b: 3 }, ...lost);
    taintAt(scenario, seconds(75, 3, 10), lost);
    assert.deepEqual(scenario.end(200), []);
  });

  it('is nil in a small zone of which most is down', () => {
    const lost = ['a-1', 'a-2', 'a-3'];
    const patient = outage({ a: 5 }, ...lost);
    assert.deepEqual(patient.end(2000), []);
    const scenario = outage({ a: 5 }, ...lost);
    taintAt(scenario, [100], lost);
    assert.deepEqual(brokenIn(scenario.end(2000)), ['tainted in a stopped zone']);
  });

  it('may be the old one until the next look at the nodes', () => {
    const scenario = outage({ a: 5 }, 'a-1', 'a-2', 'a-3');
    taintAt(scenario, [76], ['a-1']);
    assert.deepEqual(scenario.end(200), []);
  });

  it('is the old one for a client that has stood still since', () => {
    const stale = (isBlind: boolean): readonly string[] => {
      const scenario = outage({ a: 3 }, 'a-1');
      if (isBlind) scenario.checkers.apiHistory.first.blind();
      scenario.at(80);
      for (const name of ['a-2', 'a-3']) scenario.api.delete('nodes', '', name);
      taintAt(scenario, [100], ['a-1']);
      return brokenIn(scenario.end(110));
    };
    assert.deepEqual(stale(false), ['tainted in a stopped zone']);
    assert.deepEqual(stale(true), []);
  });

  it('is nil when no node at all is ready', () => {
    const lost = ['a-1', 'b-1', 'b-2'];
    const patient = outage({ a: 1, b: 2 }, ...lost);
    assert.deepEqual(patient.end(2000), []);
    const scenario = outage({ a: 1, b: 2 }, ...lost);
    taintAt(scenario, [100], lost);
    assert.deepEqual(brokenIn(scenario.end(2000)), ['tainted in a stopped zone']);
  });

  it('does not count the change from one taint to the other', () => {
    const scenario = new Scenario({ a: 6 });
    scenario.at(20);
    for (const name of ['a-1', 'a-2']) scenario.cluster.node(name).setCondition('Ready', false);
    const notReady = 'node.kubernetes.io/not-ready';
    for (const [name, time] of [
      ['a-1', 21],
      ['a-2', 31],
    ] as const) {
      scenario.at(time);
      scenario.addTaint(name, 'NoSchedule', notReady);
      scenario.addTaint(name, 'NoExecute', notReady);
    }
    for (const name of ['a-1', 'a-2']) scenario.cluster.node(name).stop();
    scenario.at(83);
    const swap = { key: 'node.kubernetes.io/unreachable' };
    for (const name of ['a-1', 'a-2']) {
      scenario.markUnknown(name);
      scenario.setTaints(name, (taints) => taints.map((taint) => ({ ...taint, ...swap })));
    }
    assert.deepEqual(scenario.end(200), []);
  });

  it('starts anew with the client, which looks at no zone as stopped at first', () => {
    const scenario = outage({ a: 6 }, 'a-1', 'a-2');
    taintAt(scenario, [75], ['a-1']);
    scenario.at(80);
    scenario.beginRun();
    taintAt(scenario, [81], ['a-2']);
    assert.deepEqual(brokenIn(scenario.end(200, 81)), []);
    const full = outage({ a: 2 }, 'a-1', 'a-2');
    full.at(100);
    full.beginRun();
    taintAt(full, [101], ['a-1']);
    assert.deepEqual(brokenIn(full.end(200, 101)), []);
  });
});

describe('what the client could know', () => {
  /** At 100 s the client takes a-2 for lost, which renews its lease at 91 s; it is blind since `from`. */
  function blindSince(from: number, cacheAgeMsMax: number): readonly string[] {
    const scenario = new Scenario({ a: 4 }, { cacheAgeMsMax });
    scenario.at(from);
    scenario.checkers.apiHistory.first.blind();
    scenario.at(100);
    scenario.markUnknown('a-2');
    return brokenIn(scenario.end(101));
  }

  const cases: readonly (readonly [number, number, readonly string[]])[] = [
    [48, 100_000, []],
    [52, 100_000, ['false Unknown']],
    [48, 0, ['false Unknown']],
    [48, 30_000, ['false Unknown']],
  ];
  for (const [from, cacheAgeMsMax, broken] of cases) {
    it(`blind since ${from} s and allowed a view of ${cacheAgeMsMax} ms: ${broken}`, () => {
      assert.deepEqual(blindSince(from, cacheAgeMsMax), broken);
    });
  }

  it('a node that has just come back may still be tainted and its pods marked', () => {
    const scenario = new Scenario({ a: 4 });
    scenario.addPod('a-1');
    scenario.at(25);
    scenario.cluster.node('a-1').stop();
    scenario.at(75);
    scenario.markUnknown('a-1');
    scenario.at(78);
    scenario.cluster.node('a-1').resume();
    scenario.at(79);
    scenario.markPod('on-a-1');
    scenario.addTaint('a-1', 'NoExecute');
    scenario.at(84);
    scenario.removeTaint('a-1', 'NoExecute');
    assert.deepEqual(scenario.end(200), []);
  });
});

it('one API history serves both judges: a pod that is marked is none that is evicted', () => {
  const scenario = new Scenario({ a: 4 });
  const { apiHistory } = scenario.checkers;
  const rates = [{ per: 'total', podsPerSecond: 0.001, burst: 1 }] as const;
  const terms = { ...evictionDefaults, rates, cacheAgeMsMax: 0, recoveryMs: 1000 };
  const evictions = new Checkers(scenario.api, terms, apiHistory);
  for (const name of ['p', 'q']) scenario.addPod('a-1', name);
  scenario.at(25);
  scenario.cluster.node('a-1').stop();
  scenario.at(75);
  scenario.lose('a-1');
  for (const name of ['p', 'q']) scenario.markPod(name);
  evictions.atEnd();
  assert.deepEqual([...scenario.end(80), ...evictions.violations], []);
  for (const name of ['p', 'q']) {
    const { uid } = scenario.api.get('pods', 'default', name)?.metadata ?? {};
    const body = { preconditions: { uid } };
    scenario.write('DELETE', `/api/v1/namespaces/default/pods/${name}`, body);
  }
  evictions.atEnd();
  const found = brokenIn(evictions.violations);
  assert.deepEqual(found, ['before its deadline', 'rate']);
});

describe('zones', () => {
  const of = (labels: Record<string, string>): string => zoneOf(node('n', { labels }));
  const zone = 'topology.kubernetes.io/zone';
  const oldZone = 'failure-domain.beta.kubernetes.io/zone';
  const region = 'topology.kubernetes.io/region';
  for (const [labels, expected] of [
    [{}, ''],
    [{ [zone]: 'a' }, ':a'],
    [{ [region]: 'r', [zone]: 'a' }, 'r:a'],
    [{ [oldZone]: 'x', [zone]: 'a' }, ':x'],
    [{ [oldZone]: '', [zone]: 'a' }, ''],
    [{ 'failure-domain.beta.kubernetes.io/region': 'r', [zone]: 'a' }, 'r:a'],
  ] as const) {
    it(`${JSON.stringify(labels)} is ${JSON.stringify(expected)}`, () => {
      assert.equal(of(labels), expected);
    });
  }

  /** Nodes that let through in 1000 s by a zone of so many ready and other nodes beside a healthy one. */
  function inflow(ready: number, others: number, excluded = 0): number {
    const zones = new Zones(lifecycleDefaults);
    const observe = (name: string, status: string, labels: Record<string, string> = {}): void => {
      const object = node(name, { labels, status: { conditions: [{ type: 'Ready', status }] } });
      const change = {
        type: 'ADDED',
        resource: 'nodes',
        key: name,
        object,
        previous: null,
      } as const;
      zones.observe({ at: start, change, by: null });
    };
    observe('elsewhere', 'True', { [zone]: 'b' });
    for (let index = 0; index < ready; index++) observe(`r${index}`, 'True');
    for (let index = 0; index < others; index++) observe(`o${index}`, 'Unknown');
    for (let index = 0; index < excluded; index++) {
      observe(`x${index}`, 'False', { 'node.kubernetes.io/exclude-disruption': '' });
    }
    return zones.inflowMin('', start, start + 1_000_000, 0);
  }
  for (const [ready, others, expected] of [
    [0, 1, 100],
    [1, 2, 100],
    [2, 3, 0],
    [3, 3, 100],
    [9, 11, 0],
    [22, 29, 10],
    [21, 29, 0],
  ] as const) {
    it(`${ready} ready of ${ready + others} let ${expected} through in 1000 s`, () => {
      assert.equal(inflow(ready, others), expected);
    });
  }

  it('count no node that is excluded', () => {
    assert.equal(inflow(2, 2, 20), 100);
  });
});
