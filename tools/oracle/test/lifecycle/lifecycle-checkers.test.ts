import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brokenIn, reasons, Scenario, setSpec } from '../world/lifecycle-scenario.ts';

// Each checker is given a scenario in which everything is right, and the same scenario with one fault.

/** The steps of the client in the scenario of node a-1, which is lost and comes back. */
const steps = {
  unknown: (scenario: Scenario) => scenario.markUnknown('a-1'),
  noSchedule: (scenario: Scenario) => scenario.addTaint('a-1', 'NoSchedule'),
  noExecute: (scenario: Scenario) => scenario.addTaint('a-1', 'NoExecute'),
  pods: (scenario: Scenario) => scenario.markPod('on-a-1'),
  allowed: (scenario: Scenario) => scenario.removeTaint('a-1', 'NoSchedule'),
  untainted: (scenario: Scenario) => scenario.removeTaint('a-1', 'NoExecute'),
};
const nothing = (): void => {};

/** Last heard of at 21 s, lost at 75 s, back at 200 s. */
function lossAndReturn(
  changed: Partial<typeof steps> = {},
  meanwhile: (scenario: Scenario) => void = nothing,
): Scenario {
  const step = { ...steps, ...changed };
  const scenario = new Scenario({ a: 4, b: 1 });
  for (const node of ['a-1', 'a-2']) scenario.addPod(node);
  scenario.at(25);
  scenario.cluster.node('a-1').stop();
  scenario.at(75);
  step.unknown(scenario);
  step.noSchedule(scenario);
  step.pods(scenario);
  step.noExecute(scenario);
  scenario.at(100);
  meanwhile(scenario);
  scenario.at(200);
  scenario.cluster.node('a-1').resume();
  scenario.at(201);
  step.allowed(scenario);
  step.untainted(scenario);
  return scenario;
}

const foreign = { key: 'team', value: 'x', effect: 'NoSchedule' };

