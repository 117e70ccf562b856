import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  admissionFault,
  createPressureMachine,
  type NodeObservation,
  type PressureCommand,
  type PressureConfig,
  type PressureEvent,
  type PressureMachine,
  type PressurePod,
  type PressureSettingsInput,
} from '@taintmgr/core/pressure';
import { observationOf, pressurePod, usageOf } from './objects.ts';

const [Gi, Mi] = [2 ** 30, 2 ** 20];
const semanticsNames = ['precise', 'kubelet-1.36', 'kubelet-1.6'] as const;

/** A machine with one node and these pods, which has heard of everything. */
function machineWith(
  pods: readonly PressurePod[],
  settings: PressureSettingsInput,
  config: Partial<PressureConfig> = {},
): PressureMachine {
  const machine = createPressureMachine({
    settings: { enforceNodeAllocatable: [], ...settings },
    evictionsPerSecond: null,
    ...config,
  });
  const node = { name: 'n1', uid: 'n1', labels: {}, conditions: [] };
  const events: readonly PressureEvent[] = [
    { kind: 'pressureNode', node },
    ...pods.map((pod): PressureEvent => ({ kind: 'pressurePod', pod })),
    { kind: 'synced' },
  ];
  for (const event of events) machine.handle(0, event);
  return machine;
}

function see(
  machine: PressureMachine,
  now: number,
  observation: NodeObservation,
): readonly PressureCommand[] {
  const told = machine.handle(now, { kind: 'observed', nodeName: 'n1', observation });
  return [...told, ...machine.handle(now, { kind: 'tick' })];
}

type Eviction = Extract<PressureCommand, { kind: 'evictUnderPressure' }>;

function evictions(commands: readonly PressureCommand[]): readonly Eviction[] {
  return commands.filter((command) => command.kind === 'evictUnderPressure');
}

const soft: PressureSettingsInput = {
  evictionHard: {},
  evictionSoft: { 'memory.available': '1Gi' },
  evictionSoftGracePeriod: { 'memory.available': '1ms' },
};
const hard: PressureSettingsInput = { evictionHard: { 'memory.available': '1Gi' } };

/** The grace that the first pod is given when memory is short. */
function graceOf(
  settings: PressureSettingsInput,
  gracePeriodSeconds: number | null,
  semantics: PressureConfig['semantics'],
): number | undefined {
  const machine = machineWith([pressurePod('web', { gracePeriodSeconds })], settings, {
    semantics,
  });
  const usage = [usageOf('web', { workingSetBytes: Gi })];
  see(machine, 1000, observationOf({ 'memory.available': [1, 8 * Gi, 1000] }, usage));
  const later = observationOf({ 'memory.available': [1, 8 * Gi, 2000] }, usage);
  const machineHard = machineWith([pressurePod('web', { gracePeriodSeconds })], settings, {
    semantics,
  });
  const atOnce = evictions(see(machineHard, 2000, later))[0]?.gracePeriodSeconds;
  return atOnce ?? evictions(see(machine, 2000, later))[0]?.gracePeriodSeconds;
}

describe('the time a pod is given', () => {
  const max = (seconds: number) => ({ ...soft, evictionMaxPodGracePeriod: seconds });
  const cases: readonly [
    name: string,
    settings: PressureSettingsInput,
    own: number | null,
    expected: readonly (number | undefined)[],
  ][] = [
    ['hard', hard, 30, [1, 1, 0]],
    ['soft, the maximum is less than its own', max(5), 30, [5, 5, 5]],
    ['soft, its own is less', max(600), 30, [30, 30, 600]],
    ['soft, it has none', max(600), null, [30, 600, 600]],
    ['soft, the pod should decide', max(-1), 20, [20, -1, -1]],
    ['soft, no maximum given', soft, 30, [1, 0, 0]],
  ];
  for (const [name, settings, own, expected] of cases) {
    it(name, () => {
      const ours = semanticsNames.map((semantics) => graceOf(settings, own, semantics));
      assert.deepEqual(ours, expected);
    });
  }
});

describe('the pod in which the machine runs', () => {
  for (const semantics of semanticsNames) {
    it(`is not evicted, and the next one is (${semantics})`, () => {
      const pods = ['self', 'web'].map((name) => pressurePod(name));
      const usage = pods.map(({ uid }, at) => usageOf(uid, { workingSetBytes: (2 - at) * Gi }));
      const short = observationOf({ 'memory.available': [1, 8 * Gi, 2000] }, usage);
      const first = (ownPod: PressureConfig['ownPod']) =>
        evictions(see(machineWith(pods, hard, { semantics, ownPod }), 2000, short))[0]?.pod.name;
      assert.deepEqual([first(null), first({ namespace: 'shop', name: 'self' })], ['self', 'web']);
    });
  }
});

