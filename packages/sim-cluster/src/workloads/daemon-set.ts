// Keeps one pod of a DaemonSet on each node that it fits.
import type { ControllerContext } from '../controllers/controller.ts';
import { isReady, isTerminal, isTerminating } from '../controllers/pods.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { type Toleration, untolerated } from '../objects/tolerations.ts';
import { admitsNode, onlyNode } from '../scheduler/node-affinity.ts';
import { daemonRevision, keepHistory } from './history.ts';
import { type Revision, revisionLabel } from './revisions.ts';
import {
  createPod,
  deletePod,
  setStatus,
  templateHash,
  type WorkloadContext,
  type WorkloadKind,
} from './workload.ts';

/** Keeps one pod on every node that its selectors admit and whose taints it tolerates. */
export const daemonSetKind: WorkloadKind = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  resource: 'daemonsets',
  creates: 'pods',
  followsNodes: true,
  sync: syncDaemonSet,
};

/** Added to every daemon pod without seconds; the last one only on the host's network. */
const toleratedByDaemons: readonly (readonly [key: string, effect: string])[] = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
  ['node.kubernetes.io/network-unavailable', 'NoSchedule'],
];

/** The tolerations of a template with those of every daemon pod merged in, one by one. */
export function daemonTolerations(
  template: readonly Toleration[],
  hostNetwork: boolean,
): readonly Toleration[] {
  const count = hostNetwork ? toleratedByDaemons.length : toleratedByDaemons.length - 1;
  let tolerations = template;
  for (const [key, effect] of toleratedByDaemons.slice(0, count)) {
    const own = { key, operator: 'Exists', effect };
    const isSame = (other: Toleration): boolean =>
      other.key === key &&
      other.effect === effect &&
      other.operator === 'Exists' &&
      (other.value ?? '') === '';
    tolerations = tolerations.some(isSame)
      ? tolerations.map((other) => (isSame(other) ? own : other))
      : [...tolerations, own];
  }
  return tolerations;
}

/** What a DaemonSet wants of one node. */
interface Placement {
  /** A pod should be there. */
  readonly run: boolean;
  /** A pod that is there already may stay. */
  readonly stay: boolean;
}

function syncDaemonSet(context: WorkloadContext, set: KubeObject): void {
  const { api, lookup } = context;
  const { spec } = set.spec.template;
  const tolerations = daemonTolerations(spec.tolerations ?? [], spec.hostNetwork === true);
  const podsOf = groupByNode(lookup.ownedBy(set, 'pods'));
  const nodes = api.list('nodes').map((node) => ({
    node,
    placement: placementOn(node, { ...spec, tolerations }),
    pods: podsOf.get(node.metadata.name) ?? [],
  }));
  const current = revisionOf(context, set, lookup.ownedBy(set, 'pods'));
  const revision = current.name;
  if (context.keepsHistory) keepRevisions(context, set, current);
  for (const { node, placement, pods } of nodes) {
    const unwanted = placement.stay ? redundant(pods) : pods;
    for (const pod of unwanted) if (!isTerminating(pod)) deletePod(api, pod);
    if (placement.run && pods.length === 0) createDaemon(context, set, node, tolerations, revision);
  }
  for (const pod of lookup.ownedBy(set, 'pods')) {
    if (!pod.spec.nodeName && !api.get('nodes', '', onlyNode(pod.spec) ?? '')) deletePod(api, pod);
  }
  const rolls = set.spec.updateStrategy?.type !== 'OnDelete';
  if (rolls && nodes.every(({ placement, pods }) => !placement.run || pods.some(isReady))) {
    replaceOutdated(context, [...podsOf.values()].flat(), revision);
  }
  reportStatus(context, set, nodes, revision);
}

/** That of its pods once a rollout is complete. */
function revisionOf(
  { revisions }: WorkloadContext,
  set: KubeObject,
  pods: readonly KubeObject[],
): Revision {
  const { metadata, spec, status } = set;
  const isRolledOut =
    status?.observedGeneration === metadata.generation &&
    status?.updatedNumberScheduled === status?.currentNumberScheduled;
  const label = isRolledOut ? pods[0]?.metadata.labels?.[revisionLabel] : undefined;
  return revisions.ofTemplate(set, label, templateHash(spec.template));
}

