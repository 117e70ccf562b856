import type {
  NodeObservation,
  PodUsage,
  PressurePod,
  Sample,
  Signal,
} from '@taintmgr/core/pressure';

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