describe('what is said of an evicted pod', () => {
  const container = (name: string, requests: Readonly<Record<string, string>> = {}) => ({
    name,
    requests,
  });
  const used = (name: string, bytes: number) => ({
    name,
    workingSetBytes: bytes,
    rootfs: { usedBytes: bytes / 2, inodesUsed: null },
    logs: { usedBytes: bytes / 2, inodesUsed: null },
  });

  it('names containers that use more than they asked for, in the order in which they were seen', () => {
    const pod = pressurePod('web', {
      containers: [container('a', { memory: '100Mi' }), container('b')],
      initContainers: [container('init', { memory: '1Gi' })],
    });
    const usage = usageOf('web', {
      workingSetBytes: 800 * Mi,
      containers: [
        used('b', 600 * Mi),
        used('stranger', Gi),
        used('init', Mi),
        used('a', 200 * Mi),
      ],
    });
    const machine = machineWith([pod], hard);
    const commands = see(
      machine,
      1000,
      observationOf({ 'memory.available': [500 * Mi, 8 * Gi, 1000] }, [usage]),
    );
    const [eviction] = evictions(commands);
    assert.deepEqual(eviction?.status, {
      phase: 'Failed',
      reason: 'Evicted',
      message:
        'The node was low on resource: memory. Threshold quantity: 1Gi, available: 500Mi. ' +
        'Container b was using 600Mi, request is 0, has larger consumption of memory. ' +
        'Container a was using 200Mi, request is 100Mi, has larger consumption of memory. ',
      disruptionTarget: 'TerminationByKubelet',
    });
    const done = { kind: 'done' } as const;
    const accepted = machine.handle(1001, { kind: 'result', id: eviction.id, outcome: done });
    assert.deepEqual(
      accepted.flatMap((one) => (one.kind === 'recordPressureEvent' ? [one.annotations] : [])),
      [
        {
          offending_containers: 'b,a',
          offending_containers_usage: '600Mi,200Mi',
          starved_resource: 'memory',
        },
      ],
    );
  });

  it('blames a pod that asked for memory as a whole only where it uses more', () => {
    const pod = pressurePod('web', { resources: { requests: { memory: '4Gi' } } });
    const usage = [usageOf('web', { workingSetBytes: Gi })];
    const seen = observationOf({ 'memory.available': [500 * Mi, 8 * Gi, 1000] }, usage);
    const messages = semanticsNames.map((semantics) => {
      const [eviction] = evictions(see(machineWith([pod], hard, { semantics }), 1000, seen));
      return eviction?.status.message.split('available: 500Mi. ')[1];
    });
    const blame = 'Pod web was using 1Gi, request is 4Gi, has larger consumption of memory. ';
    assert.deepEqual(messages, ['', blame, blame]);
  });
});

describe('thresholds of containerfs', () => {
  it('hold at once, and from the second pass on in the kubelet', () => {
    const settings: PressureSettingsInput = {
      evictionHard: { 'imagefs.available': '10%' },
      filesystemLayout: 'dedicatedImages',
    };
    const usage = [
      usageOf('web', {
        containers: [
          {
            name: 'main',
            workingSetBytes: null,
            rootfs: { usedBytes: Gi, inodesUsed: 1 },
            logs: { usedBytes: null, inodesUsed: null },
          },
        ],
      }),
    ];
    const evicted = (['precise', 'kubelet-1.36'] as const).map((semantics) => {
      const machine = machineWith([pressurePod('web')], settings, { semantics });
      return [1000, 2000].map((now) => {
        const seen = observationOf(
          {
            'containerfs.available': [Gi, 100 * Gi, now],
            'imagefs.available': [50 * Gi, 100 * Gi, now],
          },
          usage,
        );
        return evictions(see(machine, now, seen)).length;
      });
    });
    assert.deepEqual(evicted, [
      [1, 0],
      [0, 1],
    ]);
  });
});

