import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brokenIn, reasons, Story } from '../../world/lifecycle-scenario.ts';
import { setSpec } from '../../world/virtual-cluster.ts';

// Each checker is given a story in which everything is right, and the same story with one fault.

/** The steps of the client in the story of node a-1, which is lost and comes back. */
const steps = {
  unknown: (story: Story) => story.markUnknown('a-1'),
  noSchedule: (story: Story) => story.addTaint('a-1', 'NoSchedule'),
  noExecute: (story: Story) => story.addTaint('a-1', 'NoExecute'),
  pods: (story: Story) => story.markPod('on-a-1'),
  allowed: (story: Story) => story.removeTaint('a-1', 'NoSchedule'),
  untainted: (story: Story) => story.removeTaint('a-1', 'NoExecute'),
};
const nothing = (): void => {};

/** Last heard of at 21 s, lost at 75 s, back at 200 s. */
function lossAndReturn(
  changed: Partial<typeof steps> = {},
  meanwhile: (story: Story) => void = nothing,
): Story {
  const step = { ...steps, ...changed };
  const story = new Story({ a: 4, b: 1 });
  for (const node of ['a-1', 'a-2']) story.addPod(node);
  story.at(25);
  story.cluster.node('a-1').stop();
  story.at(75);
  step.unknown(story);
  step.noSchedule(story);
  step.pods(story);
  step.noExecute(story);
  story.at(100);
  meanwhile(story);
  story.at(200);
  story.cluster.node('a-1').resume();
  story.at(201);
  step.allowed(story);
  step.untainted(story);
  return story;
}

const foreign = { key: 'team', value: 'x', effect: 'NoSchedule' };

/** What goes wrong, and which invariants it breaks. */
const faults: readonly (readonly [what: string, broken: readonly string[], () => Story])[] = [
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
        unknown: (story) =>
          story.putConditions('a-1', (condition) =>
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
        unknown: (story) =>
          story.putConditions('a-1', (condition) => ({
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
        unknown: (story) =>
          story.putConditions('a-1', (condition) => ({
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
        noExecute: (story) => story.addTaint('a-1', 'NoExecute', 'node.kubernetes.io/not-ready'),
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
    () => lossAndReturn({}, (story) => story.markPod('on-a-2')),
  ],
  [
    'a healthy node is tainted for a moment',
    ['healthy node tainted'],
    () =>
      lossAndReturn({}, (story) => {
        story.addTaint('a-2', 'NoExecute');
        story.removeTaint('a-2', 'NoExecute');
      }),
  ],
  [
    'a node that renews its lease goes Unknown',
    ['false Unknown'],
    () =>
      lossAndReturn({}, (story) => {
        story.markUnknown('a-2');
        story.at(111);
      }),
  ],
  [
    'a foreign taint is lost',
    ['foreign field'],
    () =>
      lossAndReturn({}, (story) => {
        const { spec } = story.node('b-1');
        setSpec(story.api, 'nodes', story.node('b-1'), { ...spec, taints: [foreign] });
        story.setTaints('b-1', () => []);
      }),
  ],
  [
    'a label is lost',
    ['foreign field'],
    () =>
      lossAndReturn({}, (story) =>
        story.write('PATCH', '/api/v1/nodes/b-1', {
          metadata: { labels: { 'kubernetes.io/hostname': null } },
        }),
      ),
  ],
  [
    'an old label does not follow the new one',
    ['foreign field'],
    () =>
      lossAndReturn({}, (story) =>
        story.write('PATCH', '/api/v1/nodes/b-1', {
          metadata: { labels: { 'beta.kubernetes.io/os': 'windows' } },
        }),
      ),
  ],
  [
    'a condition of somebody else is lost',
    ['foreign field'],
    () =>
      lossAndReturn({}, (story) => {
        const node = story.node('b-1');
        const conditions = [...node.status.conditions, { type: 'Disk', status: 'True' }];
        story.api.update('nodes', { ...node, status: { ...node.status, conditions } }, 'status');
        const body = { ...story.node('b-1'), status: node.status };
        story.write('PUT', '/api/v1/nodes/b-1/status', body);
      }),
  ],
  [
    'the status of a pod is written from an old view',
    ['foreign field'],
    () =>
      lossAndReturn({}, (story) => {
        const path = '/api/v1/namespaces/default/pods/on-a-1/status';
        story.write('PATCH', path, { status: { phase: 'Pending' } });
      }),
  ],
];

describe('the lifecycle checkers', () => {
  it('find nothing where everything is right', () => {
    assert.deepEqual(lossAndReturn().end(300), []);
  });

  for (const [what, broken, story] of faults) {
    it(`find that ${what}`, () => {
      assert.deepEqual(brokenIn(story().end(300)), broken);
    });
  }

  it('let the client have what is its own', () => {
    const story = new Story({ a: 3 }, { ownKeys: ['own.example/'] });
    story.write('PATCH', '/api/v1/nodes/a-1', {
      metadata: { labels: { 'own.example/x': 'y' }, annotations: { 'own.example/x': 'y' } },
    });
    story.addTaint('a-1', 'NoSchedule', 'own.example/slow');
    assert.deepEqual(story.end(30), []);
  });

  it('let a node that never was ready go Unknown after the longer grace, and keep its pods', () => {
    const story = new Story({ a: 3 });
    story.at(20);
    story.api.create('nodes', { metadata: { name: 'new', labels: {} } });
    story.setTaints('new', () => []);
    story.at(81);
    const node = story.node('new');
    const conditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      type,
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: node.metadata.creationTimestamp,
    }));
    const body = { ...node, status: { ...node.status, conditions } };
    story.write('PUT', '/api/v1/nodes/new/status', body);
    story.addTaint('new', 'NoSchedule');
    story.addTaint('new', 'NoExecute');
    assert.deepEqual(story.end(200), []);
  });
});
