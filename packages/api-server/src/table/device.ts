// The table columns of devices, of their claims, and of their taints.
import type { KubeObject, Printer } from '@taintmgr/sim-cluster/server';
import { age, ageColumn, column, nameColumn } from './columns.ts';
import { since } from './duration.ts';

/** DeviceTaintRules as kubectl prints them. */
export const deviceTaintRulePrinter: Printer = {
  columns: [
    nameColumn,
    column('Key', 'The taint key to be applied to a device. Must be a label name.'),
    column('Value', 'The taint value corresponding to the taint key. Must be a label value.'),
    column(
      'Effect',
      'The effect of the taint on claims that do not tolerate the taint and through such claims on the pods using them.\n\nValid effects are None, NoSchedule and NoExecute. PreferNoSchedule as used for nodes is not valid here. More effects may get added in the future. Consumers must treat unknown effects like None.',
    ),
    column(
      'TimeAdded',
      'TimeAdded represents the time at which the taint was added or (only in a DeviceTaintRule) the effect was modified. Added automatically during create or update if not set.\n\nIn addition, in a DeviceTaintRule a value provided during an update gets replaced with the current time if the provided value is the same as the old one and the new effect is different. Changing the key and/or value while keeping the effect unchanged is possible and does not update the time stamp because the eviction which uses it is either already started (NoExecute) or not started yet (NoEffect, NoSchedule).',
    ),
    ageColumn,
  ],
  cells: (rule, now) => {
    const { key, value = '', effect, timeAdded } = rule.spec.taint;
    return [rule.metadata.name, key, value, effect, since(timeAdded, now), age(rule, now)];
  },
};

/** ResourceSlices as kubectl prints them. */
export const resourceSlicePrinter: Printer = {
  columns: [
    nameColumn,
    column(
      'Node',
      'NodeName identifies the node which provides the resources in this pool. A field selector can be used to list only ResourceSlice objects belonging to a certain node.\n\nThis field can be used to limit access from nodes to ResourceSlices with the same node name. It also indicates to autoscalers that adding new nodes of the same type as some old node might also make new resources available.\n\nExactly one of NodeName, NodeSelector, AllNodes, and PerDeviceNodeSelection must be set. This field is immutable.',
    ),
    column(
      'Driver',
      'Driver identifies the DRA driver providing the capacity information. A field selector can be used to list only ResourceSlice objects with a certain driver name.\n\nMust be a DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use only lower case characters. This field is immutable.',
    ),
    column(
      'Pool',
      'Name is used to identify the pool. For node-local devices, this is often the node name, but this is not required.\n\nIt must not be longer than 253 characters and must consist of one or more DNS sub-domains separated by slashes. This field is immutable.',
    ),
    ageColumn,
  ],
  cells: (slice, now) => {
    const { nodeName = '', driver, pool } = slice.spec;
    return [slice.metadata.name, nodeName, driver, pool.name, age(slice, now)];
  },
};

/** ResourceClaims as kubectl prints them. */
export const resourceClaimPrinter: Printer = {
  columns: [
    nameColumn,
    column('State', 'A summary of the current state (allocated, pending, reserved, etc.).'),
    ageColumn,
  ],
  cells: (claim, now) => [claim.metadata.name, stateOf(claim), age(claim, now)],
};

function stateOf({ metadata, status }: KubeObject): string {
  const states = [
    ...(metadata.deletionTimestamp === undefined ? [] : ['deleted']),
    ...(status?.allocation ? ['allocated'] : []),
    ...(status?.reservedFor ? ['reserved'] : []),
  ];
  return states.length === 0 ? 'pending' : states.join(',');
}
