// The table columns of nodes, events and other small kinds.
import type { KubeObject, Printer } from '@taintmgr/sim-cluster/server';
import { age, ageColumn, column, nameColumn, orNone, wide } from './columns.ts';
import { since } from './duration.ts';

const rolePrefix = 'node-role.kubernetes.io/';

function nodeStatus(node: KubeObject): string {
  const conditions: readonly { readonly type: string; readonly status: string }[] =
    node.status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  const status = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return node.spec.unschedulable ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(node: KubeObject): string {
  const labels = Object.entries(node.metadata.labels ?? {});
  const roles = labels.flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return [key.slice(rolePrefix.length)];
    return key === 'kubernetes.io/role' && value ? [value] : [];
  });
  return orNone(roles.sort().join(','));
}

function nodeAddress(node: KubeObject, wanted: string): string {
  const addresses: readonly { readonly type: string; readonly address: string }[] =
    node.status?.addresses ?? [];
  return orNone(addresses.find(({ type }) => type === wanted)?.address);
}

/** Nodes as kubectl prints them. */
export const nodePrinter: Printer = {
  columns: [
    nameColumn,
    column('Status', 'The status of the node'),
    column('Roles', 'The roles of the node'),
    ageColumn,
    column('Version', 'Kubelet Version reported by the node.'),
    wide('Internal-IP', 'List of addresses reachable to the node.'),
    wide('External-IP', 'List of addresses reachable to the node.'),
    wide('OS-Image', 'OS Image reported by the node from /etc/os-release.'),
    wide('Kernel-Version', "Kernel Version reported by the node from 'uname -r'."),
    wide('Container-Runtime', 'ContainerRuntime Version reported by the node.'),
  ],
  cells: (node, now) => {
    const info: Readonly<Record<string, string>> = node.status?.nodeInfo ?? {};
    return [
      node.metadata.name,
      nodeStatus(node),
      nodeRoles(node),
      age(node, now),
      info.kubeletVersion ?? '',
      nodeAddress(node, 'InternalIP'),
      nodeAddress(node, 'ExternalIP'),
      info.osImage || '<unknown>',
      info.kernelVersion || '<unknown>',
      info.containerRuntimeVersion || '<unknown>',
    ];
  },
};

/** Events as kubectl prints them. */
export const eventPrinter: Printer = {
  columns: [
    column('Last Seen', 'The time at which the most recent occurrence of this event was recorded.'),
    column('Type', 'Type of this event (Normal, Warning), new types could be added in the future'),
    column('Reason', 'This should be a short, machine understandable string.'),
    column('Object', 'The object that this event is about.'),
    wide('Subobject', 'If referring to a piece of an object instead of an entire object.'),
    wide('Source', 'The component reporting this event.'),
    column('Message', 'A human-readable description of the status of this operation.'),
    wide('First Seen', 'The time at which the event was first recorded.'),
    wide('Count', 'The number of times this event has occurred.'),
    { ...nameColumn, priority: 1 },
  ],
  cells: (event, now) => {
    const first = since(event.firstTimestamp ?? event.eventTime, now);
    const last = event.series
      ? since(event.series.lastObservedTime, now)
      : event.lastTimestamp
        ? since(event.lastTimestamp, now)
        : first;
    const { kind = '', name, fieldPath = '' } = event.involvedObject ?? {};
    const { component, host } = event.source ?? {};
    const source = component || (event.reportingComponent ?? '');
    return [
      last,
      event.type ?? '',
      event.reason ?? '',
      name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase(),
      fieldPath,
      host ? `${source}, ${host}` : source,
      (event.message ?? '').trim(),
      first,
      event.series?.count ?? (event.count || 1),
      event.metadata.name,
    ];
  },
};

/** Leases as kubectl prints them. */
export const leasePrinter: Printer = {
  columns: [
    nameColumn,
    column('Holder', 'The identity of the holder of a current lease.'),
    ageColumn,
  ],
  cells: (lease, now) => [lease.metadata.name, lease.spec.holderIdentity ?? '', age(lease, now)],
};

/** PodDisruptionBudgets as kubectl prints them. */
export const budgetPrinter: Printer = {
  columns: [
    nameColumn,
    column('Min Available', 'The minimum number of pods that must be available.'),
    column('Max Unavailable', 'The maximum number of pods that may be unavailable.'),
    column(
      'Allowed Disruptions',
      'Calculated number of pods that may be disrupted at this time.',
      'integer',
    ),
    ageColumn,
  ],
  cells: (budget, now) => [
    budget.metadata.name,
    String(budget.spec.minAvailable ?? 'N/A'),
    String(budget.spec.maxUnavailable ?? 'N/A'),
    budget.status?.disruptionsAllowed ?? 0,
    age(budget, now),
  ],
};

/** Namespaces as kubectl prints them. */
export const namespacePrinter: Printer = {
  columns: [nameColumn, column('Status', 'The status of the namespace'), ageColumn],
  cells: (namespace, now) => [
    namespace.metadata.name,
    namespace.status?.phase ?? '',
    age(namespace, now),
  ],
};
