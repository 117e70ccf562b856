import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Instant } from '@taintmgr/core/time';
import type { NodeFacts, PodFacts } from '../../src/survey/facts.ts';
import { readPast } from '../../src/survey/past.ts';
import { node, nodeFactsOf, now, pod, podFactsOf, taint, tolerates } from '../world/values.ts';

// What is remembered of nodes and pods: kube-controller-manager's timers are as old as that.

/** Whole seconds, as the API keeps times. */
const ago = (seconds: number): Instant => Math.floor(now / 1000) * 1000 - seconds * 1000;

/** Node n1 with these taints, written so long ago; its version says so too. */
function nodeState(secondsAgo: number, ...texts: readonly string[]): NodeFacts {
  const taintsWritten = { by: 'kubectl-taint', at: ago(secondsAgo) };
  const facts = nodeFactsOf(node('n1', ...texts.map((one) => taint(one))), { taintsWritten });
  return { ...facts, version: String(1000 - secondsAgo) };
}

const createdAt = ago(600);

/** A pod that tolerates k for so long, as somebody has written so long ago. */
function podState(secondsAgo: number, seconds: number, fields: Partial<PodFacts> = {}): PodFacts {
  const tolerationsWritten = { by: 'kubectl-edit', at: ago(secondsAgo) };
  const more = { createdAt, tolerationsWritten, version: String(1000 - secondsAgo), ...fields };
  return podFactsOf(pod('db', tolerates('k', seconds)), more);
}

interface Known {
  /** The oldest first; the last is what is there. */
  readonly nodes?: readonly NodeFacts[];
  readonly pods?: readonly PodFacts[];
  readonly since?: Instant | null;
}

/** What is remembered: taints of the node, and seconds of the toleration, each with its version. */
async function remembered({ nodes, pods = [], since = null }: Known): Promise<readonly string[]> {
  const states = nodes ?? [nodeState(300, 'k:NoExecute')];
  const before = <T extends { readonly version: string }>(all: readonly T[], one: T): T | null =>
    all.findLast(({ version }) => Number(version) < Number(one.version)) ?? null;
  const reader = {
    nodeBefore: async (one: NodeFacts) => before(states, one),
    podBefore: async (one: PodFacts) => before(pods, one),
  };
  const past = await readPast(reader, { nodes: states.slice(-1), pods: pods.slice(-1) }, since);
  const ofNode = (past.nodes.get('n1') ?? []).map(
    ({ node: { taints }, version }) => `${version}: ${taints.map(({ key }) => key).join()}`,
  );
  const ofPod = [...past.pods.values()].flat().map(({ pod: { tolerations }, version }) => {
    return `${version}: ${tolerations[0]?.tolerationSeconds}s`;
  });
  return nodes ? ofNode : ofPod;
}

const k = 'k:NoExecute';
const applied = JSON.stringify({
  spec: { tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 90 }] },
});
const other = podFactsOf({ ...pod('db', tolerates('k', 7)), uid: 'other' }, { version: '100' });

type Case = readonly [string, Known, readonly string[]];
const cases: readonly Case[] = [
  ['a node without taints', { nodes: [nodeState(90, k), nodeState(50)] }, ['950: ']],
  [
    'a taint, and what was before it',
    { nodes: [nodeState(90, k), nodeState(80), nodeState(50, k)] },
    ['920: ', '950: k'],
  ],
  [
    'several taints, each as it came',
    { nodes: [nodeState(80), nodeState(50, k), nodeState(40, k), nodeState(30, k, 'l:NoExecute')] },
    ['920: ', '950: k', '970: k,l'],
  ],
  [
    'what the API server still knows',
    { nodes: [nodeState(50, k), nodeState(30, k, 'l:NoExecute')] },
    ['950: k', '970: k,l'],
  ],
  [
    'nothing from before kube-controller-manager began',
    {
      nodes: [nodeState(80), nodeState(50, k), nodeState(30, k, 'l:NoExecute')],
      since: ago(49),
    },
    ['950: k', '970: k,l'],
  ],
  [
    'what came in the second in which it began',
    {
      nodes: [nodeState(80), nodeState(50, k), nodeState(30, k, 'l:NoExecute')],
      since: ago(50),
    },
    ['920: ', '950: k', '970: k,l'],
  ],
  [
    'a pod that was edited',
    { pods: [podState(600, 60), podState(50, 300)] },
    ['400: 60s', '950: 300s'],
  ],
  ['no pod as it was made', { pods: [podState(600, 60)] }, []],
  ['no other pod of its name', { pods: [other, podState(50, 300)] }, ['950: 300s']],
  [
    'a pod as it was applied, where its history is gone',
    { pods: [podState(50, 300, { lastApplied: applied })] },
    ['950: 90s', '950: 300s'],
  ],
  [
    'nothing that was applied, where its history goes back to its beginning',
    { pods: [podState(600, 60, { lastApplied: applied }), podState(50, 300)] },
    ['400: 60s', '950: 300s'],
  ],
  [
    'nothing of an annotation that cannot be read',
    { pods: [podState(50, 300, { lastApplied: '{' })] },
    ['950: 300s'],
  ],
  ...[5, 'k', [null, 5, { key: { a: 1 } }], { length: 1 }].map((tolerations): Case => {
    const lastApplied = JSON.stringify({ spec: { tolerations } });
    const name = `nothing of an annotation that has as tolerations ${JSON.stringify(tolerations)}`;
    return [name, { pods: [podState(50, 300, { lastApplied })] }, ['950: 300s']];
  }),
  ...['null', '5', '{"spec":null}'].map((lastApplied): Case => {
    const name = `nothing of an annotation that is ${lastApplied}`;
    return [name, { pods: [podState(50, 300, { lastApplied })] }, ['950: 300s']];
  }),
];

describe('what is remembered of a cluster', () => {
  for (const [name, known, expected] of cases) {
    it(name, async () => assert.deepEqual(await remembered(known), expected));
  }
});
