import {
  createPressureMachine,
  type NodeObservation,
  type PodUsage,
  type PressureCommand,
  type PressureConfig,
  type PressureEvent,
  type PressureMachine,
  type PressurePod,
  type PressureSettingsInput,
  type Sample,
  type Signal,
} from '@taintmgr/core/pressure';

export const [Gi, Mi] = [2 ** 30, 2 ** 20];
export const semanticsNames = ['precise', 'kubelet-1.36', 'kubelet-1.6'] as const;

/** A pod with nothing special about it but what is given. */
export function pressurePod(name: string, more: Partial<PressurePod> = {}): PressurePod {
  return {
    namespace: 'shop',
    name,
    uid: name,
    nodeName: 'n1',
    priority: 0,
    phase: 'Running',
    deletionTimestamp: null,
    generation: 1,
    isStatic: false,
    isMirror: false,
    gracePeriodSeconds: 30,
    qosClass: '',
    containers: [],
    initContainers: [],
    resources: null,
    overhead: {},
    volumes: [],
    ...more,
  };
}

/** What a pod uses: nothing is said but what is given. */
export function usageOf(uid: string, more: Partial<PodUsage> = {}): PodUsage {
  return {
    uid,
    workingSetBytes: null,
    processes: null,
    storageBytes: null,
    containers: [],
    volumes: [],
    ...more,
  };
}

/** An observation of samples `[available, capacity, time]`. */
export function observationOf(
  samples: Partial<Record<Signal, readonly [number, number, number | null]>>,
  pods: readonly PodUsage[] = [],
): NodeObservation {
  const entries = Object.entries(samples).map(
    ([signal, [available, capacity, time]]): [string, Sample] => [
      signal,
      { available, capacity, time },
    ],
  );
  return { samples: Object.fromEntries(entries), pods };
}

/** A machine with one node and these pods, which has heard of everything. */
export function machineWith(
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

export function see(
  machine: PressureMachine,
  now: number,
  observation: NodeObservation,
): readonly PressureCommand[] {
  const told = machine.handle(now, { kind: 'observed', nodeName: 'n1', observation });
  return [...told, ...machine.handle(now, { kind: 'tick' })];
}

type Eviction = Extract<PressureCommand, { kind: 'evictUnderPressure' }>;

export function evictions(commands: readonly PressureCommand[]): readonly Eviction[] {
  return commands.filter((command) => command.kind === 'evictUnderPressure');
}
