// Tells which new pods a kubelet under pressure rejects.
import { type Toleration, toleratesTaint } from '../model/toleration.ts';
import { qosClassOf } from './pods/demand.ts';
import { criticalPriorityMin, type PressurePod } from './pods/pressure-pod.ts';
import { type PressureConditionType, pressureConditions } from './signals.ts';

const memoryTaint = {
  key: pressureConditions.MemoryPressure.taint,
  value: '',
  effect: 'NoSchedule',
  timeAdded: null,
} as const;

/**
 * The message of a kubelet that rejects a new pod because of the conditions of its node; null: it
 * admits the pod. Throws RangeError for an invalid quantity of the pod.
 */
export function admissionFault(
  conditions: readonly PressureConditionType[],
  pod: PressurePod,
  tolerations: readonly Toleration[],
): string | null {
  if (conditions.length === 0 || isCritical(pod)) return null;
  if (conditions.every((condition) => condition === 'MemoryPressure')) {
    if (qosClassOf(pod) !== 'BestEffort') return null;
    const options = { comparisonOperators: false };
    if (tolerations.some((one) => toleratesTaint(one, memoryTaint, options))) return null;
  }
  return `The node had condition: [${conditions.join(' ')}]. `;
}

function isCritical({ isStatic, isMirror, priority }: PressurePod): boolean {
  return isStatic || isMirror || priority >= criticalPriorityMin;
}
