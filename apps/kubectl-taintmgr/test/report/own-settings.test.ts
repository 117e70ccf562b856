import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '@taintmgr/core';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { type ForecastSurvey, noPolicies, policiesInForce } from '@taintmgr/k8s-adapter/survey';
import { explain } from '../world/explained.ts';
import {
  budgetOf,
  evictorWhere,
  leads,
  nobody,
  node,
  nodeFactsOf,
  now,
  pod,
  podFactsOf,
  surveyOf,
  taint,
  tolerates,
} from '../world/values.ts';

// What explain says where the leader has published how it runs.

type Settings = Readonly<Record<string, string>>;

const evictors = { ...nobody, taintmgr: leads() };
const budget = budgetOf('web');
const pause = {
  ...{ name: 'night', uid: 'u', readiness: false, deadlines: true, reason: '', until: null },
  scope: { zones: [], nodes: null, taintKeys: [], namespaces: [] },
  since: now - 30_000,
};
const pauses: readonly PolicyObject[] = [{ kind: 'EvictionPause', value: pause }];

/** A node that was tainted 40 s ago, where the leader has run for 20 s with these settings. */
async function surveyWith(
  settings: Settings,
  fields: Partial<ForecastSurvey> = {},
  cluster: readonly PolicyObject[] = [],
): Promise<ForecastSurvey> {
  const evictor = await evictorWhere(evictors, {
    startedAt: new Date(now - 20_000).toISOString(),
    controllers: ['taint-eviction-controller', 'node-lifecycle-controller'],
    features: ['last-replica'],
    settings,
  });
  const nodes = [nodeFactsOf(node('n1', taint('bad:NoExecute', 40)))];
  const one = pod('web-0', {
    ...{ labels: {}, ready: 'True', boundAt: now - 3_600_000 },
    tolerations: [{ key: 'bad', operator: 'Exists', value: '', effect: '', tolerationSeconds: 30 }],
  });
  const policies = { ...noPolicies, ...policiesInForce(cluster, evictor.settings) };
  const read = { evictors, evictor, budgets: [budget], policies };
  return surveyOf(nodes, [podFactsOf(one)], { ...read, ...fields });
}

/** DECISION, IN and BLOCKED BY of the pod, and the notes. */
async function said(
  settings: Settings,
  cluster: readonly PolicyObject[],
): Promise<readonly string[]> {
  const { text, notes } = explain(await surveyWith(settings, {}, cluster));
  const row = text.split('\n').find((line) => /^shop +web-0/.test(line)) ?? '';
  const [, , decision, left, blocked] = row.split(/ {2,}/);
  return [[decision, left, blocked].join(' | '), ...notes];
}

const held = 'PDB web (needs action)';
const timers =
  'times with ~ are estimates: taintmgr-controller --semantics=kube-controller-manager keeps its timers in ' +
  'memory, and they are counted from when taints and tolerations were written, and no earlier ' +
  'than its own start';
const ignores = 'taintmgr-controller does not follow the policies and pauses of the cluster';

const cases: readonly (readonly [
  name: string,
  settings: Settings,
  cluster: readonly PolicyObject[],
  expected: readonly string[],
])[] = [
  ['delete', { mode: 'delete' }, [], ['Evict | overdue by 9s | <none>']],
  ['evict', { mode: 'evict' }, [], [`Evict | overdue by 9s | ${held}`]],
  [
    'budgets are asked for two minutes',
    { mode: 'evict-then-delete', 'delete-after': '2m' },
    [],
    [`Evict | overdue by 9s | ${held}, deleted in 1m51s`],
  ],
  [
    'budgets are asked for ever',
    { mode: 'evict-then-delete', 'delete-after': 'never' },
    [],
    [`Evict | overdue by 9s | ${held}`],
  ],
  [
    'a taint has to be a minute old',
    { mode: 'delete', 'eviction.minTaintAge': '1m' },
    [],
    ['Evict | 21s | <none>'],
  ],
  [
    'by the rules of kube-controller-manager its timers begin when it begins',
    { mode: 'evict', semantics: 'upstream-1.36' },
    [],
    ['Evict | ~10s | <none>', timers],
  ],
  [
    'which knows no pauses',
    { mode: 'evict', semantics: 'upstream-1.36' },
    pauses,
    ['Evict | ~10s | <none>', ignores, timers],
  ],
  ['pauses count', { mode: 'delete' }, pauses, ['Held | 21s | pause night']],
  [
    'or do not',
    { mode: 'delete', 'cluster-policies': 'false' },
    pauses,
    ['Evict | overdue by 9s | <none>', ignores],
  ],
  [
    'what is not known is said, and the rest counts',
    { mode: 'evict', 'delete-after': 'soon', 'evict-on': 'sundays' },
    [],
    [
      `Evict | overdue by 9s | ${held}`,
      'taintmgr-controller runs with delete-after=soon, which is not understood here and left out',
      'taintmgr-controller runs with evict-on=sundays, which is not understood here and left out',
    ],
  ],
];

