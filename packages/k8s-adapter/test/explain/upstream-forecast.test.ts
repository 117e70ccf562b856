import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Decision, Pod, Toleration } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { UpstreamForecast } from '../../src/explain/upstream-forecast.ts';
import type { NodeFacts, PodFacts } from '../../src/survey/facts.ts';
import { node, nodeFactsOf, now, pod, podFactsOf, taint } from '../world/values.ts';

// What kube-controller-manager is about to do, from what objects and their past states show.

/** So many seconds ago, in whole seconds as the API keeps times: what counts is the end of it. */
const ago = (seconds: number): Instant => now - seconds * 1000 - 1000;

const k = (tolerationSeconds: number | null): Toleration => ({
  key: 'k',
  operator: 'Exists',
  value: '',
  effect: 'NoExecute',
  tolerationSeconds,
});

/** A state of node n1 with these taints, written so long ago. */
function nodeState(secondsAgo: number, ...texts: readonly string[]): NodeFacts {
  const at = ago(secondsAgo);
  const one = { ...node('n1', ...texts.map((text) => taint(text))), taintsWrittenAt: at };
  return nodeFactsOf(one, { taintsWritten: { by: 'kubectl-taint', at } });
}

/** The same where its taints say that they came then. */
function withTime(facts: NodeFacts, timeAdded: Instant): NodeFacts {
  const taints = facts.node.taints.map((one) => ({ ...one, timeAdded }));
  return { ...facts, node: { ...facts.node, taints } };
}

/** A state of a pod that is as old as an hour, with tolerations that were written so long ago. */
function podState(
  secondsAgo: number,
  tolerations: readonly Toleration[],
  fields: Partial<Pod> = {},
): PodFacts {
  const boundAt = now - 3_600_000;
  const at = ago(secondsAgo);
  return podFactsOf(pod('db', { tolerations, boundAt, ...fields }), {
    createdAt: boundAt,
    tolerationsWritten: { by: 'kubectl-patch', at },
  });
}

interface Known {
  readonly nodes: readonly NodeFacts[];
  readonly pod: readonly PodFacts[];
  /** As the pod is now; left out: as its last state. */
  readonly present?: PodFacts;
  readonly since?: Instant;
}

function forecast({ nodes, pod: states, present, since }: Known): string {
  const last = present ?? states.at(-1);
  assert.ok(last);
  const upstream = new UpstreamForecast({
    now,
    nodes: [nodes],
    pods: [states],
    present: [last],
    since: since ?? null,
  });
  return text(upstream.decisionOn(now, last));
}

function text(decision: Decision | null): string {
  if (decision?.kind !== 'evict') return `${decision?.kind}: ${decision?.because[0]?.code}`;
  return `${Math.round((decision.deadline - now) / 1000)} s`;
}

const hour = 3600;
const tainted = [nodeState(hour), nodeState(40, 'k:NoExecute')];

