// What a NodeDrain says of each pod that is still there, beside what explain says of the same pod at that moment.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Command,
  createEngine,
  describeReason,
  type Event,
  makeNode,
  type Pod,
} from '@taintmgr/core';
import { type Budget, type NodeDrainState, predictBlockers } from '@taintmgr/core/drain';
import { formatDeadline } from '@taintmgr/core/time';
import { actorOf } from '@taintmgr/k8s-adapter';
import { type PolicyObject, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { Explainer } from '../../src/explain/explainer.ts';
import { present } from '../../src/explain/question.ts';
import { type PodReport, reportOn } from '../../src/explain/report.ts';
import { noPolicies, policiesInForce, policyEvents } from '../../src/survey/policies.ts';
import { fc } from '../world/fast-check.ts';
import { nobody, nodeFactsOf, now, pod, podFactsOf, surveyOf } from '../world/values.ts';

const apiVersion = 'taintmgr.dev/v1alpha1';
const begin = now - 30_000;
const taint = { key: 'work', value: '', effect: 'NoSchedule', timeAdded: null } as const;

function objectOf(kind: string, name: string, spec: object): PolicyObject {
  const creationTimestamp = new Date(begin - 600_000).toISOString();
  const metadata = { name, uid: name, generation: 1, creationTimestamp };
  const judged = readManifest({ apiVersion, kind, metadata, spec }, begin);
  assert.ok(judged.kind === 'allowed', JSON.stringify(judged));
  return judged.value;
}

const selects = (label: string) => ({ podSelector: { matchLabels: { is: label } } });
const policies: Readonly<Record<string, PolicyObject>> = {
  keep: objectOf('EvictionPolicy', 'keep', { action: 'Keep', match: selects('kept') }),
  slow: objectOf('EvictionPolicy', 'slow', {
    ...{
      match: selects('slow'),
      minTaintAge: '10m',
      action: 'Evict',
      defaultTolerationSeconds: 300,
    },
  }),
  limited: objectOf('EvictionPolicy', 'limited', {
    ...{ match: selects('limited'), limits: [{ per: 'Total', podsPerSecond: 0.01, burst: 1 }] },
  }),
  night: objectOf('EvictionPause', 'night', { reason: 'night', scope: { namespaces: ['quiet'] } }),
};

const tolerating = (seconds: number | null, key = 'work') => [
  { key, operator: 'Exists', value: '', effect: '', tolerationSeconds: seconds },
];
const owners = {
  ReplicaSet: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs' },
  DaemonSet: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds' },
  Job: { apiVersion: 'batch/v1', kind: 'Job', name: 'job' },
  none: null,
};

const podParts = fc.record({
  tolerations: fc.constantFrom(
    [],
    tolerating(null),
    tolerating(600),
    tolerating(5),
    tolerating(null, ''),
  ),
  owner: fc.constantFrom(...Object.values(owners)),
  is: fc.constantFrom('plain', 'kept', 'slow', 'limited'),
  budget: fc.constantFrom('', 'open', 'shut', 'later', 'operator', 'stale', 'twice'),
  namespace: fc.constantFrom('shop', 'shop', 'quiet'),
  phase: fc.constantFrom('Running', 'Running', 'Pending', 'Succeeded'),
  ready: fc.constantFrom('True', 'False'),
  optedOut: fc.constantFrom(false, false, true),
  hasEmptyDir: fc.boolean(),
  mirror: fc.constantFrom(false, false, true),
  deletionTimestamp: fc.constantFrom(null, null, begin - 5_000),
});
type PodParts = typeof podParts extends fc.Arbitrary<infer T> ? T : never;

function podOf({ is, budget, owner, mirror, ...drawn }: PodParts, index: number): Pod {
  // A Job that tolerates the taint has this time first, and then what it is given to finish.
  const fields = owner?.kind === 'Job' ? { ...drawn, tolerations: [] } : drawn;
  const labels = { is, budget };
  return pod(`p${index}`, {
    ...fields,
    mirror,
    owner: mirror ? null : owner,
    labels,
    boundAt: begin - 60_000,
  });
}

function budgetsIn(namespace: string): readonly Budget[] {
  const one = (name: string, label: string, fields: Partial<Budget>): Budget => ({
    ...{ namespace, name, selector: { matchLabels: { budget: label }, matchExpressions: [] } },
    ...{ allowed: 0, healthy: 1, desired: 1, expected: 1, upToDate: true },
    ...{ alwaysEvictUnhealthy: false, refusal: null, ...fields },
  });
  const cluster = { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', name: 'db' };
  return [
    one('open', 'open', { allowed: 5, healthy: 6, expected: 6 }),
    one('shut', 'shut', {}),
    one('later', 'later', { desired: 2, healthy: 2, expected: 3 }),
    one('operator', 'operator', { owners: [cluster] }),
    one('stale', 'stale', { upToDate: false }),
    one('twice-1', 'twice', {}),
    one('twice-2', 'twice', { allowed: 3 }),
  ];
}
const budgets = ['shop', 'quiet'].flatMap(budgetsIn);

/** The controller itself, on n1, and its other replica on n2. */
const ownPod = { namespace: 'shop', name: 'controller-0' };
const ours = {
  labels: { 'pod-template-hash': 'abc12' },
  owner: { ...owners.ReplicaSet, name: 'controller-abc12' },
  ...{ ready: 'True', boundAt: begin - 60_000 },
};
const self = pod('controller-0', ours);
const standIn = (ready: string): Pod => pod('controller-1', { ...ours, nodeName: 'n2', ready });
const times = { heartbeatAt: begin, transitionAt: begin };
const conditions = [{ type: 'Ready', status: 'True', reason: '', message: '', ...times }];
const other = makeNode({ name: 'n2', conditions });
const replicas = fc.constantFrom([], [self], [self, standIn('True')], [self, standIn('False')]);

const pods = { withoutController: true, withEmptyDir: true };
const specs = fc.constantFrom<object[]>(
  {},
  { tolerations: 'Ignore' },
  { tolerations: 'NoWait' },
  { budgets: { policy: 'Ignore' } },
  { budgets: { policy: 'DeleteAfter', deleteAfter: '10m' } },
  { pods: { ...pods, waitCompleted: { timeout: '1h' } } },
  { pods: { ...pods, order: 'ByPriority' } },
);

function nodeDrainOf(spec: object) {
  const read = objectOf('NodeDrain', 'kernel', {
    ...{ nodes: ['n1'], taint: { key: 'work' }, pods },
    ...spec,
  });
  assert.ok(read.kind === 'NodeDrain');
  return { ...read.value, isGuarded: true };
}

/** How far a NodeDrain of n1 has come half a minute after its begin, and the pods that are left. */
function drained(given: readonly Pod[], inForce: readonly PolicyObject[], spec: object) {
  const engine = createEngine({ nodeDrains: true, mode: 'evict', ownPod });
  const pods = new Map(given.map((one) => [one.uid, one]));
  let at = begin;
  let node = makeNode({ name: 'n1', conditions });
  const drain = nodeDrainOf(spec);
  const tell = (event: Event): void => {
    for (const command of engine.handle(at, event)) perform(command);
  };
  const perform = (command: Command): void => {
    if (!('id' in command)) return;
    const answer = (outcome: Extract<Event, { kind: 'result' }>['outcome']): void =>
      tell({ kind: 'result', id: command.id, outcome });
    if (command.kind === 'writeDrainNode') {
      const mark = { id: 'kernel', taint: 'work:NoSchedule', by: 'taintmgr-controller' };
      const taints = node.taints.length > 0 ? node.taints : [{ ...taint, timeAdded: at }];
      const isAtWork = command.write.kind !== 'end';
      const work = isAtWork ? { drains: [{ ...mark, heartbeat: String(at) }] } : {};
      node = { ...makeNode({ name: 'n1', conditions }), taints, drainMarks: [mark], ...work };
      tell({ kind: 'nodeUpsert', node });
    } else if (command.kind === 'deletePod') {
      pods.delete(command.pod.uid);
      tell({ kind: 'podDelete', uid: command.pod.uid });
    } else if (command.kind === 'evictPod') {
      const going = pods.get(command.pod.uid);
      const [met] = going
        ? predictBlockers(going, { budgets, finalizers: [], nodeAnswers: true })
        : [];
      if (met?.code === 'TwoBudgets') {
        answer({ kind: 'failed', status: 500, message: met.message, retryAfter: null });
        return;
      }
      if (met) {
        const found = command.readsBudget ? { found: met.budgets[0] ?? null } : {};
        answer({ kind: 'blocked', message: met.message, retryAfter: null, ...found });
        return;
      }
      pods.delete(command.pod.uid);
      tell({ kind: 'podDelete', uid: command.pod.uid });
    }
    answer({ kind: 'done' });
  };
  tell({ kind: 'otherEvictors', others: { kind: 'nobody', text: '', advice: '' } });
  for (const one of [node, other]) tell({ kind: 'nodeUpsert', node: one });
  for (const name of ['shop', 'quiet']) {
    tell({ kind: 'namespaceUpsert', namespace: { name, labels: {} } });
  }
  for (const event of policyEvents(policiesOf(inForce))) tell(event);
  for (const one of pods.values()) tell({ kind: 'podUpsert', pod: one });
  tell({ kind: 'nodeDrainUpsert', drain });
  tell({ kind: 'synced' });
  for (;;) {
    const wake = engine.nextWake();
    if (wake === null || wake > now) break;
    at = Math.max(at, wake);
    tell({ kind: 'tick' });
  }
  at = now;
  const state = engine.policyCounts(at).drains?.get('kernel') ?? assert.fail();
  return { state, node, pods: [...pods.values()] };
}

function policiesOf(inForce: readonly PolicyObject[]) {
  const namespaces = ['shop', 'quiet'].map((name) => ({ name, labels: {} }));
  return { ...noPolicies, ...policiesInForce(inForce, undefined), namespaces, missing: [] };
}

function explained(
  { node, pods }: ReturnType<typeof drained>,
  inForce: readonly PolicyObject[],
  spec: object,
): Map<string, PodReport> {
  const heartbeat = new Date(now - 1000).toISOString();
  const mark = { id: 'kernel', taint: 'work:NoSchedule', tainted: true, by: 'taintmgr-controller' };
  const marks = [{ ...mark, ...(node.drains && { run: 'r', heartbeat }) }];
  const facts = nodeFactsOf(node, { annotations: { 'taintmgr.dev/drain': JSON.stringify(marks) } });
  const taintmgr = { kind: 'acts', who: 'taintmgr_1', evidence: [] } as const;
  const evictors = { ...nobody, taintmgr };
  const survey = surveyOf(
    [facts],
    pods.filter(({ nodeName }) => nodeName === 'n1').map((one) => podFactsOf(one)),
    {
      ...{
        evictors,
        evictor: { ...actorOf(evictors), asksBudgets: true, heedsDrains: true, ownPod },
      },
      ...{ budgets, policies: policiesOf(inForce) },
      nodeDrains: [nodeDrainOf(spec)],
      replicas: {
        nodes: [facts, nodeFactsOf(other)],
        pods: pods
          .filter(({ name }) => name.startsWith('controller-'))
          .map((one) => podFactsOf(one)),
      },
    },
  );
  const explainer = new Explainer(present);
  explainer.take(survey);
  const [report] = reportOn(survey, explainer).nodes;
  return new Map(report?.pods?.map((one) => [one.facts.pod.uid, one]));
}

/** In words, what a drain says of a pod, and explain; the same words where they agree. */
function sayings(state: NodeDrainState, one: PodReport): readonly [drain: string, explain: string] {
  const { facts, explanation, blockers } = one;
  const { decision } = explanation;
  const { uid, name, deletionTimestamp } = facts.pod;
  const because = decision.because[0] ? describeReason(decision.because[0]) : '';
  const said = state.pods.find((known) => known.uid === uid);
  const [drainedNode = assert.fail()] = state.nodes;
  const isOver = drainedNode.endedAt !== null;
  const staying = new RegExp(`/${name} \\((.*?)\\)(,|$)`).exec(state.staying)?.[1];
  const how = said?.state === 'givenUp' ? 'blocked' : said?.state;
  const drain =
    !said || (isOver && how === 'blocked')
      ? 'stays'
      : `${how}: ${said.blocker ? said.blocker.verdict : said.hold}`;
  if (deletionTimestamp !== null) return [drain, said ? 'terminating: ' : 'stays'];
  // Who is done with a node shows on it no more why pods stay.
  if (staying !== undefined && !isOver) return [`stays: ${staying}`, `stays: ${because}`];
  const [first] = decision.because;
  if (decision.kind === 'keep' && first?.code === 'LastReplica')
    return [drain, `queued: ${because}`];
  if (decision.kind === 'keep') return [drain, 'stays'];
  if (decision.kind === 'pause') return [drain, `queued: ${because}`];
  // A drain gives some time to finish, whatever they tolerate.
  if (decision.deadline > now && said?.hold.startsWith('it may finish')) {
    return [drain, `waiting: it may finish by ${formatDeadline(decision.deadline)}`];
  }
  if (decision.deadline > now) {
    return [drain, `waiting: ${because}: until ${formatDeadline(decision.deadline)}`];
  }
  return [drain, blockers[0] ? `blocked: ${blockers[0].verdict}` : 'gone'];
}

/** Whether the drain goes on, and when it is over at the earliest, by what explain says of its pods; null: nobody knows. */
function outlookOf(reports: Iterable<PodReport>): readonly [phase: string, end: number | null] {
  const open = [...reports].flatMap(({ facts, explanation: { decision }, blockers }) => {
    const isLast = decision.because[0]?.code === 'LastReplica';
    if (facts.pod.deletionTimestamp !== null) return { isMoving: true, end: now };
    if (decision.kind === 'keep' && !isLast) return [];
    const isMoving = decision.kind === 'evict' && decision.deadline > now;
    const isTimely = ['resolves', 'needsTime'].includes(blockers[0]?.verdict ?? 'resolves');
    const isKnown = decision.kind !== 'pause' && (isMoving || isTimely);
    return { isMoving, end: isMoving ? decision.deadline : isKnown ? now : null };
  });
  const ends = open.map(({ end }) => end);
  const isKnown = ends.every((end) => end !== null);
  const phase = open.some(({ isMoving }) => isMoving) ? 'Running' : 'Blocked';
  return [phase, phase === 'Running' && isKnown ? Math.max(...ends) : null];
}

it('they agree on each pod', () => {
  fc.assert(
    fc.property(
      fc.array(podParts, { minLength: 1, maxLength: 6 }),
      replicas,
      fc.subarray(Object.keys(policies)),
      specs,
      (parts, own, names, spec) => {
        const inForce = names.flatMap((name) => policies[name] ?? []);
        const cluster = drained([...parts.map(podOf), ...own], inForce, spec);
        const reports = explained(cluster, inForce, spec);
        for (const [name, report] of reports) {
          const [drain, explain] = sayings(cluster.state, report);
          assert.equal(drain, explain, name);
        }
        const { phase, expectedEnd, nodes, pods, podsGone } = cluster.state;
        if (nodes[0]?.endedAt !== null) return;
        // What is not asked for again is not waited for: the drain fails when the others are gone.
        for (const { uid, state } of pods) if (state === 'givenUp') reports.delete(uid);
        const [isSo, end] = outlookOf(reports.values());
        assert.equal(phase, isSo);
        // Without a pod that is gone nobody knows how long those take that have no time of their own.
        if (end === null || podsGone > 0) assert.equal(expectedEnd === null, end === null);
        if (end !== null && expectedEnd !== null) assert.ok(expectedEnd >= end);
      },
    ),
    { numRuns: 500 },
  );
});
