// The cluster of a snapshot: nodes, pods, policies, and how long pods took.
import { type Instant, parseTime } from '@taintmgr/core/time';
import {
  type DecidingKind,
  decidingKinds,
  isHoldingPause,
  selectsNamespaces,
} from '@taintmgr/k8s-adapter';
import { choicesText, count, countBy, mostOf } from '@taintmgr/k8s-adapter/command-line';
import { type PolicyObject, policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { FaultyFile } from '@taintmgr/k8s-adapter/manifests';
import { type Condition, followed } from '@taintmgr/k8s-adapter/survey';
import {
  Cluster,
  hasUnreadyContainers,
  type KubeObject,
  type LoadReport,
  type RangeMs,
  type Unloaded,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { silentNodes } from '../stage/stage.ts';
import { PodTimes, workloadKeyOf } from '../times/pod-times.ts';
import { selectsDevice } from './device-selector.ts';
import type { Gathered } from './input/gathering.ts';
import { withReplicaSets } from './owners.ts';
import { type Actor, type Building, type ClusterSource, podsMax } from './source.ts';
import { hasAutoscaler, strangerOf, unknownsIn } from './unknowns.ts';

const noTime: Instant = Date.parse('2026-01-01T00:00:00Z');
const seedForLook = 1;

/** A cluster that continues from the time it was read. Throws FaultyFile where it has no nodes. */
export function snapshotSource(name: string, gathered: Gathered): ClusterSource {
  const { faults, foreign } = gathered;
  const startsAt = gathered.latest ?? noTime;
  const { objects: policies, notes, others } = takePolicies(gathered.objects);
  const { objects: snapshot, notes: madeUp } = withReplicaSets(others);
  const building = snapshotBuilding(snapshot);
  const look = { seed: seedForLook, times: new PodTimes(), resting: null };
  const cluster = building.make(new VirtualClock(startsAt), look);
  const { api, loadReport } = cluster;
  const missing = [
    ...faults,
    ...loadReport.unloaded.map((entry) => `${name}: ${unloadedText(entry)}`),
    ...namespaceFaults(policies, loadReport.createdNamespaces).map((text) => `${name}: ${text}`),
  ];
  if (api.list('nodes').length === 0) {
    const what = noNodeText(gathered);
    // A file of which nothing can be read has no other fault.
    throw new FaultyFile(
      gathered.isRead || faults.length === 0 ? [...missing, `${name}: ${what}`] : faults,
    );
  }
  refuseCrowd(name, api, gathered);
  return {
    name,
    startsAt,
    missing,
    policies,
    notes: [
      ...gathered.notes,
      ...notes,
      ...foreignNote(foreign),
      ...madeUp,
      ...ownerNotes(api.list('pods'), api),
      ...claimNote(loadReport),
      ...unreadyNote(api.list('pods')),
      ...undatedNote(api.list('nodes')),
      ...silentNote(cluster),
    ],
    upstreamSince: upstreamSince(api),
    actor: actorIn(api, startsAt, policies.length > 0),
    minorVersion: minorVersion(api),
    unknowns: unknownsIn(api),
    getsNodes: hasAutoscaler(api, foreign),
    observed: observedStarts(api.list('pods')),
    parts: { kind: 'snapshot', snapshot },
    ...building,
  };
}

/** Builds the cluster of a snapshot as it was read. */
export function snapshotBuilding(snapshot: readonly KubeObject[]): Building {
  return {
    bringToRest: null,
    make: (clock, { seed, times }) =>
      new Cluster({
        clock,
        seed,
        snapshot,
        adopt: true,
        selectsDevice,
        timing: { spreadsHeartbeats: true, ofPod: (pod) => times.of(pod) },
        without: ['conditionTaints'],
        apiServer: { brief: true },
      }),
  };
}

/** The error for a cluster without nodes: the kinds that are there, and what to give. */
function noNodeText({ objects, foreign }: Gathered): string {
  const kinds = [...objects.map(({ kind = '' }) => kind), ...foreign];
  const only = kinds.length === 0 ? '' : `, only ${kindsText(kinds)}`;
  const areManifests = objects.length > 0 && !kinds.includes('Pod');
  const others = !areManifests ? '' : '; --apply lays manifests over it, --policy policies';
  return `there is no node in it that could be taken${only}; want a whole cluster, as kubectl taintmgr snapshot prints it${others}`;
}

/** The fields that ask for pods, by the kind. */
const wantedIn: Readonly<Record<string, readonly string[]>> = {
  deployments: ['replicas'],
  replicasets: ['replicas'],
  statefulsets: ['replicas'],
  jobs: ['parallelism', 'completions'],
};

/** Throws FaultyFile where workloads ask for more pods than any memory holds; the API server takes that. */
function refuseCrowd(name: string, api: Cluster['api'], { fieldOf }: Gathered): void {
  const asking = Object.entries(wantedIn).flatMap(([resource, fields]) =>
    api.list(resource).flatMap((object) => {
      const { namespace = '', ownerReferences = [] } = object.metadata;
      const isOwned = ownerReferences.some(({ kind, name: owner }) => {
        return kind === 'Deployment' && api.get('deployments', namespace, owner);
      });
      const asks = fields.map((field) => ({ field, pods: Number(object.spec[field] ?? Infinity) }));
      const least = asks.sort((one, other) => one.pods - other.pods)[0];
      return isOwned || !least || least.pods === Infinity ? [] : [{ object, ...least }];
    }),
  );
  asking.sort((one, other) => other.pods - one.pods);
  const pods = asking.reduce((sum, one) => sum + one.pods, 0);
  const [most] = asking;
  if (!most || pods <= podsMax) return;
  const { kind, metadata } = most.object;
  const what = `${kind} ${metadata.namespace}/${metadata.name}`;
  const text = `${what}: want at most ${podsMax} pods of all workloads, got ${pods}`;
  const at = fieldOf(most.object)?.at(['spec', most.field]);
  throw new FaultyFile([at ? at.fault(text).message : `${name}: spec.${most.field}: ${text}`]);
}

/** The time since which kube-controller-manager leads, as its lease says; without a lease, all along. */
function upstreamSince(api: Cluster['api']): Instant {
  const lease = api.get('leases', 'kube-system', 'kube-controller-manager');
  return parseTime(lease?.spec.acquireTime ?? '') ?? Number.NEGATIVE_INFINITY;
}

/** Taints of which nothing says since when they are there: tolerations count from the beginning. */
function undatedNote(nodes: readonly KubeObject[]): readonly string[] {
  const undated = nodes.filter(({ metadata, spec }) => {
    const taints: readonly Taint[] = spec?.taints ?? [];
    const isUndated = taints.some(({ effect, timeAdded }) => effect === 'NoExecute' && !timeAdded);
    return isUndated && (metadata.managedFields ?? []).length === 0;
  });
  if (undated.length === 0) return [];
  const names = choicesText(undated.map(({ metadata }) => metadata.name));
  return [
    `nothing says since when ${count(undated.length, 'node')} had a NoExecute taint (${names}): ` +
      'it counts from the beginning; kubectl get --show-managed-fields says more',
  ];
}

/** Nodes that Kubernetes still takes to be well. */
function silentNote(cluster: Cluster): readonly string[] {
  const silent = silentNodes(cluster);
  if (silent.length === 0) return [];
  const what = `${count(silent.length, 'node')} (${choicesText(silent)})`;
  return [`${what}: the lease was not renewed when others were; taken to be dead`];
}

interface Taint {
  readonly effect: string;
  readonly timeAdded?: string | null;
}

/** A lease without a renewal for this time has no holder. */
const heldForMs = 60_000;

/**
 * The actor of a snapshot: taintmgr, where it has a lease or policies are given; else
 * kube-controller-manager, with or without a lease.
 */
function actorIn(api: Cluster['api'], now: Instant, hasPolicies: boolean): Actor {
  const held = api.list('leases').filter(({ spec }) => {
    return spec.holderIdentity && now - (parseTime(spec.renewTime ?? '') ?? 0) < heldForMs;
  });
  const sourceOf = (name: string): string | null => {
    const lease = held.find(({ metadata }) => metadata.name === name);
    return lease ? `lease ${lease.metadata.namespace}/${name}` : null;
  };
  const ours = sourceOf('taintmgr-controller');
  if (ours !== null || hasPolicies) return { name: 'taintmgr', source: ours };
  return { name: 'kube-controller-manager', source: sourceOf('kube-controller-manager') };
}

/** The latest of its nodes: a control plane is as new or newer. */
function minorVersion(api: Cluster['api']): number | null {
  const minors = api.list('nodes').flatMap(({ status }) => {
    const [, minor] = /^v1\.(\d+)\./.exec(status?.nodeInfo?.kubeletVersion ?? '') ?? [];
    return minor === undefined ? [] : [Number(minor)];
  });
  return minors.length === 0 ? null : mostOf(minors, 0);
}

/** The fault of an object that was judged sound and still could not be loaded. */
function unloadedText({ kind, namespace, name, reason }: Unloaded): string {
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}: ${reason}`;
}

function foreignNote(foreign: readonly string[]): readonly string[] {
  if (foreign.length === 0) return [];
  return [`kinds that play no part in it are left out: ${kindsText(foreign)}`];
}

/** `NodePool 1, Kafka 3` */
function kindsText(kinds: readonly string[]): string {
  const counts = countBy(kinds);
  return choicesText(Array.from(counts, ([kind, number]) => `${kind} ${number}`));
}

/** Pods that no controller will replace, because their owner is missing. */
function ownerNotes(pods: readonly KubeObject[], api: Cluster['api']): readonly string[] {
  const missing = pods.flatMap((pod) => strangerOf(pod, api) ?? []);
  return Array.from(countBy(missing), ([kind, number]) => {
    return `${count(number, 'pod')} of a ${kind} that is not simulated: they are not replaced`;
  });
}

/** Pods that are not ready for an unknown reason. */
function unreadyNote(pods: readonly KubeObject[]): readonly string[] {
  const number = pods.filter(
    (pod) => hasUnreadyContainers(pod) && pod.metadata.deletionTimestamp === undefined,
  ).length;
  if (number === 0) return [];
  const [be, stay, are] =
    number === 1 ? ['is', 'it stays', 'it is'] : ['are', 'they stay', 'they are'];
  return [`${count(number, 'pod')} ${be} not ready: ${stay} so until ${are} replaced`];
}

/** Claims and volumes that pods name and that are not there: they are taken to be reachable from every node. */
function claimNote({ createdClaims }: LoadReport): readonly string[] {
  if (createdClaims.length === 0) return [];
  const what = count(createdClaims.length, 'volume claim');
  return [
    `${what} of pods ${createdClaims.length === 1 ? 'is' : 'are'} not there: any node will do for them`,
  ];
}

/** The policies in force in a cluster, apart from its other objects. */
interface SourcePolicies {
  readonly objects: readonly PolicyObject[];
  /** Notes for the user. */
  readonly notes: readonly string[];
  /** The objects without them. */
  readonly others: readonly KubeObject[];
}

function takePolicies(all: readonly KubeObject[]): SourcePolicies {
  const objects: PolicyObject[] = [];
  const notes: string[] = [];
  const others: KubeObject[] = [];
  for (const object of all) {
    const kind = policyKindOf(object);
    if (kind === null) {
      others.push(object);
      continue;
    }
    const found = followed(kind, object);
    objects.push(...found.objects);
    if (found.faults.length > 0) notes.push(unreadable(kind, found));
  }
  return { objects, notes: [...inForce(objects), ...notes], others };
}

function policyKindOf({ apiVersion, kind: given }: KubeObject): DecidingKind | null {
  if (apiVersion !== policyApiVersion) return null;
  return decidingKinds.find((kind) => kind === given) ?? null;
}

/** As taintmgr-controller does it. */
function unreadable(
  kind: DecidingKind,
  { name, objects, faults }: ReturnType<typeof followed>,
): string {
  const comesTo = objects.length > 0 ? 'all evictions are held' : 'it is left out';
  return `${kind} "${name}" cannot be followed, ${comesTo}: ${faults.join('; ')}`;
}

function inForce(objects: readonly PolicyObject[]): readonly string[] {
  const own = objects.filter(({ value }) => !isHoldingPause(value));
  if (own.length === 0) return [];
  const kinds = countBy(own.map(({ kind }) => kind));
  const texts = Array.from(kinds, ([kind, number]) => `${kind} ${number}`);
  return [`in force as in the cluster: ${texts.join(', ')}`];
}

/** The unknown facts about namespaces that were made up for the objects in them. */
function namespaceFaults(
  policies: readonly PolicyObject[],
  madeUp: readonly string[],
): readonly string[] {
  if (madeUp.length === 0) return [];
  return policies.filter(selectsNamespaces).map(({ kind, value }) => {
    const who = `${kind} "${value.name}" asks for labels of namespaces`;
    return `${who}, and there is no Namespace ${choicesText(madeUp)} in it`;
  });
}

/** Longer ago it was not its start, but that it was not ready for a while. */
const startMsMax = 600_000;
/** API times are whole seconds: a shorter time cannot be told from the default. */
const medianMsMin = 3_000;
/** A time of this many medians is no start either. */
const medianTimes = 3;

/** The starts by workloads, `shop/web`. */
export function observedStarts(pods: readonly KubeObject[]): ReadonlyMap<string, RangeMs> {
  const starts = new Map<string, number[]>();
  for (const pod of pods) {
    const took = startOf(pod);
    if (took === null) continue;
    const key = workloadKeyOf(pod);
    starts.set(key, [...(starts.get(key) ?? []), took]);
  }
  const ranges = Array.from(starts, ([key, all]): readonly [string, RangeMs][] => {
    const sorted = all.sort((one, other) => one - other);
    const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
    if (median < medianMsMin) return [];
    const plausible = sorted.filter((took) => took <= medianTimes * median);
    return [[key, [plausible[0] ?? 0, plausible.at(-1) ?? 0]]];
  });
  return new Map(ranges.flat());
}

/** The time from the kubelet's start of the pod until it was ready; null: unknown. */
function startOf({ status }: KubeObject): number | null {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True' || status?.phase !== 'Running') return null;
  const containers: readonly { readonly restartCount?: number }[] = status.containerStatuses ?? [];
  if (containers.some(({ restartCount = 0 }) => restartCount > 0)) return null;
  const [from, until] = [status.startTime, ready.lastTransitionTime].map(instantOf);
  if (from === null || from === undefined || until === null || until === undefined) return null;
  const took = until - from;
  return took >= 0 && took <= startMsMax ? took : null;
}

function instantOf(text: unknown): Instant | null {
  return typeof text === 'string' ? parseTime(text) : null;
}
