import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  createEngine,
  type Decision,
  type Event,
  makeNode,
  makePod,
  type Taint,
} from '@taintmgr/core';
import type { AllocatedDevice, DeviceTaintRule, ResourceClaim } from '@taintmgr/core/devices';
import { fc } from '../fast-check.ts';
import { itAnswersEvictions } from './script.ts';

itAnswersEvictions('devices devices-held devices-takeover');

const second = 1000;
const now = 1_000 * second;
const device = { driver: 'gpu', pool: 'n1', device: 'd0' };

type Toleration = AllocatedDevice['tolerations'][number];

const times = fc.integer({ min: 900, max: 1_100 }).map((at) => at * second);
const taints: fc.Arbitrary<Taint> = fc.record({
  key: fc.constantFrom('a', 'b'),
  value: fc.constantFrom('', 'x'),
  effect: fc.constantFrom('NoExecute', 'NoSchedule', 'None'),
  timeAdded: times,
});
const tolerations: fc.Arbitrary<Toleration> = fc.record({
  key: fc.constantFrom('a', 'b', ''),
  operator: fc.constantFrom('Exists', 'Equal'),
  value: fc.constantFrom('', 'x'),
  effect: fc.constantFrom('NoExecute', 'NoSchedule', ''),
  tolerationSeconds: fc.option(fc.integer({ min: -5, max: 300 })),
});
interface RuleChange {
  readonly name: string;
  readonly device: string | null;
  readonly taint: Taint | null;
}

const rules: fc.Arbitrary<RuleChange> = fc.record({
  name: fc.constantFrom('r1', 'r2', 'r3'),
  device: fc.constantFrom(null, 'd0', 'd1'),
  taint: fc.option(taints, { freq: 4 }),
});

/** A rule that comes or says something else; null: it goes. */
function ruleEvent({ name, device, taint }: RuleChange): Event {
  if (!taint) return { kind: 'deviceTaintRuleDelete', name };
  const selector = { driver: null, pool: null, device };
  const rule: DeviceTaintRule = { name, uid: name, generation: 1, selector, taint, progress: null };
  return { kind: 'deviceTaintRuleUpsert', rule };
}

/** As the API documents it, read aloud: the earliest of what is not tolerated without limit; null: never. */
function deadlineOf(there: readonly Taint[], tolerated: readonly Toleration[]): number | null {
  const deadlines = there
    .filter(({ effect }) => effect === 'NoExecute')
    .map(({ key, value, timeAdded }) => {
      const fitting = tolerated.filter((one) => {
        const isKey = one.key === '' || one.key === key;
        const isValue = one.operator === 'Exists' || one.value === value;
        return isKey && isValue && (one.effect === '' || one.effect === 'NoExecute');
      });
      const start = timeAdded ?? 0;
      if (fitting.length === 0) return start;
      const seconds = fitting.map((one) => {
        return one.effect === '' ? null : one.tolerationSeconds;
      });
      if (seconds.includes(null)) return null;
      // The API keeps whole seconds: a time counts from the end of its second.
      const least = Math.min(...seconds.map(Number));
      return least > 0 ? start + second + least * second : start + second;
    })
    .filter((at) => at !== null);
  return deadlines.length === 0 ? null : Math.min(...deadlines);
}

it('a pod goes when its devices say, whatever came before and in which order', () => {
  fc.assert(
    fc.property(
      fc.array(rules, { maxLength: 8 }),
      fc.array(tolerations, { maxLength: 3 }),
      fc.nat(8),
      (changes, tolerated, at) => {
        const claim: ResourceClaim = {
          ...{ namespace: 'shop', name: 'c', uid: 'c', ownerUid: null, reservedFor: ['u'] },
          allocated: [{ ...device, request: 'r', tolerations: tolerated }],
        };
        const claims = [{ name: 'c', claim: 'c', origin: 'named' }] as const;
        const pod = makePod({ namespace: 'shop', name: 'a', uid: 'u', nodeName: 'n1' });
        const rest: readonly Event[] = [
          { kind: 'podUpsert', pod: { ...pod, claims } },
          { kind: 'resourceClaimUpsert', claim },
          { kind: 'nodeUpsert', node: makeNode({ name: 'n1' }) },
        ];
        const told = changes.map(ruleEvent);
        const engine = createEngine({ deviceTaints: true, leader: false });
        for (const event of [...told.slice(0, at), ...rest, ...told.slice(at)]) {
          engine.handle(now, event);
        }
        const last = new Map(changes.map((one) => [one.name, one] as const));
        const there = [...last.values()].flatMap(({ device: of, taint }) =>
          taint && of !== 'd1' ? [taint] : [],
        );
        const expected = deadlineOf(there, tolerated);
        const found = engine.explain(now, { kind: 'pod', namespace: 'shop', name: 'a' });
        const decision: Decision | null = found?.kind === 'pod' ? found.decision : null;
        assert.equal(decision?.kind, expected === null ? 'keep' : 'evict');
        if (decision?.kind === 'evict') assert.equal(decision.deadline, expected);
      },
    ),
  );
});
