// Pods as node pressure needs them: requests, limits, volumes, priority.
import type { Instant } from '../../kernel/time.ts';
import type { PodRef } from '../../model/pod.ts';

/** Quantities by the name of their resource, as the API has them: `{memory: '1Gi'}`. */
export type ResourceList = Readonly<Record<string, string>>;

/** spec.resources of a pod, or resources of a container. */
export interface ResourceRequirements {
  /** Requested amounts by resource; left out: none. */
  readonly requests?: ResourceList;
  /** Limits by resource; left out: none. */
  readonly limits?: ResourceList;
}

/** A container of a pod. */
export interface PressureContainer extends ResourceRequirements {
  /** Name of the container. */
  readonly name: string;
  /** An init container with restartPolicy Always. */
  readonly sidecar?: boolean;
}

/** A volume of a pod. */
export interface PressureVolume {
  /** Name of the volume in the pod. */
  readonly name: string;
  /** The field that names its kind: `emptyDir`, `hostPath`, `configMap`... */
  readonly kind: string;
  /** Of an emptyDir; '' or left out: on disk. */
  readonly medium?: string;
  /** Of an emptyDir; left out: none. */
  readonly sizeLimit?: string;
}

/** The part of a Pod that decisions under node pressure need. */
export interface PressurePod extends PodRef {
  /** spec.priority; 0 where absent. */
  readonly priority: number;
  /** status.phase. */
  readonly phase: string;
  /** metadata.deletionTimestamp: set while the pod terminates. */
  readonly deletionTimestamp: Instant | null;
  /** metadata.generation, for the condition we put on it; 0 where absent. */
  readonly generation: number;
  /** Annotation kubernetes.io/config.source names another source than the API server. */
  readonly isStatic: boolean;
  /** Annotation kubernetes.io/config.mirror is present. */
  readonly isMirror: boolean;
  /** spec.terminationGracePeriodSeconds; null where absent. */
  readonly gracePeriodSeconds: number | null;
  /** status.qosClass; '' where absent. */
  readonly qosClass: string;
  /** spec.containers. */
  readonly containers: readonly PressureContainer[];
  /** spec.initContainers. */
  readonly initContainers: readonly PressureContainer[];
  /** spec.resources; null where absent. */
  readonly resources: ResourceRequirements | null;
  /** spec.overhead. */
  readonly overhead: ResourceList;
  /** spec.volumes. */
  readonly volumes: readonly PressureVolume[];
}

/** From this priority on a pod is critical: a kubelet evicts none of them. */
export const criticalPriorityMin = 2_000_000_000;

/** True when its phase says that the pod has ended: it uses nothing any more, unless it still stops. */
export function isFinished({ phase }: PressurePod): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

const localKinds: readonly string[] = ['hostPath', 'gitRepo', 'configMap'];

/** True when the content of the volume is on the node's disk and counts as the pod's. */
export function isLocal({ kind, medium = '' }: PressureVolume): boolean {
  return kind === 'emptyDir' ? medium === '' : localKinds.includes(kind);
}