describe('a volume that does not say what it holds', () => {
  for (const semantics of semanticsNames) {
    it(`is not known to exceed its limit: ${semantics}`, () => {
      const volumes = [{ name: 'cache', kind: 'emptyDir', sizeLimit: '1Gi' }];
      const machine = machineWith([pressurePod('web', { volumes })], hard, { semantics });
      const usage = usageOf('web', {
        volumes: [{ name: 'cache', usedBytes: null, inodesUsed: null }],
      });
      const seen = observationOf({ 'memory.available': [2 * Gi, 8 * Gi, 1000] }, [usage]);
      assert.deepEqual(evictions(see(machine, 1000, seen)), []);
    });
  }
});

describe('limits of all nodes together', () => {
  it('let so many evictions begin in a second', () => {
    const machine = createPressureMachine({
      settings: { ...hard, enforceNodeAllocatable: [] },
      evictionsPerSecond: 1,
    });
    machine.handle(0, { kind: 'synced' });
    for (const name of ['n1', 'n2', 'n3']) {
      const node = { name, uid: name, labels: {}, conditions: [] };
      machine.handle(0, { kind: 'pressureNode', node });
      machine.handle(0, {
        kind: 'pressurePod',
        pod: pressurePod(`on-${name}`, { nodeName: name }),
      });
      const observation = observationOf({ 'memory.available': [1, 8 * Gi, 0] }, [
        usageOf(`on-${name}`, { workingSetBytes: Gi }),
      ]);
      machine.handle(0, { kind: 'observed', nodeName: name, observation });
    }
    const at = [0, 500, 1000, 2000].map((now) =>
      evictions(machine.handle(now, { kind: 'tick' })).map(({ pod }) => pod.name),
    );
    assert.deepEqual(at, [['on-n1'], [], ['on-n2'], ['on-n3']]);
  });
});

describe('new pods', () => {
  const best = pressurePod('best', { qosClass: 'BestEffort' });
  const burstable = pressurePod('burstable', { qosClass: 'Burstable' });
  const toleration = {
    key: 'node.kubernetes.io/memory-pressure',
    operator: 'Exists',
    value: '',
    effect: 'NoSchedule',
    tolerationSeconds: null,
  };

  it('are turned away in the words of the kubelet', () => {
    assert.equal(admissionFault([], best, []), null);
    assert.equal(
      admissionFault(['MemoryPressure'], best, []),
      'The node had condition: [MemoryPressure]. ',
    );
    assert.equal(admissionFault(['MemoryPressure'], best, [toleration]), null);
    assert.equal(admissionFault(['MemoryPressure'], burstable, []), null);
    assert.equal(
      admissionFault(['MemoryPressure', 'DiskPressure'], burstable, [toleration]),
      'The node had condition: [MemoryPressure DiskPressure]. ',
    );
    assert.equal(admissionFault(['DiskPressure'], { ...best, isMirror: true }, []), null);
  });
});

describe('how file systems lie', () => {
  const disks = (nodefs: number, imagefs: number, containerfs?: number): NodeObservation =>
    observationOf({
      'nodefs.available': [nodefs, 100 * Gi, 1000],
      'imagefs.available': [imagefs, 100 * Gi, 1000],
      ...(containerfs !== undefined && {
        'containerfs.available': [containerfs, 100 * Gi, 1000] as const,
      }),
    });
  const cases: readonly [NodeObservation, string | null][] = [
    [disks(50 * Gi, 50 * Gi + Mi), 'single'],
    [disks(50 * Gi, 20 * Gi), 'dedicatedImages'],
    [disks(50 * Gi, 20 * Gi, 20 * Gi), 'dedicatedImages'],
    [disks(50 * Gi, 20 * Gi, 50 * Gi), 'splitImages'],
    [observationOf({ 'nodefs.available': [1, 2, 3] }), null],
  ];
  for (const [observation, layout] of cases) {
    it(`${layout}`, () => {
      const machine = machineWith([], {});
      see(machine, 1000, observation);
      assert.equal(machine.explain(1000, 'n1')?.layout, layout);
    });
  }

  it('unknown, disks evict nobody', () => {
    const machine = machineWith([pressurePod('web')], {
      evictionHard: { 'nodefs.available': '10%' },
    });
    const seen = observationOf({ 'nodefs.available': [Gi, 100 * Gi, 1000] });
    const reports = see(machine, 1000, seen).flatMap((command) =>
      command.kind === 'pressureReport' && command.report.kind === 'withheld'
        ? command.report.because.map(({ code }) => code)
        : [],
    );
    assert.deepEqual(reports, ['LayoutUnknown', 'ThresholdMet']);
  });
});

