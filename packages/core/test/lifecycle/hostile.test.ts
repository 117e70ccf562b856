import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Command,
  createEngine,
  type Event,
  type Node,
  type NodeCondition,
  type Outcome,
  type Semantics,
  type Taint,
} from '@taintmgr/core';
import { fc } from '../fast-check.ts';

// Whatever a cluster says, in whatever order, and whatever comes of the commands: nothing is thrown,
// nothing spins, and what is promised of the writes to one node holds.

const names = ['n1', 'n2', 'n3', '', '__proto__', 'constructor'];
const instant = fc.constantFrom(
  0,
  1,
  -1,
  1e15,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  null,
  5_000,
  60_000,
);
const word = fc.constantFrom(
  '',
  'True',
  'False',
  'Unknown',
  'Ready',
  'toString',
  'node.kubernetes.io/unreachable',
);

const condition: fc.Arbitrary<NodeCondition> = fc.record({
  type: fc.constantFrom('Ready', 'MemoryPressure', 'Ready', '', '__proto__', 'GpuBroken'),
  status: word,
  reason: fc.constant(''),
  message: fc.constant(''),
  heartbeatAt: instant,
  transitionAt: instant,
});

const taint: fc.Arbitrary<Taint> = fc.record({
  key: fc.constantFrom('node.kubernetes.io/unreachable', 'node.kubernetes.io/not-ready', 'a', ''),
  value: word,
  effect: fc.constantFrom('NoExecute', 'NoSchedule', '', 'Nonsense'),
  timeAdded: instant,
});

const node: fc.Arbitrary<Node> = fc.record({
  name: fc.constantFrom(...names),
  uid: fc.constantFrom('u1', 'u2', ''),
  taints: fc.array(taint, { maxLength: 4 }),
  labels: fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    { 'topology.kubernetes.io/zone': 'a' },
    { 'topology.kubernetes.io/zone': 'b', 'kubernetes.io/os': 'linux' },
    { 'node.kubernetes.io/exclude-disruption': '' },
  ),
  unschedulable: fc.boolean(),
  createdAt: instant,
  conditions: fc.array(condition, { maxLength: 5 }),
  ownedTaints: fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    { 'a:NoSchedule': 'gpu' },
    { 'a:NoSchedule': 'gone' },
  ),
});

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: node.map((value): Event => ({ kind: 'nodeUpsert', node: value })) },
  fc.constantFrom(...names).map((name): Event => ({ kind: 'nodeDelete', name })),
  fc
    .tuple(fc.constantFrom(...names), instant)
    .map(
      ([nodeName, renewedAt]): Event => ({ kind: 'leaseUpsert', lease: { nodeName, renewedAt } }),
    ),
  fc.constantFrom(...names).map((nodeName): Event => ({ kind: 'leaseDelete', nodeName })),
  fc.boolean().map((held): Event => ({ kind: 'leadership', held })),
  fc.boolean().map((current): Event => ({ kind: 'view', current })),
);

const outcome = fc.constantFrom<Outcome>(
  { kind: 'done' },
  { kind: 'gone' },
  { kind: 'changed', message: '' },
  { kind: 'failed', status: 409, message: '', retryAfter: null },
  { kind: 'failed', status: null, message: '', retryAfter: 1_000_000 },
);

const step = fc.record({
  wait: fc.constantFrom(0, 1, 100, 4_999, 60_000, 400_000),
  event,
  outcome,
  isAnswered: fc.boolean(),
});

const rule = {
  name: 'gpu',
  condition: 'GpuBroken',
  status: 'True',
  holdsMs: 10,
  clearMs: 10,
  taint: { key: 'a', value: '', effect: 'NoSchedule' },
  nodes: {},
  nodesMax: 1,
  dryRun: false,
} as const;
const spinsMax = 200;

describe('the node lifecycle with hostile objects', () => {
  for (const semantics of ['precise', 'upstream-1.36'] satisfies Semantics[]) {
    it(semantics, () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
          const conditionRules = semantics === 'precise' ? [rule] : [];
          const engine = createEngine({ semantics, lifecycle: { conditionRules } });
          const open: Extract<Command, { id: string }>[] = [];
          let now = 0;
          const orphans = new Set<string>();
          const uids = new Map<string, string | null>();
          // A node that is deleted or made anew is another one, whatever its uid says.
          const orphan = (said: Extract<Event, { kind: 'nodeDelete' | 'nodeUpsert' }>): void => {
            const name = said.kind === 'nodeDelete' ? said.name : said.node.name;
            const uid = said.kind === 'nodeDelete' ? null : said.node.uid;
            if (uid === uids.get(name)) return;
            uids.set(name, uid);
            for (const command of open) {
              if ('node' in command && command.node.name === name) orphans.add(command.id);
            }
          };
          const hear = (said: Event): void => {
            for (const command of engine.handle(now, said)) {
              if ('id' in command) open.push(command);
            }
          };
          const tick = (): void => {
            for (let spins = 0; (engine.nextWake() ?? now + 1) <= now; spins++) {
              assert.ok(spins < spinsMax, `it spins at ${now}`);
              hear({ kind: 'tick' });
            }
          };
          hear({ kind: 'synced' });
          for (const { wait, event: said, outcome: result, isAnswered } of steps) {
            now += wait;
            if (said.kind === 'nodeDelete' || said.kind === 'nodeUpsert') orphan(said);
            hear(said);
            tick();
            if (semantics === 'precise')
              assertOneWriteEach(open.filter(({ id }) => !orphans.has(id)));
            const first = isAnswered ? open.shift() : undefined;
            if (first) hear({ kind: 'result', id: first.id, outcome: result });
            tick();
            for (const name of names) engine.explain(now, { kind: 'node', name });
            engine.zones(now);
          }
        }),
        { numRuns: 1500 },
      );
    });
  }
});

function assertOneWriteEach(open: readonly Command[]): void {
  const nodes = open.flatMap((command) =>
    'node' in command && command.kind !== 'recordNodeEvent'
      ? [`${command.node.name}/${command.node.uid}`]
      : [],
  );
  const twice = nodes.filter((name, index) => nodes.indexOf(name) !== index);
  assert.deepEqual(twice, []);
}
