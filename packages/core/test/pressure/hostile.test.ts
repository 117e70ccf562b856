import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import {
  createPressureMachine,
  describePressureReason,
  type NodeObservation,
  type PodUsage,
  type PressureCommand,
  type PressureConfig,
  type PressureEvent,
  type PressureNode,
  type PressurePod,
  readSummary,
  type Sample,
  type Signal,
} from '@taintmgr/core/pressure';
import { isAmount } from '../../src/pressure/observation/observation.ts';
import { signalNames } from '../../src/pressure/signals.ts';
import { fc } from '../fast-check.ts';
import { pressurePod } from './objects.ts';

// Whatever a cluster and its nodes say, the machine does not throw; and in doubt no pod goes.

const number = fc.oneof(
  fc.double(),
  fc.nat(2 ** 31),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -0, 1e308),
);
const text = fc.oneof(
  fc.string(),
  fc.constantFrom('', 'n1', 'main', 'cache', '__proto__', '\u0000'),
);
const quantity = fc.oneof(
  fc.constantFrom('1Gi', '100m', '0', '-1Mi', '1e1000000', '9e99', 'lots', '', '1.5.5'),
  text,
);
const resources = fc.dictionary(
  fc.constantFrom('memory', 'cpu', 'ephemeral-storage', 'constructor'),
  quantity,
);
const requirements = fc.record({ requests: resources, limits: resources }, { requiredKeys: [] });
const disk = fc.record({
  usedBytes: fc.oneof(fc.constant(null), number),
  inodesUsed: fc.oneof(fc.constant(null), number),
});
const optional = fc.oneof(fc.constant(null), number);
const usage: fc.Arbitrary<PodUsage> = fc.record({
  uid: fc.constantFrom('u1', 'u2', 'u3', ''),
  workingSetBytes: optional,
  processes: optional,
  storageBytes: optional,
  containers: fc.array(
    fc.record({ name: text, workingSetBytes: optional, rootfs: disk, logs: disk }),
    { maxLength: 3 },
  ),
  volumes: fc.array(
    disk.chain((one) => text.map((name) => ({ name, ...one }))),
    { maxLength: 3 },
  ),
});
const sample: fc.Arbitrary<Sample> = fc.oneof(
  fc.record({
    available: number,
    capacity: number,
    time: fc.oneof(fc.constant(null), number, fc.nat(100_000)),
  }),
  fc.record({ available: fc.nat(100), capacity: fc.constant(1000), time: fc.nat(100_000) }),
);
const observation: fc.Arbitrary<NodeObservation> = fc.record({
  samples: fc.dictionary(fc.constantFrom(...signalNames, 'bananas.available' as Signal), sample),
  pods: fc.array(usage, { maxLength: 5 }),
});
const pod: fc.Arbitrary<PressurePod> = fc.record({
  namespace: text,
  name: text,
  uid: fc.constantFrom('u1', 'u2', 'u3', ''),
  nodeName: fc.constantFrom('n1', 'n2', ''),
  priority: number,
  phase: fc.constantFrom('Running', 'Failed', '', 'Odd'),
  deletionTimestamp: optional,
  generation: number,
  isStatic: fc.boolean(),
  isMirror: fc.boolean(),
  gracePeriodSeconds: optional,
  qosClass: text,
  containers: fc.array(
    requirements.chain((one) => text.map((name) => ({ name, ...one }))),
    { maxLength: 3 },
  ),
  initContainers: fc.constant([]),
  resources: fc.oneof(fc.constant(null), requirements),
  overhead: resources,
  volumes: fc.array(
    fc.record({ name: text, kind: fc.constantFrom('emptyDir', 'x'), sizeLimit: quantity }),
    { maxLength: 2 },
  ),
});
const node: fc.Arbitrary<PressureNode> = fc.record({
  name: fc.constantFrom('n1', 'n2', ''),
  uid: fc.constantFrom('a', 'b'),
  labels: fc.dictionary(text, text),
  conditions: fc.subarray(['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const),
});
const name = fc.constantFrom('n1', 'n2', '', 'unknown');
const event: fc.Arbitrary<PressureEvent> = fc.oneof(
  node.map((one): PressureEvent => ({ kind: 'pressureNode', node: one })),
  pod.map((one): PressureEvent => ({ kind: 'pressurePod', pod: one })),
  fc.record({ kind: fc.constant('observed' as const), nodeName: name, observation }),
  fc.record({
    kind: fc.constant('observationFailed' as const),
    nodeName: name,
    message: text,
  }),
  name.map((one): PressureEvent => ({ kind: 'pressureNodeGone', name: one })),
  fc.constantFrom('u1', 'u2', 'u4').map((uid): PressureEvent => ({ kind: 'pressurePodGone', uid })),
  fc.boolean().map((held): PressureEvent => ({ kind: 'leadership', held })),
  fc.constant<PressureEvent>({ kind: 'synced' }),
);
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.constantFrom<Outcome>({ kind: 'done' }, { kind: 'gone' }),
  fc.constant<Outcome>({ kind: 'changed', message: 'other' }),
  fc.constant<Outcome>({ kind: 'blocked', message: 'budget', retryAfter: null }),
  fc
    .constantFrom(null, 403, 429, 500)
    .map((status): Outcome => ({ kind: 'failed', status, message: 'boom', retryAfter: null })),
);
const config: fc.Arbitrary<Partial<PressureConfig>> = fc.record({
  semantics: fc.constantFrom('precise', 'kubelet-1.36', 'kubelet-1.6'),
  settings: fc.constantFrom(
    {},
    { nodeReclaim: true, evictionHard: { 'nodefs.available': '50%', 'pid.available': '1G' } },
    {
      evictionSoft: { 'memory.available': '90%' },
      evictionSoftGracePeriod: { 'memory.available': '5s' },
      evictionMinimumReclaim: { 'memory.available': 'Inf%' },
    },
  ),
  evictionsInFlightMax: fc.constantFrom(1, 50),
  evictionsPerSecond: fc.constantFrom(null, 1),
});

interface Step {
  readonly wait: number;
  readonly event: PressureEvent;
  readonly outcome: Outcome;
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ wait: fc.nat(4000), event, outcome }),
  { maxLength: 40 },
);

