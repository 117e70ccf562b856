import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createEngine,
  type Decision,
  type Engine,
  formatTaint,
  makePod,
  parseTaint,
  type Reason,
  type Taint,
  type Toleration,
} from '@taintmgr/core';
import type { EvictionPolicy, PolicyAction } from '@taintmgr/core/policy';
import { fc } from '../fast-check.ts';
import { policyOf } from '../policy/objects.ts';
import { itAnswersEvictions } from './script.ts';

// The first reason of a decision, and the taint that it names, are those that decide. The twin knows
// nothing of reasons: it asks the engine about a node that has that taint alone.

const at = 100_000;

interface Case {
  readonly semantics: 'precise' | 'upstream-1.36';
  readonly taints: readonly Taint[];
  readonly tolerations: readonly Toleration[];
  readonly policies: readonly EvictionPolicy[];
  /** Null: no takeover. */
  readonly isTakenOver: boolean | null;
  readonly ofDaemonSet: boolean;
}

const keys = ['a', 'b', 'c', 'd'] as const;
const key = fc.constantFrom(...keys);
/** More than the largest, or a number that wraps around an int64 and becomes less than none. */
const wraps = 9_223_372_037n;
const toleration: fc.Arbitrary<Toleration> = fc.record({
  key,
  operator: fc.constant('Exists'),
  value: fc.constant(''),
  effect: fc.constantFrom('NoExecute', ''),
  tolerationSeconds: fc.oneof(
    fc.constantFrom(null, -1, 0, wraps),
    fc.integer({ min: 1, max: 90 }),
    fc.constantFrom(40, 60),
  ),
});
const actions: readonly PolicyAction[] = ['Delete', 'Evict', 'Keep', 'KubeControllerManager'];
const policy = fc
  .record({
    key,
    action: fc.constantFrom(...actions),
    defaultTolerationSeconds: fc.constantFrom(null, 0, 30, 50),
    minTaintAgeMs: fc.constantFrom(null, 20_000),
  })
  .map(({ key: of, ...fields }) => {
    const one = policyOf(of, fields);
    return { ...one, match: { ...one.match, taints: [{ key: of }] } };
  });
const taint = fc
  .record({ key, timeAdded: fc.constantFrom(null, at - 30_000, at - 5_000) })
  .map(({ key: of, timeAdded }) => ({ ...parseTaint(`${of}=1:NoExecute`), timeAdded }));
const taints = fc.uniqueArray(taint, { minLength: 1, maxLength: 4, selector: ({ key: of }) => of });

const cases: fc.Arbitrary<Case> = fc
  .record({
    semantics: fc.constantFrom<Case['semantics'][]>('precise', 'upstream-1.36'),
    taints,
    tolerations: fc.array(toleration, { maxLength: 5 }),
    policies: fc.array(policy, { maxLength: 2 }),
    isTakenOver: fc.constantFrom(null, null, true, false),
    ofDaemonSet: fc.constantFrom(false, false, true),
  })
  .map((drawn) => ({
    ...drawn,
    isTakenOver: drawn.semantics === 'precise' ? drawn.isTakenOver : null,
  }));

function tell(engine: Engine, { tolerations, policies, ofDaemonSet, isTakenOver }: Case): void {
  const labels: Record<string, string> = isTakenOver ? { 'taintmgr.dev/takeover': 'enabled' } : {};
  engine.handle(0, { kind: 'namespaceUpsert', namespace: { name: 'default', labels } });
  for (const one of policies) engine.handle(0, { kind: 'policyUpsert', policy: one });
  const owner = {
    apiVersion: 'apps/v1',
    kind: ofDaemonSet ? 'DaemonSet' : 'ReplicaSet',
    name: 'w',
  };
  const pod = { ...makePod({ name: 'w-0', nodeName: 'n' }), owner, tolerations };
  engine.handle(0, { kind: 'podUpsert', pod });
}

/** What is decided where the node has these taints of the case. */
function decisionOn(one: Case, of: readonly Taint[]): Decision {
  const { semantics, isTakenOver } = one;
  const engine = createEngine({ semantics, takeover: isTakenOver !== null });
  tell(engine, one);
  engine.handle(0, { kind: 'synced' });
  engine.handle(at, { kind: 'nodeUpsert', node: { name: 'n', uid: 'n', taints: of } });
  const explained = engine.explain(at, { kind: 'pod', namespace: 'default', name: 'w-0' });
  assert.ok(explained?.kind === 'pod');
  return explained.decision;
}

