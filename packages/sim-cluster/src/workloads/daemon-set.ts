// Keeps one pod of a DaemonSet on each node that it fits.
import type { ControllerContext } from '../controllers/controller.ts';
import { scaledCount } from '../controllers/int-or-percent.ts';
import { isActive, isReady, isTerminal, isTerminating } from '../controllers/pods.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { type Toleration, untolerated } from '../objects/tolerations.ts';
import { admitsNode, onlyNode } from '../scheduler/node-affinity.ts';
import { untilAvailable } from './availability.ts';
import { daemonRevision, keepHistory } from './history.ts';
import { type Revision, revisionLabel } from './revisions.ts';
import {
  createPod,
  deletePod,
  isClosing,
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
  concernsNode,
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

/** The decision of a DaemonSet about one node. */
interface Placement {
  /** A pod should be there. */
  readonly run: boolean;
  /** A pod that is there already may stay. */
  readonly stay: boolean;
}

/** A node, what the set wants of it, and its pods there. */
interface Site {
  readonly node: KubeObject;
  readonly placement: Placement;
  readonly pods: readonly KubeObject[];
}

/** The pods as the set makes them now. */
interface Mould {
  readonly tolerations: readonly Toleration[];
  readonly revision: string;
}

function syncDaemonSet(context: WorkloadContext, set: KubeObject): void {
  if (isTerminating(set)) return;
  const { api, lookup } = context;
  const all = lookup.ownedBy(set, 'pods');
  const current = revisionOf(context, set, all);
  if (context.keepsHistory) keepRevisions(context, set, current);
  const tolerations = tolerationsOf(set);
  const mould: Mould = { tolerations, revision: current.name };
  const podsOf = groupByNode(all.filter((pod) => !(isTerminating(pod) && isTerminal(pod))));
  const sites = api.list('nodes').map(
    (node): Site => ({
      node,
      placement: placementOn(node, { ...set.spec.template.spec, tolerations }),
      pods: podsOf.get(node.metadata.name) ?? [],
    }),
  );
  const counts = countsOf(context, set, sites, current.name);
  for (const site of sites) keepOne(context, set, site, mould);
  for (const pod of all) {
    if (!pod.spec.nodeName && !api.get('nodes', '', onlyNode(pod.spec) ?? '')) deletePod(api, pod);
  }
  if (set.spec.updateStrategy?.type !== 'OnDelete') roll(context, set, sites, mould);
  setStatus(api, daemonSetKind, set, counts);
}

function tolerationsOf({ spec }: KubeObject): readonly Toleration[] {
  const pod = spec.template.spec;
  return daemonTolerations(pod.tolerations ?? [], pod.hostNetwork === true);
}

/**
 * True if the change of a node requires the set to act there now: a node that should merely get no
 * further pod is noticed at the next look.
 */
function concernsNode(
  { lookup }: ControllerContext,
  set: KubeObject,
  node: KubeObject,
  previous: KubeObject | null,
): boolean {
  const spec = { ...set.spec.template.spec, tolerations: tolerationsOf(set) };
  const { run, stay } = placementOn(node, spec);
  if (run && previous && !placementOn(previous, spec).run) return true;
  const { name } = node.metadata;
  const isThere = lookup.ownedBy(set, 'pods').some((pod) => placeOf(pod) === name);
  return isThere ? !stay : run;
}

/** Makes a pod where one is missing, and deletes those that should not be there. */
function keepOne(context: WorkloadContext, set: KubeObject, site: Site, mould: Mould): void {
  const { placement, pods } = site;
  const unwanted = !placement.stay
    ? pods
    : surges(set)
      ? redundantInSurge(context, set, pods, mould.revision)
      : redundant(pods);
  for (const pod of unwanted) {
    if (isTerminating(pod) || (placement.stay && mustPause(context, set, pod))) continue;
    deletePod(context.api, pod);
  }
  const isMissing = surges(set) ? !pods.some(isActive) : pods.length === 0;
  if (placement.run && isMissing && !isClosing(context.api, set)) {
    createDaemon(context, set, site.node, mould);
  }
}

/**
 * True if a failed pod stays for a while because others have failed there before; looks again then.
 */
function mustPause(context: WorkloadContext, set: KubeObject, pod: KubeObject): boolean {
  if (pod.status?.phase !== 'Failed') return false;
  const leftMs = context.daemonBackoffs.next(set, placeOf(pod), context.api.clock.now());
  if (leftMs > 0) context.again(leftMs);
  return leftMs > 0;
}

/** True if a node may have two pods during a rollout. */
function surges({ spec }: KubeObject): boolean {
  const surge: number | string = spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0;
  return surge !== 0 && surge !== '0%';
}

/** The revision of its pods once a rollout is complete. */
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

/** The node of a pod, or the one that an unbound pod is meant for. */
function placeOf({ spec }: KubeObject): string {
  return spec.nodeName || onlyNode(spec) || '';
}

function groupByNode(pods: readonly KubeObject[]): ReadonlyMap<string, readonly KubeObject[]> {
  const groups = new Map<string, KubeObject[]>();
  for (const pod of pods) {
    const group = groups.get(placeOf(pod));
    if (group) group.push(pod);
    else groups.set(placeOf(pod), [pod]);
  }
  return groups;
}

/** Pods that have ended make room for new ones; of several that run, the oldest is kept. */
function redundant(pods: readonly KubeObject[]): readonly KubeObject[] {
  return [...pods.filter(isTerminal), ...pods.filter(isActive).sort(byPlaceAndAge).slice(1)];
}

/**
 * The redundant pods where a node may have two: the oldest pod of the old revision stays while it
 * is ready and the oldest of the new one is not available.
 */
function redundantInSurge(
  context: WorkloadContext,
  set: KubeObject,
  pods: readonly KubeObject[],
  revision: string,
): readonly KubeObject[] {
  const running = pods.filter(isActive).sort(byPlaceAndAge);
  const ended = pods.filter(isTerminal);
  if (running.length < 2) return ended;
  const updated = running.find((pod) => isOf(revision, pod));
  const old = running.find((pod) => !isOf(revision, pod));
  const kept = [updated, old].filter((pod) => {
    if (!pod || !updated || !old) return pod !== undefined;
    return pod === updated || (isReady(old) && !isAvailable(context, set, updated));
  });
  return [...ended, ...running.filter((pod) => !kept.includes(pod))];
}

function isOf(revision: string, { metadata }: KubeObject): boolean {
  return metadata.labels?.[revisionLabel] === revision;
}

/** True if the pod is ready for the required time; looks again when it may be. */
function isAvailable(context: WorkloadContext, set: KubeObject, pod: KubeObject): boolean {
  const minReadySeconds: number = set.spec.minReadySeconds ?? 0;
  const waitMs = untilAvailable(pod, minReadySeconds, context.api.clock.now());
  if (waitMs !== null && waitMs > 0) context.again(waitMs);
  return waitMs === 0;
}

/** Pods with a node come first, then the oldest: loaded pods are not in the order of their age. */
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
  { tolerations, revision }: Mould,
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

/**
 * Rolls a new template out: over nodes whose old pods are not available at once, over others as far as
 * maxUnavailable says, or, with maxSurge, by new pods beside the old ones.
 */
function roll(
  context: WorkloadContext,
  set: KubeObject,
  sites: readonly Site[],
  mould: Mould,
): void {
  const wanted = sites.filter(({ placement }) => placement.run);
  const { maxSurge = 0, maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const states = wanted.map((site) => stateOf(site, mould.revision));
  const isUp = (pod: KubeObject): boolean => isAvailable(context, set, pod);
  if (surges(set)) {
    let left = scaledCount(maxSurge, wanted.length, Math.ceil);
    left -= states.filter(
      ({ isOdd, updated, old }) => isOdd || (old && updated && !isUp(updated)),
    ).length;
    for (const { site, updated, old, isOdd } of states) {
      if (isOdd || !old) continue;
      if (updated && isUp(updated)) deletePod(context.api, old);
      if (updated || (isUp(old) && left-- <= 0)) continue;
      createDaemon(context, set, site.node, mould);
    }
    return;
  }
  // Pods that stay where none would be made any more are replaced, too: they go, and none comes.
  const staying = sites.filter(({ placement, pods }) => !placement.run && pods.length > 0);
  const all = [...states, ...staying.map((site) => stateOf(site, mould.revision))];
  let left = Math.max(1, scaledCount(maxUnavailable, wanted.length, Math.ceil));
  left -= all.filter(({ isOdd, updated, old }) => {
    return isOdd || (updated ? old !== null || !isUp(updated) : !old);
  }).length;
  for (const { updated, old, isOdd } of all) {
    if (isOdd || updated || !old || (isUp(old) && left-- <= 0)) continue;
    deletePod(context.api, old);
  }
}

/** The state of a rollout on a node. */
interface SiteState {
  readonly site: Site;
  readonly updated: KubeObject | null;
  readonly old: KubeObject | null;
  /** There are several of one revision, which is set right first. */
  readonly isOdd: boolean;
}

function stateOf(site: Site, revision: string): SiteState {
  const staying = site.pods.filter((pod) => !isTerminating(pod));
  const updated = staying.filter((pod) => isOf(revision, pod));
  const old = staying.filter((pod) => !isOf(revision, pod));
  return {
    site,
    updated: updated[0] ?? null,
    old: old[0] ?? null,
    isOdd: updated.length > 1 || old.length > 1,
  };
}

/** The counts in the status; of several pods on a node the oldest counts. */
function countsOf(
  context: WorkloadContext,
  set: KubeObject,
  sites: readonly Site[],
  revision: string,
) {
  const wanted = sites.filter(({ placement }) => placement.run);
  const first = wanted.flatMap(({ pods }) => [...pods].sort(byPlaceAndAge)[0] ?? []);
  const ready = first.filter(isReady);
  const available = ready.filter((pod) => isAvailable(context, set, pod)).length;
  return {
    observedGeneration: set.metadata.generation,
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: first.length,
    numberMisscheduled: sites.filter(({ placement, pods }) => !placement.run && pods.length > 0)
      .length,
    numberReady: ready.length,
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
    updatedNumberScheduled: first.filter((pod) => isOf(revision, pod)).length,
  };
}
