import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, Pod, Taint } from '@taintmgr/core';
import {
  type Budget,
  type DrainConfig,
  type DrainPlan,
  planDrain,
  resolveDrainConfig,
} from '@taintmgr/core/drain';
import { type NodeDrainSpec, plainDrainSpec } from '@taintmgr/core/policy';
import {
  blockerLines,
  cannotFinish,
  daemonSetLine,
  renderPlan,
} from '../../../src/commands/drain-by-taint/plan-table.ts';
import { flagsFault } from '../../../src/commands/drain-by-taint/refusals.ts';
import { plain } from '../../../src/render/style.ts';
import { budgetOf, node, now, ofDaemonSet, pod, taint, tolerates } from '../../world/values.ts';

const maintenance = taint('maintenance=kernel:NoExecute');
const noFlags = { takesAll: false, leavesDaemonSets: false };
const allFlags = { takesAll: true, leavesDaemonSets: true };

function configOf(
  { key, value, effect }: Taint,
  pods: Partial<NodeDrainSpec['pods']>,
  leavesDaemonSets: boolean = false,
): DrainConfig {
  const put = { key, value, effect: effect as 'NoExecute' | 'NoSchedule' };
  const spec = { ...plainDrainSpec, taint: put, pods: { ...plainDrainSpec.pods, ...pods } };
  return resolveDrainConfig({ spec, leavesDaemonSets });
}

function plan(
  { takesAll, leavesDaemonSets }: typeof noFlags,
  nodes: readonly Node[],
  pods: readonly Pod[],
  budgets: readonly Budget[] = [],
  taintToPut = maintenance,
): DrainPlan {
  const takes = { withoutController: takesAll, withEmptyDir: takesAll };
  return planDrain(now, {
    config: configOf(taintToPut, takes, leavesDaemonSets),
    nodes,
    pods: pods.map((one) => ({ pod: { labels: {}, ready: 'True', ...one }, finalizers: [] })),
    budgets,
    nodeAnswers: () => true,
  });
}

const lines = (text: string): string => text.replace(/^\n/, '').replace(/^ {6}/gm, '').trimEnd();
const asTable = { wide: false, headers: true, width: null, paint: plain };

