import { computeQosClass, qosClassOf } from '../../src/pressure/pods/demand.ts';
import { podFrom, type VectorPod } from './kubelet-objects.ts';

interface Case {
  readonly pod: VectorPod;
  readonly computedQOS: string;
  readonly getPodQOS: string;
}

/** What differs from the recorded QoS class; null when nothing does. */
export function checkQos({ pod, computedQOS, getPodQOS }: Case): string | null {
  const computed = computeQosClass(podFrom(pod));
  const known = qosClassOf(podFrom(pod));
  if (computed !== computedQOS) return `computed ${computed}, want ${computedQOS}`;
  return known === getPodQOS ? null : `known ${known}, want ${getPodQOS}`;
}
