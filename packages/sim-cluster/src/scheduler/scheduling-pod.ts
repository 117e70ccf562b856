// A pod as the scheduler sees it.
import { claimsOf } from '../controllers/volumes.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type AffinityTerms, affinityTermsOf } from './affinity-terms.ts';
import { type Disk, disksOf } from './disks.ts';
import { type HostPort, hostPortsOf } from './host-ports.ts';
import type { Labels } from './pod-selector.ts';
import { type Requests, requestsOf } from './resources.ts';

/** A pod that is on a node or looks for one. */
export interface SchedulingPod {
  readonly key: string;
  /** In the state that it has now. */
  pod: KubeObject;
  readonly namespace: string;
  readonly labels: Labels;
  readonly priority: number;
  /** True if its deletion has begun. */
  readonly isEnding: boolean;
  readonly requests: Requests;
  readonly ports: readonly HostPort[];
  readonly terms: AffinityTerms;
  /** The names of its claims. */
  readonly claims: readonly string[];
  readonly disks: readonly Disk[];
}

const noLabels: Labels = {};

/** Reads a pod once, for many nodes. */
export function schedulingPod(key: string, pod: KubeObject): SchedulingPod {
  const { namespace = '', labels = noLabels, deletionTimestamp } = pod.metadata;
  return {
    key,
    pod,
    namespace,
    labels,
    priority: pod.spec.priority ?? 0,
    isEnding: deletionTimestamp !== undefined,
    requests: requestsOf(pod),
    ports: hostPortsOf(pod),
    terms: affinityTermsOf(namespace, labels, pod),
    claims: claimsOf(pod),
    disks: disksOf(pod),
  };
}

/** True if both states of a pod count the same for other pods. */
export function countsAlike({ pod }: Readonly<SchedulingPod>, next: KubeObject): boolean {
  const { metadata, spec } = pod;
  return (
    spec === next.spec &&
    metadata.labels === next.metadata.labels &&
    metadata.deletionTimestamp === next.metadata.deletionTimestamp
  );
}