/** Nothing happens before; so random stories go further. */
const opening: readonly PressureEvent[] = [
  { kind: 'pressureNode', node: { name: 'n1', uid: 'a', labels: {}, conditions: [] } },
  { kind: 'synced' },
  ...['u1', 'u2'].map(
    (uid): PressureEvent => ({ kind: 'pressurePod', pod: pressurePod(uid, { nodeName: 'n1' }) }),
  ),
];

type Eviction = Extract<PressureCommand, { kind: 'evictUnderPressure' }>;

/** Plays the story to a machine; `check` sees every eviction and when it came. */
function play(
  options: Partial<PressureConfig>,
  story: readonly Step[],
  check: (now: number, eviction: Eviction) => void,
): void {
  const machine = createPressureMachine(options);
  for (const told of opening) machine.handle(0, told);
  let now = 0;
  for (const step of story) {
    now += step.wait;
    const told = machine.handle(now, step.event);
    const commands = [...told, ...machine.handle(now, { kind: 'tick' })];
    assert.deepEqual(machine.handle(now, { kind: 'tick' }), [], 'an extra tick is harmless');
    for (const command of commands) {
      if (command.kind === 'evictUnderPressure') check(now, command);
      if (command.kind === 'pressureReport' && 'because' in command.report) {
        for (const reason of command.report.because) describePressureReason(reason);
      }
      if ('id' in command) {
        machine.handle(now, { kind: 'result', id: command.id, outcome: step.outcome });
      }
    }
    const wake = machine.nextWake();
    assert.ok(wake === null || Number.isFinite(wake), `wake at ${wake}`);
    for (const nodeName of ['n1', 'n2', '']) machine.explain(now, nodeName);
  }
}

it('nothing makes the machine throw, or ask to be woken at no time', () => {
  fc.assert(
    fc.property(config, steps, (options, story) => {
      play(options, story, () => {});
    }),
    { numRuns: 300 },
  );
});

it('precise evicts only by samples that can be true, and pods that use something', () => {
  let evictions = 0;
  fc.assert(
    fc.property(config, steps, (options, story) => {
      const usages = new Map<string, PodUsage>();
      for (const { event: told } of story) {
        if (told.kind !== 'observed') continue;
        for (const one of told.observation.pods) usages.set(one.uid, one);
      }
      play(
        { ...options, semantics: 'precise' },
        story,
        (now, { pod, gracePeriodSeconds, because }) => {
          evictions += 1;
          assert.ok(gracePeriodSeconds >= 1);
          assert.ok(usages.has(pod.uid), 'it was seen');
          const [reason] = because;
          if (reason?.code !== 'ThresholdMet' && reason?.code !== 'MinimumReclaim') return;
          const { available, capacity, time } = reason.sample;
          assert.ok(isAmount(available) && isAmount(capacity) && available <= capacity);
          assert.ok(time !== null && Math.abs(now - time) <= 60_000);
        },
      );
    }),
    { numRuns: 500 },
  );
  assert.ok(evictions > 0, 'some story went so far as to evict');
});

it('a summary may be anything', () => {
  fc.assert(
    fc.property(fc.anything(), (answer) => {
      const { samples, pods } = readSummary({ node: answer, pods: answer });
      assert.ok(Object.keys(samples).length >= 0 && Array.isArray(pods));
    }),
  );
});