describe('the plan of a drain', () => {
  const n1 = node('n1');
  const agent = pod('agent', ofDaemonSet);
  const bare = pod('bare', { owner: null, hasEmptyDir: true });
  const cases: readonly (readonly [
    name: string,
    options: typeof noFlags,
    nodes: readonly Node[],
    pods: readonly Pod[],
    plan: string,
    refusal: string | null,
  ])[] = [
    [
      'a pod without toleration goes at once, another when its time is over',
      noFlags,
      [n1],
      [pod('db', tolerates('maintenance', 63)), pod('web')],
      `
      NODE   NAMESPACE   POD   ACTION   AT      BLOCKED BY   BECAUSE
      n1     shop        web   evict    +0s     <none>       no toleration for maintenance=kernel:NoExecute
      n1     shop        db    evict    +1m4s   <none>       tolerates maintenance=kernel:NoExecute for 1m3s
      2 pods to evict (last at +1m4s)`,
      null,
    ],
    [
      'every missing flag is named, with how many pods need it',
      noFlags,
      [n1],
      [agent, bare, pod('web', { hasEmptyDir: true })],
      `
      NODE   NAMESPACE   POD     ACTION   AT    BLOCKED BY   BECAUSE
      n1     shop        agent   refuse   -     -            managed by a DaemonSet, which would recreate it (--ignore-daemonsets)
      n1     shop        bare    refuse   -     -            has local storage (emptyDir), whose data would be lost (--delete-emptydir-data); is not managed by a controller (--force)
      n1     shop        web     refuse   -     -            has local storage (emptyDir), whose data would be lost (--delete-emptydir-data)
      3 pods: 3 refused`,
      '1 pod needs --ignore-daemonsets, 2 pods need --delete-emptydir-data, 1 pod needs --force; nothing was changed',
    ],
    [
      'the flags override the refusals',
      allFlags,
      [n1],
      [agent, bare],
      `
      NODE   NAMESPACE   POD     ACTION   AT    BLOCKED BY   BECAUSE
      n1     shop        bare    evict    +0s   <none>       no toleration for maintenance=kernel:NoExecute
      n1     shop        agent   leave    +0s   -            the DaemonSet controller deletes it: no toleration for maintenance=kernel:NoExecute
      2 pods: 1 to evict (at once), 1 deleted by the DaemonSet controller
      1 pod has no controller, and is not started again: shop/bare`,
      null,
    ],
    [
      'the DaemonSet controller leaves a pod that tolerates the taint, for however short a time',
      allFlags,
      [n1],
      [pod('agent', { ...ofDaemonSet, ...tolerates('maintenance', 60) })],
      `
      No pods to evict.
      1 pod stays: 1 of a DaemonSet`,
      null,
    ],
    [
      'what stays is counted by its reason, and need not be allowed to go',
      { ...noFlags, leavesDaemonSets: true },
      [n1, node('n2')],
      [
        pod('agent', { ...ofDaemonSet, ...tolerates('maintenance', 60) }),
        pod('static', { mirror: true, owner: null }),
        pod('going', { deletionTimestamp: now, owner: null }),
        pod('cache', { ...tolerates('maintenance'), owner: null }),
        pod('log', { ...tolerates(''), nodeName: 'n2' }),
      ],
      `
      NODE   NAMESPACE   POD     ACTION   AT    BLOCKED BY   BECAUSE
      n1     shop        going   wait     -     <none>       already terminating
      4 pods stay: 1 of a DaemonSet, 1 static, 2 tolerating the taint without limit`,
      null,
    ],
    ['a node without pods', noFlags, [n1], [], 'No pods to evict.', null],
    [
      'a finished pod is taken whatever it is',
      noFlags,
      [n1],
      [pod('job', { phase: 'Succeeded', owner: null, hasEmptyDir: true })],
      `
      NODE   NAMESPACE   POD   ACTION   AT    BLOCKED BY   BECAUSE
      n1     shop        job   evict    +0s   <none>       no toleration for maintenance=kernel:NoExecute`,
      null,
    ],
    [
      'the time of a taint that is there already goes on',
      noFlags,
      [node('n1', taint('maintenance=kernel:NoExecute', 60))],
      [pod('db', tolerates('maintenance', 63))],
      `
      NODE   NAMESPACE   POD   ACTION   AT    BLOCKED BY   BECAUSE
      n1     shop        db    evict    +4s   <none>       tolerates maintenance=kernel:NoExecute for 1m3s`,
      null,
    ],
    [
      'a taint of the same key with another value gives way, others count as well',
      noFlags,
      [node('n1', taint('maintenance=disk:NoExecute', 60), taint('old:NoExecute', 10))],
      [pod('db', tolerates('maintenance', 63))],
      `
      NODE   NAMESPACE   POD   ACTION   AT    BLOCKED BY   BECAUSE
      n1     shop        db    evict    +0s   <none>       no toleration for old:NoExecute; tolerates maintenance=kernel:NoExecute for 1m3s`,
      null,
    ],
  ];
  for (const [name, options, nodes, pods, expected, refusal] of cases) {
    it(name, () => {
      const planned = plan(options, nodes, pods);
      assert.equal(renderPlan(planned, now, asTable), lines(expected));
      assert.equal(flagsFault(planned), refusal);
    });
  }
});

