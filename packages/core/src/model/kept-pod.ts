// A pod as the engine keeps it: five fields of its own, and what it has in common with others.
import type { Instant } from '../kernel/time.ts';
import type { Pod } from './pod.ts';

type Shared = Omit<Pod, 'name' | 'uid' | 'nodeName' | 'boundAt' | 'deletionTimestamp'>;

/** What the pods of one workload mostly have in common; what is left out is there as undefined. */
export type PodTraits = { readonly [K in keyof Required<Shared>]: Shared[K] };

/**
 * A pod of which there may be a million: what it shares with others of its workload is kept once. It
 * reads like any Pod, but a copy by `...` would lack what is shared.
 */
export class KeptPod implements Pod {
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  readonly boundAt: Instant | null;
  readonly deletionTimestamp: Instant | null;
  readonly traits: PodTraits;

  constructor(
    own: Pick<Pod, 'name' | 'uid' | 'nodeName' | 'boundAt' | 'deletionTimestamp'>,
    traits: PodTraits,
  ) {
    this.name = own.name;
    this.uid = own.uid;
    this.nodeName = own.nodeName;
    this.boundAt = own.boundAt;
    this.deletionTimestamp = own.deletionTimestamp;
    this.traits = traits;
  }

  get namespace(): Pod['namespace'] {
    return this.traits.namespace;
  }

  get tolerations(): Pod['tolerations'] {
    return this.traits.tolerations;
  }

  get phase(): Pod['phase'] {
    return this.traits.phase;
  }

  get generation(): Pod['generation'] {
    return this.traits.generation;
  }

  get mirror(): Pod['mirror'] {
    return this.traits.mirror;
  }

  get owner(): Pod['owner'] {
    return this.traits.owner;
  }

  get hasEmptyDir(): Pod['hasEmptyDir'] {
    return this.traits.hasEmptyDir;
  }

  get gracePeriodSeconds(): Pod['gracePeriodSeconds'] {
    return this.traits.gracePeriodSeconds;
  }

  get optedOut(): Pod['optedOut'] {
    return this.traits.optedOut;
  }

  get unsafeToEvict(): Pod['unsafeToEvict'] {
    return this.traits.unsafeToEvict;
  }

  get doNotDisrupt(): Pod['doNotDisrupt'] {
    return this.traits.doNotDisrupt;
  }

  get ready(): Pod['ready'] {
    return this.traits.ready;
  }

  get labels(): Pod['labels'] {
    return this.traits.labels;
  }

  get priority(): Pod['priority'] {
    return this.traits.priority;
  }

  get priorityClassName(): Pod['priorityClassName'] {
    return this.traits.priorityClassName;
  }

  get disruption(): Pod['disruption'] {
    return this.traits.disruption;
  }
}

/** What a pod may have in common with others. */
export function traitsOf(pod: Pod): PodTraits {
  return {
    namespace: pod.namespace,
    tolerations: pod.tolerations,
    phase: pod.phase,
    generation: pod.generation,
    mirror: pod.mirror,
    owner: pod.owner,
    hasEmptyDir: pod.hasEmptyDir,
    gracePeriodSeconds: pod.gracePeriodSeconds,
    optedOut: pod.optedOut,
    unsafeToEvict: pod.unsafeToEvict,
    doNotDisrupt: pod.doNotDisrupt,
    ready: pod.ready,
    labels: pod.labels,
    priority: pod.priority,
    priorityClassName: pod.priorityClassName,
    disruption: pod.disruption,
  };
}

/** The same pod with all fields of its own, for whoever copies it or writes it down. */
export function plainPod(pod: Pod): Pod {
  const { name, uid, nodeName, boundAt, deletionTimestamp } = pod;
  // Thousands may be explained at once, and this copies them as a whole.
  const traits = pod instanceof KeptPod ? pod.traits : traitsOf(pod);
  return { ...traits, name, uid, nodeName, boundAt, deletionTimestamp };
}

/** The same pod if it tolerated this. */
export function withTolerations(pod: Pod, tolerations: Pod['tolerations']): Pod {
  return new KeptPod(pod, { ...traitsOf(pod), tolerations });
}
