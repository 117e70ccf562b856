import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Command,
  type Config,
  createEngine,
  type Event,
  makeNode,
  makePod,
  type NodeCondition,
  type Outcome,
  parseTaint,
  type Report,
} from '@taintmgr/core';
import type { NodeDrain } from '@taintmgr/core/policy';
import { readManifest } from '@taintmgr/k8s-adapter/kinds';
import { redactCommand, redactEvent } from '../../src/index.ts';
import { listened, replayed } from './listened.ts';

// Words of others are no part of a record, and what the engine decides by them is.

const shutdown = 'node is shutting down';
const twoBudgets = 'more than one PodDisruptionBudget';

describe('a message in a flight record', () => {
  const denied = 'admission webhook "evictions.example.com" denied the request';
  const cases: readonly (readonly [message: string, recorded: RegExp])[] = [
    ['', /^$/],
    ['hush', /^redacted \([0-9a-f]{4}\)$/],
    [`${denied}: hush`, new RegExp(`^${denied}: redacted \\([0-9a-f]{4}\\)$`)],
    [`${denied} without explanation`, new RegExp(`^${denied} without explanation$`)],
    [`${denied}: hush\nhush`, new RegExp(`^${denied}: redacted \\([0-9a-f]{4}\\)$`)],
    ['admission webhook "hush HUSH" denied the request: x', /^redacted \([0-9a-f]{4}\)$/],
    [`hush ${denied}: x`, /^redacted \([0-9a-f]{4}\)$/],
    [`[hush, ${shutdown}]`, /^redacted \([0-9a-f]{4}\): node is shutting down$/],
    [`hush: ${twoBudgets}`, /^redacted \([0-9a-f]{4}\): more than one PodDisruptionBudget$/],
    ['The disruption budget web needs 2 healthy pods and has 1 currently', /^The .* currently$/],
    ['NodeDrain kernel', /^NodeDrain kernel$/],
    ['NodeDrain kernel: hush', /^redacted \([0-9a-f]{4}\)$/],
    ['Kubelet stopped posting node status.', /^Kubelet stopped posting node status\.$/],
    ['Kubelet said hush of its node status.', /^redacted \([0-9a-f]{4}\)$/],
    ['redacted', /^redacted$/],
  ];
  for (const [message, recorded] of cases) {
    it(JSON.stringify(message), () => {
      const once = recordedAs(message);
      assert.match(once, recorded);
      assert.doesNotMatch(once, /hush/i);
      assert.equal(recordedAs(once), once, 'a second time');
    });
  }

  it('is the same for the same words only', () => {
    const messages = ['hush', 'hush!', `${denied}: hush`, `${denied}: hush!`];
    assert.equal(new Set([...messages, ...messages].map(recordedAs)).size, messages.length);
  });
});

function recordedAs(message: string): string {
  const outcome: Outcome = { kind: 'failed', status: 429, message, retryAfter: null };
  const event = redactEvent({ kind: 'result', id: 'e1', outcome });
  assert.ok(event.kind === 'result' && 'message' in event.outcome);
  return event.outcome.message;
}

describe('a report in a flight record', () => {
  const target = { namespace: 'shop', name: 'db-0', uid: 'p1', nodeName: 'n1' };
  const outcome = { kind: 'failed', status: 403, message: 'hush', retryAfter: null } as const;
  const hold = (reason: string): Report => {
    return { kind: 'readinessHold', hold: { reason, all: true, zones: [], nodes: [] } };
  };
  const cases: readonly (readonly [what: string, report: Report, says: RegExp])[] = [
    [
      'that a pod could not be marked',
      { kind: 'podMarkFailed', target, attempt: 1, outcome, at: 0 },
      /"message":"redacted \([0-9a-f]{4}\)"/,
    ],
    ['of a pause', hold('pause night: hush'), /"pause night: redacted"/],
    [
      'of a pause whose reason has lines',
      hold('pause night: hush\nhush'),
      /"pause night: redacted"/,
    ],
    [
      'of a pause beside others',
      hold('zone a; pause night: hush'),
      /"zone a; pause night: redacted"/,
    ],
    ['of no pause', hold('zone a stopped'), /"zone a stopped"/],
  ];
  for (const [what, report, says] of cases) {
    it(`${what} holds no words of others`, () => {
      const text = JSON.stringify(redactCommand({ kind: 'report', report }));
      assert.doesNotMatch(text, /hush/);
      assert.match(text, says);
    });
  }
});