describe('what the DaemonSet controller will do', () => {
  const agents = ['n1', 'n2'].map((nodeName) =>
    pod(`agent-${nodeName}`, { ...ofDaemonSet, nodeName }),
  );
  const nodes = [node('n1'), node('n2')];

  it('is printed for a NoExecute taint', () => {
    assert.equal(
      daemonSetLine(plan(allFlags, nodes, agents)),
      'shop/agent-n1 on n1, shop/agent-n2 on n2: the DaemonSet controller deletes what does not ' +
        'tolerate maintenance=kernel:NoExecute, and ignores PodDisruptionBudgets',
    );
  });

  it('is nothing for a NoSchedule taint', () => {
    const planned = plan(allFlags, nodes, agents, [], taint('maintenance=kernel:NoSchedule'));
    assert.equal(daemonSetLine(planned), null);
    assert.equal(
      renderPlan(planned, now, asTable),
      'No pods to evict.\n2 pods stay: 2 of a DaemonSet\n' +
        `DaemonSet ${agents[0]?.namespace}/${agents[0]?.owner?.name}: a pod that ends or is rolled is ` +
        'not started again on these nodes until undo, as it does not tolerate maintenance=kernel:NoSchedule',
    );
  });

  it('names no DaemonSet that comes back: its pods tolerate the taint, or it keeps none away', () => {
    const tolerating = agents.map((one) => ({ ...one, ...tolerates('maintenance') }));
    const planOf = (pods: readonly Pod[], effect: string): string => {
      const put = taint(`maintenance=kernel:${effect}`);
      return renderPlan(plan(allFlags, nodes, pods, [], put), now, asTable);
    };
    assert.doesNotMatch(planOf(tolerating, 'NoSchedule'), /not started again/);
    assert.doesNotMatch(planOf(agents, 'PreferNoSchedule'), /not started again/);
  });
});

describe('what a plan says is in the way', () => {
  const counts = { healthy: 5, desired: 5, expected: 5 };
  const shut = budgetOf('web', { selector: { matchLabels: { app: 'web' } }, ...counts });
  const webs = [1, 2, 3, 4, 5].map((number) => pod(`web-${number}`, { labels: { app: 'web' } }));

  it('each budget once, with the pods that it holds', () => {
    const planned = plan(noFlags, [node('n1')], webs, [shut]);
    assert.deepEqual(blockerLines(planned), [
      'shop/web-1 on n1, shop/web-2 on n1, shop/web-3 on n1 and 2 pods more: PDB web (needs action): ' +
        'The disruption budget web needs 5 healthy pods and has 5 currently',
    ]);
    assert.equal(cannotFinish(planned), true);
  });

  it('those that have to wait for the others', () => {
    const wide = { ...shut, allowed: 3, desired: 2 };
    const planned = plan(noFlags, [node('n1')], webs, [wide]);
    assert.deepEqual(blockerLines(planned), [
      'shop/web-4 on n1, shop/web-5 on n1: PDB web (needs time): ' +
        'The disruption budget web allows 3 disruptions now, and other pods go first',
    ]);
    assert.equal(cannotFinish(planned), false);
    assert.match(renderPlan(planned, now, asTable), /web-4 +evict +\+0s +PDB web \(needs time\)/);
  });

  it('nothing is known of budgets that may not be seen', () => {
    const planned = plan(noFlags, [node('n1')], webs.slice(0, 1));
    assert.match(renderPlan(planned, now, asTable, false), /web-1 +evict +\+0s +\? +no toleration/);
  });
});

it('says once why a pod goes where the taint is there with another effect', () => {
  const there = node('n1', maintenance);
  const made = plan(noFlags, [there], [pod('web')], [], taint('maintenance=kernel:NoSchedule'));
  const text = renderPlan(made, now, asTable);
  assert.equal(text.match(/no toleration/g)?.length, 1, text);

  it('says of pods that have ended that they stay for that', () => {
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'report' };
    const ended = pod('report-1', { phase: 'Succeeded', owner });
    const { pods } = planDrain(now, {
      config: configOf(maintenance, { waitCompleted: { timeout: 60_000 } }),
      nodes: [node('n1')],
      pods: [ended, pod('kept', tolerates('maintenance'))].map((one) => ({
        pod: one,
        finalizers: [],
      })),
      budgets: [],
      nodeAnswers: () => true,
    });
    const text = renderPlan({ taint: maintenance, pods }, now, asTable);
    assert.match(text, /^2 pods stay: 1 finished, 1 tolerating the taint without limit$/m);
  });
});
