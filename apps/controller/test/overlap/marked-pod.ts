import type { Pod } from '@taintmgr/core';
import { podFromJson } from '@taintmgr/k8s-adapter';

/** A pod that a program has marked, as the API server has it; `manager` null: nobody knows which. */
export function marked(name: string, manager: string | null, nodeName = 'n1'): Pod {
  const entry = (who: string): object => ({
    manager: who,
    operation: 'Update',
    subresource: 'status',
    fieldsV1: {
      'f:status': { 'f:conditions': { 'k:{"type":"DisruptionTarget"}': { 'f:reason': {} } } },
    },
  });
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
  };
  return podFromJson({
    metadata: {
      namespace: 'shop',
      name,
      uid: `uid-${name}`,
      managedFields: manager === null ? [] : [entry(manager)],
    },
    spec: { nodeName },
    status: { conditions: [condition] },
  });
}