const cases: readonly (readonly [name: string, known: Known, expected: string])[] = [
  [
    'counts from when the taint was written',
    { nodes: tainted, pod: [podState(hour, [k(60)])] },
    '20 s',
  ],
  [
    'counts from its own start, if that was later',
    { nodes: tainted, pod: [podState(hour, [k(60)])], since: now - 10_000 },
    '50 s',
  ],
  [
    'keeps the timer of a toleration that was edited up',
    { nodes: tainted, pod: [podState(hour, [k(60)]), podState(10, [k(300)])] },
    '20 s',
  ],
  [
    'keeps the timer of a toleration that was edited down',
    { nodes: tainted, pod: [podState(hour, [k(300)]), podState(10, [k(60)])] },
    '260 s',
  ],
  [
    'takes the new toleration where it started after the edit',
    {
      nodes: tainted,
      pod: [podState(hour, [k(300)]), podState(20, [k(60)])],
      since: now - 10_000,
    },
    '50 s',
  ],
  [
    'begins anew when a taint came back',
    {
      nodes: [nodeState(100, 'k:NoExecute'), nodeState(30), nodeState(15, 'k:NoExecute')],
      pod: [podState(hour, [k(200)])],
    },
    '185 s',
  ],
  [
    'takes a state of the node whose time nobody knows for older than the next one',
    {
      nodes: [nodeFactsOf(node('n1', taint('new:NoSchedule'))), nodeState(40, 'k:NoExecute')],
      pod: [podState(hour, [k(60)])],
    },
    '20 s',
  ],
  [
    'does not begin anew when another taint is written',
    {
      nodes: [
        nodeState(hour),
        nodeState(40, 'k:NoExecute'),
        nodeState(5, 'k:NoExecute', 'a:NoSchedule'),
      ],
      pod: [podState(hour, [k(60)])],
    },
    '20 s',
  ],
  [
    'lets a pod stay that may stay for ever by now',
    { nodes: tainted, pod: [podState(hour, [k(60)]), podState(10, [k(null)])] },
    'keep: ToleratedForever',
  ],
  ['says that a pod is overdue', { nodes: tainted, pod: [podState(hour, [k(30)])] }, '-10 s'],
  [
    'has given up a pod that bears its mark and is not being deleted',
    {
      nodes: tainted,
      pod: [
        podState(hour, [k(30)], {
          disruption: { reason: 'DeletionByTaintManager', manager: null },
        }),
      ],
    },
    'keep: GivenUp',
  ],
  [
    'takes the toleration that a pod had when the taint came in the same second',
    {
      nodes: [nodeState(hour), { ...nodeState(40, 'k:NoExecute'), version: '11' }],
      pod: [podState(hour, [k(300)]), { ...podState(40, [k(60)]), version: '10' }],
    },
    '20 s',
  ],
  [
    'keeps the timer of a toleration that was edited later in the same second',
    {
      nodes: [nodeState(hour), { ...nodeState(40, 'k:NoExecute'), version: '11' }],
      pod: [podState(hour, [k(300)]), { ...podState(40, [k(60)]), version: '12' }],
    },
    '260 s',
  ],
  [
    'knows only the toleration that a pod had when it was bound',
    {
      nodes: tainted,
      pod: [
        podState(hour, [k(300)], { boundAt: ago(10) }),
        podState(20, [k(60)], { boundAt: ago(10) }),
      ],
    },
    '50 s',
  ],
  [
    'does not know that a pod tolerated nothing before it was bound',
    {
      nodes: tainted,
      pod: [
        podState(hour, [], { boundAt: ago(20) }),
        podState(20, [k(null)], { boundAt: ago(20) }),
      ],
    },
    'keep: ToleratedForever',
  ],
  [
    'saw a taint no later than it was written, whatever it says of itself',
    {
      nodes: [withTime(nodeState(40, 'k:NoExecute'), ago(20))],
      pod: [podState(hour, [k(60)])],
    },
    '20 s',
  ],
  [
    'says that a pod is overdue that bears its mark and goes',
    {
      nodes: tainted,
      pod: [
        podState(hour, [k(30)], {
          deletionTimestamp: ago(9),
          disruption: { reason: 'DeletionByTaintManager', manager: null },
        }),
      ],
    },
    '-10 s',
  ],
  [
    'goes by the end of the second in which its mark was taken back',
    {
      nodes: [nodeState(hour), nodeState(180, 'k:NoExecute')],
      pod: [{ ...podState(hour, [k(30)]), unmarkedAt: ago(31) }],
    },
    'keep: GivenUp',
  ],
  [
    'has given up a pod whose tolerations were edited before, by the mark that it bears now',
    {
      nodes: tainted,
      pod: [podState(hour, [k(30)]), podState(20, [k(60)])],
      present: podState(20, [k(60)], {
        disruption: { reason: 'DeletionByTaintManager', manager: null },
      }),
    },
    'keep: GivenUp',
  ],
  [
    'has given up a pod whose mark was taken back two minutes after it was due',
    {
      nodes: [nodeState(hour), nodeState(180, 'k:NoExecute')],
      pod: [{ ...podState(hour, [k(30)]), unmarkedAt: ago(30) }],
    },
    'keep: GivenUp',
  ],
  [
    'says that a pod is overdue whose mark is older than that',
    {
      nodes: tainted,
      pod: [{ ...podState(hour, [k(30)]), unmarkedAt: ago(30) }],
    },
    '-10 s',
  ],
];

describe('the forecast of kube-controller-manager', () => {
  for (const [name, known, expected] of cases) {
    it(name, () => assert.equal(forecast(known), expected));
  }
});