const node = { name: 'n1', uid: 'n1', taints: [parseTaint('bad:NoExecute')] };
const pod: Event = {
  kind: 'podUpsert',
  pod: makePod({ namespace: 'shop', name: 'db-0', uid: 'p1', nodeName: 'n1' }),
};
const pause = {
  ...{ name: 'night', uid: '', readiness: true, deadlines: true, until: null, since: 0 },
  scope: { zones: [], nodes: null, taintKeys: [], namespaces: [] },
};
const webhook = (words: string): string =>
  `admission webhook "evictions.example.com" denied the request: ${words}`;

/** A condition of a node, in words of others. */
function condition(message: string, more: Partial<NodeCondition> = {}): NodeCondition {
  const times = { heartbeatAt: 0, transitionAt: 0 };
  return { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message, ...times, ...more };
}

function drainOf(more: Partial<NodeDrain> = {}): Event {
  const judged = readManifest(
    {
      ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'NodeDrain' },
      metadata: { name: 'kernel', uid: 'd1', generation: 1 },
      spec: {
        ...{ nodes: ['n1'], taint: { key: 'work' }, nodeConditions: 'Publish' },
        pods: { withoutController: true },
      },
    },
    0,
  );
  assert.ok(judged.kind === 'allowed' && judged.value.kind === 'NodeDrain');
  return { kind: 'nodeDrainUpsert', drain: { ...judged.value.value, isGuarded: true, ...more } };
}

interface Story {
  readonly name: string;
  readonly config: Partial<Config>;
  /** Told in turn, two minutes apart. */
  readonly events: readonly Event[];
  /** What API server and webhooks say to evictions, in turn; then the last one. */
  readonly refusals: readonly string[];
  /** What the record says in any case. */
  readonly says: RegExp;
}