function taintOf(reason: Reason | undefined): Taint | null {
  return reason && 'taint' in reason ? reason.taint : null;
}

describe('the first reason of a decision', () => {
  it('names a taint for which alone the pod would go at that time', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const decision = decisionOn(one, one.taints);
        if (decision.kind !== 'evict') return;
        const named = taintOf(decision.because[0]);
        assert.ok(named, 'names no taint');
        const alone = decisionOn(one, [named]);
        assert.ok(alone.kind === 'evict', `${formatTaint(named)} alone keeps it`);
        assert.equal(alone.deadline, decision.deadline, formatTaint(named));
      }),
      { numRuns: 3000 },
    );
  });

  it('says of a pod that stays what keeps it there, where not all taints are tolerated for ever', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const decision = decisionOn(one, one.taints);
        if (decision.kind !== 'keep') return;
        const [first, ...others] = decision.because;
        const isForever = (reason: Reason | undefined): boolean =>
          reason?.code === 'ToleratedForever';
        if (isForever(first))
          assert.ok(others.every(isForever), decision.because.map(({ code }) => code).join());
      }),
      { numRuns: 3000 },
    );
  });
});

describe('the reason of a time that kube-controller-manager keeps', () => {
  const forSeconds = (of: string, tolerationSeconds: number | null): Toleration => {
    return { key: of, operator: 'Exists', value: '', effect: '', tolerationSeconds };
  };
  const [a, b, c] = ['a', 'b', 'c'].map((of) => parseTaint(`${of}:NoExecute`)) as [
    ...[Taint, Taint, Taint],
  ];

  /** The reasons at the end of a story, in which a node has other taints from time to time. */
  function reasonsAfter(
    tolerations: readonly Toleration[],
    ...story: readonly (readonly [at: number, taints: readonly Taint[]])[]
  ): readonly string[] {
    const engine = createEngine({ semantics: 'upstream-1.36' });
    const pod = { ...makePod({ name: 'w-0', nodeName: 'n' }), tolerations };
    engine.handle(0, { kind: 'podUpsert', pod });
    engine.handle(0, { kind: 'synced' });
    for (const [then, of] of story) {
      engine.handle(then, { kind: 'nodeUpsert', node: { name: 'n', uid: 'n', taints: of } });
    }
    const now = story.at(-1)?.[0] ?? 0;
    const explained = engine.explain(now, { kind: 'pod', namespace: 'default', name: 'w-0' });
    assert.ok(explained?.kind === 'pod');
    return explained.decision.because.map((reason) => {
      return 'taint' in reason ? `${reason.code} ${reason.taint.key}` : reason.code;
    });
  }

  const all = [forSeconds('a', null), forSeconds('b', 60), forSeconds('c', 20)];
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    [
      'is the taint of its timer, though a later one is tolerated for less',
      reasonsAfter(all, [0, [a, b]], [10_000, [a, b, c]]),
      ['TolerationExpires b', 'ToleratedForever a', 'TolerationExpires c'],
    ],
    [
      'is the shortest of those that came together',
      reasonsAfter(all, [0, [a, b, c]]),
      ['TolerationExpires c', 'ToleratedForever a', 'TolerationExpires b'],
    ],
    [
      'is none of the taints of now, where the one of the timer is gone',
      reasonsAfter(all, [0, [a, c]], [10_000, [a, b]]),
      ['TimerKept', 'ToleratedForever a', 'TolerationExpires b'],
    ],
    [
      'is the taint that is not tolerated at all',
      reasonsAfter(all.slice(0, 2), [0, [a, b]], [10_000, [a, b, c]]),
      ['NoToleration c', 'ToleratedForever a', 'TolerationExpires b'],
    ],
    [
      'is nothing that ends, where the seconds are more than there are',
      reasonsAfter([forSeconds('a', 9_223_372_037)], [0, [a]]),
      ['ToleratedForever a'],
    ],
  ];
  for (const [what, found, expected] of cases) {
    it(what, () => assert.deepEqual(found, expected));
  }
});

itAnswersEvictions('deadlines exempt left-alone');