/** What goes wrong, and which invariants it breaks. */
const faults: readonly (readonly [what: string, broken: readonly string[], () => Scenario])[] = [
  [
    'a node is never marked',
    ['unreachable node not Unknown'],
    () =>
      lossAndReturn({
        unknown: nothing,
        noSchedule: nothing,
        noExecute: nothing,
        pods: nothing,
        untainted: nothing,
        allowed: nothing,
      }),
  ],
  [
    'only one condition goes Unknown',
    ['Unknown conditions'],
    () =>
      lossAndReturn({
        unknown: (scenario) =>
          scenario.putConditions('a-1', (condition) =>
            condition.type === 'Ready'
              ? { ...condition, status: 'Unknown', ...reasons }
              : condition,
          ),
      }),
  ],
  [
    'a condition goes Unknown for a reason of its own',
    ['Unknown conditions'],
    () =>
      lossAndReturn({
        unknown: (scenario) =>
          scenario.putConditions('a-1', (condition) => ({
            ...condition,
            status: 'Unknown',
            ...reasons,
            reason: 'Lost',
          })),
      }),
  ],
  [
    'a condition goes Unknown and with it the last heartbeat',
    ['Unknown conditions'],
    () =>
      lossAndReturn({
        unknown: (scenario) =>
          scenario.putConditions('a-1', (condition) => ({
            ...condition,
            status: 'Unknown',
            ...reasons,
            lastHeartbeatTime: '2026-01-01T00:01:15Z',
          })),
      }),
  ],
  [
    'the NoSchedule taint is forgotten',
    ['condition taints'],
    () => lossAndReturn({ noSchedule: nothing }),
  ],
  ['the NoSchedule taint stays', ['condition taints'], () => lossAndReturn({ allowed: nothing })],
  [
    'the NoExecute taint is forgotten',
    ['unhealthy node not tainted'],
    () => lossAndReturn({ noExecute: nothing }),
  ],
  [
    'the NoExecute taint is of the wrong kind',
    ['wrong taint of an unhealthy node'],
    () =>
      lossAndReturn({
        noExecute: (scenario) =>
          scenario.addTaint('a-1', 'NoExecute', 'node.kubernetes.io/not-ready'),
      }),
  ],
  [
    'the NoExecute taint stays',
    ['healthy node stays tainted'],
    () => lossAndReturn({ untainted: nothing }),
  ],
  [
    'a pod is not marked',
    ['pod of unreachable node not marked'],
    () => lossAndReturn({ pods: nothing }),
  ],
  [
    'a pod of a healthy node is marked',
    ['pod of healthy node marked'],
    () => lossAndReturn({}, (scenario) => scenario.markPod('on-a-2')),
  ],
  [
    'a healthy node is tainted for a moment',
    ['healthy node tainted'],
    () =>
      lossAndReturn({}, (scenario) => {
        scenario.addTaint('a-2', 'NoExecute');
        scenario.removeTaint('a-2', 'NoExecute');
      }),
  ],
  [
    'a node that renews its lease goes Unknown',
    ['false Unknown'],
    () =>
      lossAndReturn({}, (scenario) => {
        scenario.markUnknown('a-2');
        scenario.at(111);
      }),
  ],
  [
    'a foreign taint is lost',
    ['foreign field'],
    () =>
      lossAndReturn({}, (scenario) => {
        const { spec } = scenario.node('b-1');
        setSpec(scenario.api, 'nodes', scenario.node('b-1'), { ...spec, taints: [foreign] });
        scenario.setTaints('b-1', () => []);
      }),
  ],
  [
    'a label is lost',
    ['foreign field'],
    () =>
      lossAndReturn({}, (scenario) =>
        scenario.write('PATCH', '/api/v1/nodes/b-1', {
          metadata: { labels: { 'kubernetes.io/hostname': null } },
        }),
      ),
  ],
  [
    'an old label does not follow the new one',
    ['foreign field'],
    () =>
      lossAndReturn({}, (scenario) =>
        scenario.write('PATCH', '/api/v1/nodes/b-1', {
          metadata: { labels: { 'beta.kubernetes.io/os': 'windows' } },
        }),
      ),
  ],
  [
    'a condition of somebody else is lost',
    ['foreign field'],
    () =>
      lossAndReturn({}, (scenario) => {
        const node = scenario.node('b-1');
        const conditions = [...node.status.conditions, { type: 'Disk', status: 'True' }];
        scenario.api.update('nodes', { ...node, status: { ...node.status, conditions } }, 'status');
        const body = { ...scenario.node('b-1'), status: node.status };
        scenario.write('PUT', '/api/v1/nodes/b-1/status', body);
      }),
  ],
  [
    'the status of a pod is written from an old view',
    ['foreign field'],
    () =>
      lossAndReturn({}, (scenario) => {
        const path = '/api/v1/namespaces/default/pods/on-a-1/status';
        scenario.write('PATCH', path, { status: { phase: 'Pending' } });
      }),
  ],
];

describe('the lifecycle checkers', () => {
  it('find nothing where everything is right', () => {
    assert.deepEqual(lossAndReturn().end(300), []);
  });

  for (const [what, broken, scenario] of faults) {
    it(`find that ${what}`, () => {
      assert.deepEqual(brokenIn(scenario().end(300)), broken);
    });
  }

  it('let the client have what is its own', () => {
    const scenario = new Scenario({ a: 3 }, { ownKeys: ['own.example/'] });
    scenario.write('PATCH', '/api/v1/nodes/a-1', {
      metadata: { labels: { 'own.example/x': 'y' }, annotations: { 'own.example/x': 'y' } },
    });
    scenario.addTaint('a-1', 'NoSchedule', 'own.example/slow');
    assert.deepEqual(scenario.end(30), []);
  });

  it('let a node that never was ready go Unknown after the longer grace, and keep its pods', () => {
    const scenario = new Scenario({ a: 3 });
    scenario.at(20);
    scenario.api.create('nodes', { metadata: { name: 'new', labels: {} } });
    scenario.setTaints('new', () => []);
    scenario.at(81);
    const node = scenario.node('new');
    const conditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      type,
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: node.metadata.creationTimestamp,
    }));
    const body = { ...node, status: { ...node.status, conditions } };
    scenario.write('PUT', '/api/v1/nodes/new/status', body);
    scenario.addTaint('new', 'NoSchedule');
    scenario.addTaint('new', 'NoExecute');
    assert.deepEqual(scenario.end(200), []);
  });
});
