import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSettings } from '../../src/evictors/settings.ts';
import { explainSurvey } from '../../src/explain/explained.ts';
import { readQuestion } from '../../src/explain/question.ts';
import { nodeSubject } from '../../src/explain/subjects.ts';
import type { Readiness } from '../../src/survey/facts.ts';
import { node, nodeFactsOf, now, ofDaemonSet, pod, podFactsOf, surveyOf } from '../world/values.ts';

// What explain says where the controller deletes the pods of nodes that are not ready, without taints.

interface Circumstances {
  readonly settings?: Readonly<Record<string, string>>;
  /** When the controller began. */
  readonly since?: number | null;
  /** When the lease of the node was renewed. */
  readonly lease?: number | null;
  /** How the other nodes of its zone are; left out: they may not be seen. */
  readonly others?: readonly Readiness[];
}

const legacy = {
  ...{ mode: 'delete', semantics: 'upstream-1.36', 'nodeLifecycle.enforcement': 'pods' },
  'nodeLifecycle.podEvictionTimeout': '2m',
};

/** Fate, time left and reason of each pod, where the node is so. */
function said(
  ready: Readiness,
  { settings = legacy, since = null, lease = null, others }: Circumstances = {},
): readonly string[] {
  const nodes = [nodeFactsOf(node('n1'), { ready })];
  const facts = [pod('web'), pod('agent', ofDaemonSet)].map((one) => podFactsOf(one));
  const renewal = lease === null ? null : { at: lease, clockAhead: 0 };
  const beside = others?.map((each, index) => nodeIn(`n${index + 2}`, each));
  const zoneNodes = beside ? [nodeIn('n1', ready), ...beside] : null;
  const read = surveyOf(nodes, facts, { leases: new Map([['n1', renewal]]), zoneNodes });
  const runs = { mode: 'delete' as const, watchesNodes: true, allowsOverlap: false };
  const own = { ...readSettings(settings), ...runs };
  const rules = 'kube-controller-manager' as const;
  const evictor = {
    ...{ ...read.evictor, rules, upstreamSince: since, asksBudgets: false },
    settings: { ...own, policies: [] },
  };
  const { document } = explainSurvey({ ...read, evictor }, nodeSubject('n1'), readQuestion({}));
  const pods = document.pods?.map(({ name, decision, remainingSeconds, estimate, because }) => {
    const left =
      remainingSeconds === undefined ? '' : ` in ${estimate ? '~' : ''}${remainingSeconds} s`;
    return `${name}: ${decision}${left}, ${because[0]?.text}`;
  });
  return pods?.sort().reverse() ?? [];
}

/** A node whose condition Ready is so. */
function nodeIn(name: string, ready: Readiness) {
  const { status, since } = ready;
  const condition = { type: 'Ready', status, reason: '', message: '' };
  const conditions = [{ ...condition, heartbeatAt: since, transitionAt: since }];
  return nodeFactsOf({ ...node(name), conditions }, { ready });
}

const notReady = { status: 'False', since: now - 31_000, reason: 'KubeletNotReady' } as const;
const unknown = { status: 'Unknown', since: now - 31_000, reason: 'NodeStatusUnknown' } as const;

describe('the legacy mode', () => {
  it('deletes the pods of a node that is not ready for so long, and spares DaemonSets', () => {
    const [web, agent] = said(notReady);
    assert.match(web ?? '', /^web: Evict in ~95 s, node n1 /);
    assert.match(agent ?? '', /^agent: Keep, /);
  });

  it('deletes nothing where all zones are down, and where the zone has the rate 0', () => {
    const [web] = said(notReady, { others: [notReady, unknown] });
    assert.match(web ?? '', /^web: Keep, /);
    const upThere = { status: 'True', since: now - 60_000, reason: 'KubeletReady' } as const;
    assert.match(said(notReady, { others: [upThere, upThere] })[0] ?? '', /^web: Evict in ~95 s, /);
    const down = [notReady, notReady, notReady, upThere];
    const settings = { ...legacy, 'secondary-node-eviction-rate': '0' };
    assert.match(said(notReady, { others: down, settings })[0] ?? '', /^web: Keep, /);
  });

  it('counts from when a node was last heard of', () => {
    const [web] = said(unknown, { lease: now - 75_000 });
    assert.match(web ?? '', /^web: Evict in ~50 s, /);
  });

  it('counts from when the controller began, if that was later', () => {
    const [web] = said(notReady, { since: now - 10_000 });
    assert.match(web ?? '', /^web: Evict in ~115 s, /);
  });

  it('keeps pods of nodes that are ready, and all where taints are written', () => {
    const ready = { status: 'True', since: now - 31_000, reason: 'KubeletReady' } as const;
    const { 'nodeLifecycle.enforcement': _, ...byTaints } = legacy;
    for (const [web] of [said(ready), said(notReady, { settings: byTaints })]) {
      assert.match(web ?? '', /^web: Keep, /);
    }
  });
});
