import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Command,
  type Config,
  createEngine,
  type Event,
  type Node,
  type Pod,
  type Taint,
  type Toleration,
} from '@taintmgr/core';
import type { EvictionPause, EvictionPolicy } from '@taintmgr/core/policy';
import { fc } from './fast-check.ts';
import { pauseOf, policyOf } from './policy/objects.ts';

// Objects as no API server would store them. The engine may do anything sensible with them, but
// throw: what the cluster holds is data.

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('', 'NoExecute', 'Exists', 'Equal', 'Lt', 'a', '\u0000', '🦄', 'x'.repeat(5000)),
);
const number = fc.oneof(
  fc.double(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e308),
);
const instant = fc.oneof(fc.constant(null), number);
const taint: fc.Arbitrary<Taint> = fc.record({
  key: text,
  value: text,
  effect: fc.oneof(text, fc.constant('NoExecute')),
  timeAdded: instant,
});
const toleration: fc.Arbitrary<Toleration> = fc.record({
  key: text,
  operator: text,
  value: text,
  effect: text,
  tolerationSeconds: fc.oneof(instant, fc.bigInt()),
});
const node: fc.Arbitrary<Node> = fc.record({
  name: fc.constantFrom('n1', 'n2', ''),
  uid: text,
  taints: fc.array(taint, { maxLength: 20 }),
  zone: text,
  taintStarts: fc.dictionary(text, number),
  deadline: instant,
  drains: fc.array(fc.record({ id: text, taint: text, by: text, heartbeat: text }), {
    maxLength: 5,
  }),
});
const pod: fc.Arbitrary<Pod> = fc.record({
  namespace: text,
  name: text,
  uid: fc.constantFrom('u1', 'u2', ''),
  nodeName: fc.constantFrom('n1', 'n2', ''),
  tolerations: fc.array(toleration, { maxLength: 20 }),
  boundAt: instant,
  deletionTimestamp: instant,
  phase: text,
  generation: number,
  mirror: fc.boolean(),
  owner: fc.oneof(fc.constant(null), fc.record({ apiVersion: text, kind: text, name: text })),
  hasEmptyDir: fc.boolean(),
  gracePeriodSeconds: number,
  optedOut: fc.boolean(),
});
const labels = fc.dictionary(text, text, { maxKeys: 1 });
const selector = fc.oneof(
  fc.constant(null),
  labels.map((matchLabels) => ({ matchLabels })),
);
const texts = fc.array(text, { maxLength: 2 });
const objectName = fc.constantFrom('a', 'b');
const pause: fc.Arbitrary<EvictionPause> = fc
  .record({
    name: objectName,
    since: instant.map((at) => at ?? 0),
    until: instant,
    deadlines: fc.boolean(),
    readiness: fc.boolean(),
    scope: fc.record({ zones: texts, nodes: selector, taintKeys: texts, namespaces: texts }),
  })
  .map(({ name, ...fields }) => pauseOf(name, fields));
const policy: fc.Arbitrary<EvictionPolicy> = fc
  .record({
    name: objectName,
    priority: number,
    action: fc.constantFrom(
      'Delete',
      'Evict',
      'EvictThenDelete',
      'Keep',
      'KubeControllerManager',
      null,
    ),
    match: fc.record({
      taints: fc.array(fc.record({ key: text, value: text }), { maxLength: 2 }),
      nodes: selector,
      namespaces: fc.oneof(fc.constant(null), fc.record({ names: texts, selector })),
      pods: selector,
      podPriority: fc.oneof(
        fc.constant(null),
        fc.record({ min: fc.constantFrom(null, 0), max: fc.constantFrom(null, 0), classes: texts }),
      ),
    }),
    minTaintAgeMs: fc.constantFrom(null, 0, 5000),
    defaultTolerationSeconds: fc.constantFrom(null, -1, 0, 7),
    limits: fc.constantFrom<EvictionPolicy['limits']>(
      [],
      [{ per: 'total', pods: 1, windowMs: 5000, onLimit: 'queue' }],
      [{ per: 'namespace', percent: 50, onLimit: 'trip' }],
    ),
  })
  .map(({ name, ...fields }) => policyOf(name, fields));
const event: fc.Arbitrary<Event> = fc.oneof(
  node.map((node): Event => ({ kind: 'nodeUpsert', node })),
  pod.map((pod): Event => ({ kind: 'podUpsert', pod })),
  fc.constantFrom('n1', 'n2', '').map((name): Event => ({ kind: 'nodeDelete', name })),
  fc.constantFrom('u1', 'u2', '').map((uid): Event => ({ kind: 'podDelete', uid })),
  fc.boolean().map((held): Event => ({ kind: 'leadership', held })),
  fc.constantFrom<Event>({ kind: 'synced' }, { kind: 'tick' }, { kind: 'resumeEvictions' }),
  pause.map((pause): Event => ({ kind: 'pauseUpsert', pause })),
  objectName.map((name): Event => ({ kind: 'pauseDelete', name })),
  policy.map((policy): Event => ({ kind: 'policyUpsert', policy })),
  objectName.map((name): Event => ({ kind: 'policyDelete', name })),
  fc
    .record({ name: text, labels })
    .map((namespace): Event => ({ kind: 'namespaceUpsert', namespace })),
  text.map((name): Event => ({ kind: 'namespaceDelete', name })),
);
const config: fc.Arbitrary<Partial<Config>> = fc.record({
  semantics: fc.constantFrom('precise', 'upstream-1.36'),
  mode: fc.constantFrom('delete', 'evict', 'evict-then-delete'),
  minTaintAgeMs: fc.constantFrom(0, 5000),
  comparisonOperators: fc.boolean(),
  compare: fc.boolean(),
  leave: fc.record({
    finishedPods: fc.boolean(),
    returningDaemonSetPods: fc.boolean(),
    optedOutPods: fc.boolean(),
  }),
  limits: fc.constantFrom<Config['limits']>(
    [],
    [{ per: 'zone', percent: 50, podsPerSecond: 2, onLimit: 'queue' }],
    [{ per: 'taint', podsPerSecond: 1, onLimit: 'trip' }],
  ),
});

function answer(commands: readonly Command[], failing: boolean): readonly Event[] {
  return commands.flatMap((command): Event[] => {
    if (!('id' in command)) return [];
    const failed = { kind: 'failed', status: 500, message: '', retryAfter: null } as const;
    const outcome = failing ? failed : ({ kind: 'done' } as const);
    return [{ kind: 'result', id: command.id, outcome }];
  });
}

it('no object makes the engine throw, or ask to be woken at no time', () => {
  fc.assert(
    fc.property(
      config,
      fc.array(fc.record({ wait: fc.nat(10_000), event, failing: fc.boolean() }), {
        maxLength: 40,
      }),
      (options, steps) => {
        const engine = createEngine(options);
        let now = 0;
        for (const { wait, event, failing } of steps) {
          now += wait;
          const results = answer(engine.handle(now, event), failing);
          for (const result of results) engine.handle(now, result);
          const wake = engine.nextWake();
          assert.ok(wake === null || !Number.isNaN(wake), `wake at ${wake}`);
          for (const name of ['n1', 'n2', '']) engine.explain(now, { kind: 'node', name });
        }
      },
    ),
    { numRuns: 300 },
  );
});