it('a pod that moves is on one node only', () => {
  const machine = machineWith([pressurePod('web')], hard);
  const node = { name: 'n2', uid: 'n2', labels: {}, conditions: [] };
  machine.handle(1, { kind: 'pressureNode', node });
  machine.handle(2, { kind: 'pressurePod', pod: pressurePod('web', { nodeName: 'n2' }) });
  const observation = observationOf({ 'memory.available': [1, 8 * Gi, 3] });
  const pods = ['n1', 'n2'].map((nodeName) => {
    machine.handle(3, { kind: 'observed', nodeName, observation });
    return machine.explain(3, nodeName)?.signals[0]?.order.map(({ pod }) => pod.name);
  });
  assert.deepEqual(pods, [[], ['web']]);
});

it('waits between failed attempts grow, and begin anew after one that did not fail', () => {
  const pods = ['a', 'b'].map((name) => pressurePod(name));
  const machine = machineWith(pods, hard, { retryWaitMsMin: 1000, retryWaitMsMax: 60_000 });
  const usage = pods.map(({ name }) => usageOf(name, { workingSetBytes: Gi }));
  const attempt = (now: number, commands: readonly PressureCommand[], ok: boolean): number => {
    const [eviction] = evictions(commands);
    assert.ok(eviction);
    const failed = { kind: 'failed', status: 500, message: 'boom', retryAfter: null } as const;
    const outcome = ok ? ({ kind: 'done' } as const) : failed;
    machine.handle(now, { kind: 'result', id: eviction.id, outcome });
    machine.handle(now, { kind: 'tick' });
    return (machine.nextWake() ?? now) - now;
  };
  const low = (now: number) => observationOf({ 'memory.available': [1, 8 * Gi, now] }, usage);
  const first = attempt(1000, see(machine, 1000, low(1000)), false);
  const second = attempt(5000, machine.handle(5000, { kind: 'tick' }), false);
  assert.ok(first >= 500 && first <= 1000, `first wait ${first}`);
  assert.ok(second >= 1000 && second <= 2000, `second wait ${second}`);
  attempt(10_000, machine.handle(10_000, { kind: 'tick' }), true);
  machine.handle(11_000, { kind: 'pressurePodGone', uid: 'a' });
  const after = attempt(12_000, see(machine, 12_000, low(12_000)), false);
  assert.ok(after >= 500 && after <= 1000, `wait after success ${after}`);
});

describe('a replica that stood by', () => {
  const conditionsOf = (commands: readonly PressureCommand[]): readonly string[] =>
    commands.flatMap((command) =>
      command.kind === 'setPressureConditions'
        ? command.conditions.map(({ type, status }) => `${type}=${status}`)
        : [],
    );

  it('takes back what the one before it wrote meanwhile', () => {
    const settings = { ...hard, evictionPressureTransitionPeriod: '1m' };
    const machine = machineWith([], settings, { leader: false });
    const plenty = (now: number): NodeObservation =>
      observationOf({ 'memory.available': [4 * Gi, 8 * Gi, now] });
    see(machine, 1000, plenty(1000));
    const conditions = ['MemoryPressure'] as const;
    const node = { name: 'n1', uid: 'n1', labels: {}, conditions };
    machine.handle(2000, { kind: 'pressureNode', node });
    machine.handle(3000, { kind: 'leadership', held: true });
    assert.deepEqual(conditionsOf(see(machine, 4000, plenty(4000))), ['MemoryPressure=False']);
  });

  it('writes again what somebody else took away', () => {
    const machine = machineWith([], hard);
    const short = (now: number): NodeObservation =>
      observationOf({ 'memory.available': [Gi / 2, 8 * Gi, now] });
    const commands = see(machine, 1000, short(1000));
    assert.deepEqual(conditionsOf(commands), ['MemoryPressure=True']);
    const written = commands.find(({ kind }) => kind === 'setPressureConditions');
    const id = written && 'id' in written ? written.id : assert.fail();
    machine.handle(1100, { kind: 'result', id, outcome: { kind: 'done' } });
    const node = { name: 'n1', uid: 'n1', labels: {}, conditions: [] };
    machine.handle(1200, { kind: 'pressureNode', node });
    assert.deepEqual(conditionsOf(see(machine, 2000, short(2000))), ['MemoryPressure=True']);
  });
});
