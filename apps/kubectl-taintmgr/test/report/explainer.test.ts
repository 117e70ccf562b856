import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DutyVerdict, Evictors } from '@taintmgr/k8s-adapter';
import { Explainer, readQuestion, reportOn } from '@taintmgr/k8s-adapter/explain';
import { type ForecastSurvey, noPolicies } from '@taintmgr/k8s-adapter/survey';
import { checkOverlap } from '../../src/commands/doctor/controller-checks.ts';
import { podView } from '../../src/commands/explain/pod.ts';
import { pendingColumns } from '../../src/commands/pending.ts';
import { answerOf, explain, may } from '../world/explained.ts';
import {
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

// What is said where the leader runs with --takeover: each decides about namespaces of its own.

const acts = leads(now, 'kcm', 'cp');

const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();

/** A node tainted 40 s ago, where shop is taken over or not, and kube-controller-manager does as told. */
async function surveyWith(
  isTakenOver: boolean,
  manager: DutyVerdict,
  nodes = [nodeFactsOf(node('n1', taint('bad:NoExecute', 40)))],
  tolerations = tolerates('bad', 63),
): Promise<ForecastSurvey> {
  const upstream = { ...nobody.upstream, 'taint-eviction-controller': manager };
  const evictors: Evictors = { upstream, taintmgr: leads() };
  const settings = { mode: 'evict', takeover: 'true' };
  const evictor = await evictorWhere(evictors, { settings });
  const labels: Record<string, string> = isTakenOver ? { 'taintmgr.dev/takeover': 'enabled' } : {};
  const policies = { ...noPolicies, namespaces: [{ name: 'shop', labels }] };
  const pods = [podFactsOf(pod('web-0', tolerations))];
  return surveyOf(nodes, pods, { evictors, evictor, policies });
}

/** Who evicts here, the pod's DECISION and IN, and who makes it go. */
function said(from: ForecastSurvey): readonly string[] {
  const { text, document } = explain(from);
  const lines = text.split('\n');
  const [, who] = (lines.find((line) => line.startsWith('Evicted by')) ?? '').split(/ {2,}/);
  const [, , decision, left] = (lines.find((line) => /^shop +web-0/.test(line)) ?? '').split(
    / {2,}/,
  );
  const { pods } = Object(document);
  return [who ?? '', `${decision} ${left}`, String(pods[0].evictedBy)];
}

/** What `explain pod` gives as the reason. */
function podLine(survey: ForecastSurvey): string {
  const { text } = answerOf(podView('shop', 'web-0'), survey);
  return /Because: +(.*)/.exec(text)?.[1] ?? '';
}

/** The TAINT of `pending`. */
function pendingTaint(survey: ForecastSurvey): string {
  const explainer = new Explainer(readQuestion({}));
  explainer.take(survey);
  const pods = reportOn(survey, explainer).nodes.flatMap((one) => one.pods ?? []);
  const column = pendingColumns(now, pods).find(([title]) => title === 'TAINT');
  return pods.map((one) => column?.[1](one)).join();
}

const each =
  'taintmgr-controller in namespaces that are taken over, kube-controller-manager in others';

describe('a controller with --takeover', () => {
  for (const [name, manager] of [
    ['may evict', may],
    ['evicts', acts],
  ] as const) {
    it(`where kube-controller-manager ${name}: each has its own pods`, async () => {
      assert.deepEqual(said(await surveyWith(true, manager)), [
        ...[each, 'Evict 24s', 'taintmgr-controller'],
      ]);
      assert.deepEqual(said(await surveyWith(false, manager)), [
        ...[each, 'Evict ~24s', 'kube-controller-manager'],
      ]);
    });

    it(`where kube-controller-manager ${name}: two evict, and that is as it should be`, async () => {
      const [finding, ...others] = checkOverlap(await surveyWith(true, manager));
      assert.equal(finding?.level, 'OK');
      assert.match(finding?.message ?? '', /^taintmgr-controller runs with --takeover \(cp_1/);
      assert.match(finding?.message ?? '', /evicts in namespaces that are not taken over$/);
      assert.deepEqual(others, []);
    });
  }

  it('a drain at work makes pods go whatever their namespace is', async () => {
    const drain = { id: 'd1', taint: 'bad:NoSchedule', by: 'ann', heartbeat: ago(10) };
    const mark = { ...drain, tainted: true, cordoned: true, run: 'r' };
    const annotations = { 'taintmgr.dev/drain': JSON.stringify([mark]) };
    const one = { ...node('n1', taint('bad:NoSchedule', 40)), drains: [drain] };
    const drained = [nodeFactsOf(one, { annotations })];
    for (const isTakenOver of [true, false]) {
      const [, decision, evictor] = said(await surveyWith(isTakenOver, acts, drained));
      assert.deepEqual([decision, evictor], ['Evict 24s', 'drain-by-taint'], `${isTakenOver}`);
    }
  });

  it('keeps no pod by one taint that kube-controller-manager evicts by another', async () => {
    const taints = [taint('kept:NoExecute', 40), taint('bad:NoExecute', 40)];
    const both = [tolerates('kept'), tolerates('bad', 63)].flatMap((one) => one.tolerations);
    for (const order of [taints, [...taints].reverse()]) {
      const nodes = [nodeFactsOf(node('n1', ...order))];
      const survey = await surveyWith(false, acts, nodes, { tolerations: both });
      assert.deepEqual(said(survey), [each, 'Evict ~24s', 'kube-controller-manager']);
    }
  });

  it('names the taint whose toleration ends, beside one that is tolerated for ever', async () => {
    const taints = [taint('kept:NoExecute', 40), taint('bad:NoExecute', 40)];
    const tolerations = [tolerates('kept'), tolerates('bad', 63)].flatMap((one) => one.tolerations);
    for (const order of [taints, [...taints].reverse()]) {
      for (const isTakenOver of [true, false]) {
        const nodes = [nodeFactsOf(node('n1', ...order))];
        const survey = await surveyWith(isTakenOver, acts, nodes, { tolerations });
        const [line, taintOfIt] = [await podLine(survey), pendingTaint(survey)];
        assert.equal(line, 'tolerates bad:NoExecute for 1m3s');
        assert.equal(taintOfIt, 'bad:NoExecute');
      }
    }
  });

  it('is alone where kube-controller-manager is known to leave taints alone', async () => {
    const { 'taint-eviction-controller': absent } = nobody.upstream;
    assert.deepEqual(said(await surveyWith(false, absent)), [
      ...['taintmgr-controller', 'Keep -', 'undefined'],
    ]);
  });
});