const drains: Partial<Config> = { mode: 'evict', nodeDrains: true, taintEviction: false };
const stories: readonly Story[] = [
  {
    name: 'a webhook that keeps a pod, and says something else later',
    config: { mode: 'evict' },
    events: [pod, { kind: 'nodeUpsert', node: makeNode(node) }],
    refusals: [webhook('hush'), webhook('hush'), webhook('hush, hush')],
    says: /EvictionIntercepted/,
  },
  {
    name: 'one that keeps a pod of a drain',
    config: drains,
    events: [pod, { kind: 'nodeUpsert', node: makeNode({ name: 'n1', uid: 'n1' }) }, drainOf()],
    refusals: [webhook('hush'), webhook('hush, hush')],
    says: /("kind":"evictPod".*){3}/s,
  },
  {
    name: 'words that are like those of the API server about budgets',
    config: { mode: 'evict' },
    events: [pod, { kind: 'nodeUpsert', node: makeNode(node) }],
    refusals: [`hush: ${twoBudgets}`],
    says: /"code":"TwoBudgets"/,
  },
  {
    name: 'a node that shuts down, which no drain begins with',
    config: drains,
    events: [
      pod,
      {
        kind: 'nodeUpsert',
        node: { ...makeNode({ name: 'n1' }), conditions: [condition(`[hush, ${shutdown}]`)] },
      },
      drainOf(),
    ],
    refusals: [],
    says: /MaintenancePlanned/,
  },
  {
    name: 'conditions that an earlier leader has set for a drain',
    config: drains,
    events: [
      {
        kind: 'nodeUpsert',
        node: {
          ...makeNode({ name: 'n1' }),
          conditions: [
            condition('NodeDrain kernel', {
              ...{ type: 'DrainInProgress', status: 'True', reason: 'NodeDrain' },
            }),
          ],
        },
      },
      drainOf({ isDeleted: true }),
    ],
    refusals: [],
    says: /"setDrainConditions".*"DrainInProgress","status":"False"/,
  },
  {
    name: 'what the status of a drain and EvictionRequests say',
    config: drains,
    events: [
      drainOf({
        known: [
          {
            ...{ name: 'n1', phase: 'Failed', reason: 'Denied', message: 'hush', podsGone: 0 },
            podsLeft: 0,
            ...{ startedAt: 0, waitsSince: null, endedAt: 0 },
          },
        ],
      }),
      {
        kind: 'evictionRequests',
        drain: 'kernel',
        isServed: true,
        requests: ['hush', null].map((failed) => ({
          ...{ namespace: 'shop', name: 'r', podUid: 'p1', requester: 'acme', drain: null },
          ...{ intent: 'Eviction', failed, createdAt: 0 },
          responder: { name: 'r', heartbeatAt: 0, expectedAt: 0, message: 'hush' },
        })),
      },
    ],
    refusals: [],
    says: /"requests"/,
  },
  {
    name: 'why nobody is to mark pods not ready',
    config: {
      takeover: true,
      lifecycle: { massUnreachable: null },
    },
    events: ['hush', 'hush; pause dusk: hush', ''].map(
      (reason): Event => ({ kind: 'pauseUpsert', pause: { ...pause, reason } }),
    ),
    refusals: [],
    says: /"kind":"readinessHold","hold":\{"reason":"pause night: redacted"/,
  },
];

/** The node as a drain has written it. */
function tainted({ taint, drain: id }: Extract<Command, { kind: 'writeDrainNode' }>): Event {
  const mark = { id, taint: `${taint.key}:${taint.effect}`, by: 'taintmgr-controller' };
  const bare = makeNode({ name: 'n1', uid: 'n1' });
  const marks = { drainMarks: [mark], drains: [{ ...mark, heartbeat: '0' }] };
  return { kind: 'nodeUpsert', node: { ...bare, ...marks, taints: [{ ...taint, timeAdded: 0 }] } };
}

/** Tells an engine the story, and answers it; the lines of its record. */
function play({ config, events, refusals }: Story): readonly string[] {
  const { machine, lines } = listened(createEngine(config));
  const left = [...refusals];
  let now = 0;
  const answer = (command: Command): void => {
    if (!('id' in command)) return;
    if (command.kind === 'writeDrainNode' && command.write.kind === 'taint') tell(tainted(command));
    const message =
      command.kind === 'evictPod' ? ((left.length > 1 ? left.shift() : left[0]) ?? '') : '';
    const outcome: Outcome =
      message === ''
        ? { kind: 'done' }
        : {
            kind: 'failed',
            status: message.includes('Budget') ? 500 : 429,
            message,
            retryAfter: null,
          };
    tell({ kind: 'result', id: command.id, outcome });
  };
  const tell = (event: Event): void => machine.handle(now, event).forEach(answer);
  tell({ kind: 'synced' });
  for (const event of events) {
    tell(event);
    for (const end = now + 120_000; now < end; now += 1_000) {
      if ((machine.nextWake() ?? Number.POSITIVE_INFINITY) <= now) tell({ kind: 'tick' });
    }
  }
  return lines;
}

describe('the record of a run', () => {
  for (const story of stories) {
    it(`is replayed, and holds no words of others: ${story.name}`, () => {
      const lines = play(story);
      const text = lines.join('');
      assert.doesNotMatch(text, /hush/);
      assert.match(text, story.says);
      const again = replayed(story.config, lines);
      for (const [index, line] of lines.entries()) assert.equal(again[index], line);
    });
  }
});
