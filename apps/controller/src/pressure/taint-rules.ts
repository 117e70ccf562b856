// The taints for the conditions of node-pressure-controller.
import type { ConditionRule } from '@taintmgr/core/policy';
import type { PressureConditionType } from '@taintmgr/core/pressure';
import { ownConditionType, ownTaintKey } from '@taintmgr/k8s-adapter';

const types: readonly PressureConditionType[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/**
 * The rules by which node-lifecycle-controller keeps new pods off nodes that node-pressure-controller
 * sees under pressure, as it does for what kubelets see. A rule of the user's own for the same
 * condition (`own`) takes the place of ours.
 */
export function pressureTaintRules(own: readonly ConditionRule[]): readonly ConditionRule[] {
  const missing = types.filter((type) => {
    return !own.some(({ condition }) => condition === ownConditionType(type));
  });
  return missing.map(ruleFor);
}

function ruleFor(type: PressureConditionType): ConditionRule {
  return {
    name: ownTaintKey(type),
    condition: ownConditionType(type),
    status: 'True',
    holdsMs: 0,
    clearMs: 0,
    taint: { key: ownTaintKey(type), value: '', effect: 'NoSchedule' },
    nodes: {},
    nodesMax: null,
    dryRun: false,
  };
}