describe('explain goes by the published settings', () => {
  for (const [name, settings, cluster, expected] of cases) {
    it(name, async () => assert.deepEqual(await said(settings, cluster), expected));
  }

  it('in when a pod is deleted that budgets hold back on a node that goes soon', async () => {
    const asked = { mode: 'evict-then-delete', 'delete-after': '2m' };
    const heeding = { ...asked, 'eviction.heedNodeDeadlines': 'true' };
    const deleted = async (settings: Settings, secondsLeft: number): Promise<string> => {
      const one = { ...node('n1', taint('bad:NoExecute', 40)), deadline: now + secondsLeft * 1000 };
      const { text } = explain(await surveyWith(settings, { nodes: [nodeFactsOf(one)] }));
      return /deleted in \w+/.exec(text)?.[0] ?? text;
    };
    // Its grace period of 30 s is to end by then.
    assert.equal(await deleted(heeding, 60), 'deleted in 30s');
    assert.equal(await deleted({ ...heeding, 'delete-after': 'never' }, 60), 'deleted in 30s');
    assert.equal(await deleted(heeding, 600), 'deleted in 1m51s');
    assert.equal(await deleted(asked, 60), 'deleted in 1m51s');
  });

  const replica = (name: string, nodeName: string, ready: string): Pod => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'c-1' };
    const where = { namespace: 'kube-system', nodeName, owner, ready, labels: {} };
    return pod(name, { ...where, boundAt: now - 3_600_000 });
  };
  /** What is said of the leader's pod `cp` on n1, beside a pod `other` on n2 that bears no taint. */
  async function saidOfLeader(
    settings: Settings,
    other: string,
    tolerations: Pick<Pod, 'tolerations'> = { tolerations: [] },
  ): Promise<string> {
    const times = { heartbeatAt: null, transitionAt: null };
    const conditions = [{ type: 'Ready', status: 'True', reason: '', message: '', ...times }];
    const nodes = [nodeFactsOf({ ...node('n1', taint('bad:NoExecute', 10)), conditions })];
    const pods = [podFactsOf({ ...replica('cp', 'n1', 'True'), ...tolerations })];
    const replicas = {
      nodes: [...nodes, nodeFactsOf({ ...node('n2'), conditions })],
      pods: [...pods, podFactsOf(replica('other', 'n2', other))],
    };
    const { text } = explain(await surveyWith(settings, { nodes, pods, replicas }));
    const row = text.split('\n').find((line) => line.startsWith('kube-system')) ?? '';
    const cells = row.split(/ {2,}/);
    return `${cells[2]}: ${cells.at(-1)}`;
  }
  for (const semantics of ['precise', 'upstream-1.36']) {
    it(`in whether the last replica of ours goes: --semantics=${semantics}`, async () => {
      const settings = { mode: 'delete', semantics };
      assert.equal(
        await saidOfLeader(settings, 'False'),
        'Keep: the last ready replica of ReplicaSet c-1; it is evicted when another is ready; no toleration for bad:NoExecute',
      );
      assert.match(
        await saidOfLeader(settings, 'False', tolerates('bad', 63)),
        /^Keep: the last ready replica of .*; tolerates bad:NoExecute for 1m3s$/,
      );
      assert.match(
        await saidOfLeader(settings, 'True'),
        /^Evict: no toleration for bad:NoExecute$/,
      );
    });
  }

  it('in the health of a node and its zone', async () => {
    const times = { heartbeatAt: null, transitionAt: null };
    const conditions = [{ type: 'Ready', status: 'True', reason: '', message: '', ...times }];
    const one = { ...node('n1', taint('bad:NoExecute', 40)), conditions };
    const facts = nodeFactsOf(one, { zone: 'a' });
    const renewed = new Map([['n1', { at: now - 25_000, clockAhead: 0 }]]);
    const fields = { zoneNodes: [facts], nodes: [facts], leases: renewed };
    const settings = { 'node-monitor-grace-period': '40s', 'node-eviction-rate': '0.3' };
    const { text } = explain(await surveyWith({ mode: 'delete', ...settings }, fields));
    const head = text.split('\n').filter((line) => /^(Health|Zone)/.test(line));
    assert.deepEqual(head, [
      'Health:       Unknown in 15s without a heartbeat',
      'Zone:         a, 0 of 1 node not ready: Normal, eviction rate 0.3 nodes/s',
    ]);
  });
});