function keepRevisions(context: WorkloadContext, set: KubeObject, current: Revision): void {
  const labels = context.lookup.ownedBy(set, 'pods').map((pod) => pod.metadata.labels ?? {});
  const inUse = labels.map((one) => `${set.metadata.name}-${one[revisionLabel]}`);
  keepHistory(context, daemonSetKind, set, daemonRevision(set, current), new Set(inUse));
}

function placementOn(node: KubeObject, podSpec: KubeObject['spec']): Placement {
  if (!admitsNode(podSpec, node)) return { run: false, stay: false };
  const taints = node.spec?.taints ?? [];
  if (untolerated(taints, podSpec.tolerations, ['NoExecute'])) return { run: false, stay: false };
  return { run: !untolerated(taints, podSpec.tolerations, ['NoSchedule']), stay: true };
}

function groupByNode(pods: readonly KubeObject[]): ReadonlyMap<string, readonly KubeObject[]> {
  const groups = new Map<string, KubeObject[]>();
  for (const pod of pods) {
    const nodeName: string = pod.spec.nodeName || onlyNode(pod.spec) || '';
    const group = groups.get(nodeName);
    if (group) group.push(pod);
    else groups.set(nodeName, [pod]);
  }
  return groups;
}

/** Pods that have ended make room for new ones; of several that run, the oldest is kept. */
function redundant(pods: readonly KubeObject[]): readonly KubeObject[] {
  const running = pods.filter((pod) => !isTerminal(pod) && !isTerminating(pod));
  return [...pods.filter(isTerminal), ...running.sort(byPlaceAndAge).slice(1)];
}

/** Those that have a place come first, then the oldest: loaded ones are not in the order of their age. */
function byPlaceAndAge(a: KubeObject, b: KubeObject): number {
  const place = Number(!a.spec.nodeName) - Number(!b.spec.nodeName);
  if (place !== 0) return place;
  const born = ({ metadata }: KubeObject): number => Date.parse(metadata.creationTimestamp ?? '');
  if (born(a) !== born(b)) return born(a) - born(b);
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

function createDaemon(
  { api }: ControllerContext,
  set: KubeObject,
  node: KubeObject,
  tolerations: readonly Toleration[],
  revision: string,
): void {
  const { affinity } = set.spec.template.spec;
  createPod(api, daemonSetKind, set, {
    labels: {
      [revisionLabel]: revision,
      'pod-template-generation': String(set.metadata.generation ?? 1),
    },
    spec: {
      affinity: { ...affinity, nodeAffinity: boundTo(node.metadata.name) },
      tolerations: tolerations.map((toleration) => ({ ...toleration })),
    },
  });
}

/** The affinity that makes the scheduler bind a daemon pod to its node; the set has judged the rest. */
function boundTo(nodeName: string): { readonly [field: string]: Json } {
  return {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] },
      ],
    },
  };
}

/** Rolls a new template out one pod at a time. */
function replaceOutdated(
  { api }: ControllerContext,
  pods: readonly KubeObject[],
  revision: string,
): void {
  if (pods.some(isTerminating)) return;
  const outdated = pods.find((pod) => pod.metadata.labels?.[revisionLabel] !== revision);
  if (outdated) deletePod(api, outdated);
}

function reportStatus(
  context: ControllerContext,
  set: KubeObject,
  nodes: readonly { readonly placement: Placement; readonly pods: readonly KubeObject[] }[],
  revision: string,
): void {
  const wanted = nodes.filter(({ placement }) => placement.run);
  const withPod = wanted.filter(({ pods }) => pods.length > 0);
  const ready = withPod.filter(({ pods }) => pods.some(isReady)).length;
  const updated = withPod.filter(({ pods }) =>
    pods.some((pod) => pod.metadata.labels?.[revisionLabel] === revision),
  );
  setStatus(context.api, daemonSetKind, set, {
    observedGeneration: set.metadata.generation,
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: withPod.length,
    numberMisscheduled: nodes.filter(({ placement, pods }) => !placement.run && pods.length > 0)
      .length,
    numberReady: ready,
    numberAvailable: ready,
    numberUnavailable: wanted.length - ready,
    updatedNumberScheduled: updated.length,
  });
}
