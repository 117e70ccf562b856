import {
  type Budget,
  type EvictionRequest,
  givenUpReason,
  interceptedReason,
  interceptionIn,
  interceptionRepeatMs,
  type PlanInput,
} from '@taintmgr/core/drain';
import { defaultLifecycleConfig } from '@taintmgr/core/lifecycle';
import { isReplica } from '@taintmgr/core/model';
import { isWindowed, type NodeDrain } from '@taintmgr/core/policy';
import { type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import { evictionRequestsFrom, lifecyclePath } from '../controller/procedures/eviction-requests.ts';
import { type Evictors, type Evidence, withEvidence } from '../evictors/judge.ts';
import type { PolicyObject } from '../kinds/manifest.ts';
import type { Attachments } from './dead-nodes.ts';
import type { Deniers } from './deniers.ts';
import { losingPods } from './drained-nodes.ts';
import { assumingNumbers, type Evictor, readEvictor } from './evictors.ts';
import { type NodeFacts, type PodFacts, zoneLabels } from './facts.ts';
import type { LeaseRenewal } from './lease-renewal.ts';
import { type KeptLimits, readLimits } from './limits.ts';
import { nodeDrainsAt } from './node-drains.ts';
import { type Past, readPast, withOwnStarts } from './past.ts';
import { type PodDevices, readPodDevices } from './pod-devices.ts';
import { type ClusterPolicies, readClusterPolicies } from './policies.ts';
import type { ClusterReader } from './reader.ts';
import type { TaintManager } from './taint-managers.ts';
import type { Workload } from './workloads.ts';

/** The reading of a cluster for one answer, as of about one moment; null: we may not see it. */
export interface Survey {
  /**
   * When the cluster was read, in milliseconds since the Unix epoch, by the clock of this machine.
   */
  readonly at: Instant;
  /** The nodes that were read. */
  readonly nodes: readonly NodeFacts[] | null;
  /** The pods that were read. */
  readonly pods: readonly PodFacts[] | null;
  /** The PodDisruptionBudgets over these pods. */
  readonly budgets: readonly Budget[] | null;
  /** Who evicts here. */
  readonly evictors: Evictors;
  /** The program that acts on NoExecute taints. */
  readonly evictor: Evictor;
  /** The unreadable parts for want of rights. */
  readonly refused: readonly string[];
}

/** The reading of some nodes and of the pods on them. */
export interface NodeSurvey extends Survey {
  /** The nodes that the answer is about. */
  readonly nodes: readonly NodeFacts[];
  /** The pods on these nodes. */
  readonly pods: readonly PodFacts[];
  /** The replicas of taintmgr-controller and their nodes, where it keeps the last one; left out: none matters. */
  readonly replicas?: Crowd;
}

/** A NodeSurvey with the readings that tell when pods leave. */
export interface ForecastSurvey extends NodeSurvey {
  /** When kubelets last renewed their leases, by node; of nodes whose pods were read only. */
  readonly leases: ReadonlyMap<string, LeaseRenewal>;
  /** The grace period of kube-controller-manager for silent nodes, where it watches them; left out: the latest default. */
  readonly managerGraceMs?: Millis;
  /** All nodes of the zones in question; null without the right to see them. */
  readonly zoneNodes: readonly NodeFacts[] | null;
  /** The counts of the controller's limits; null: none are kept, or we may not read them. */
  readonly limits: KeptLimits | null;
  /** The cluster's policies for pods. */
  readonly policies: ClusterPolicies;
  /** The earlier states of nodes and pods, where these matter to the evictor; null: not read. */
  readonly past: Past | null;
  /** The requests to move pods. */
  /** Null: the cluster has no such kind. */
  readonly requests: readonly EvictionRequest[] | null;
  /**
   * The API server's messages about pods that admission webhooks keep for themselves, by uid; left
   * out: none.
   */
  readonly intercepted?: ReadonlyMap<string, string>;
  /** Why EvictionRequests of ours have led to nothing, by the uid of their pods; left out: the cluster has no such kind. */
  readonly givenUp?: ReadonlyMap<string, string>;
  /** Who else counts where limits do; left out: none does, or we may not see them all. */
  readonly crowd?: Crowd;
  /** The NodeDrains that are at work on its nodes; left out: none, or we may not see them. */
  readonly nodeDrains?: readonly NodeDrain[];
  /**
   * The readings that decide about the devices of its pods; left out: none of them uses a claim, or
   * there are no devices.
   */
  readonly devices?: PodDevices;
  /** A line about each Job that fails with what the answer is about; left out: not asked. */
  readonly jobEnds?: readonly string[];
  /** The volumes that are attached to dead nodes; null: we may not see them; left out: no such node, or not asked. */
  readonly attachments?: Attachments;
  /**
   * The programs that may have refused the deletion of its pod; left out: it was not refused, or
   * they were not asked for.
   */
  readonly deniers?: Deniers;
  /** The eviction shortly before its pod was created, which has no node yet; left out: none is known, or not asked. */
  readonly precededBy?: string;
  /** The workload that the answer is about; left out: it is about nodes or pods. */
  readonly workload?: Workload;
  /** True when its pods are on nodes that we may not read; left out: false. */
  readonly hidesNodes?: boolean;
  /** Nodes whose taints were just written, and whose earlier taints are not available. */
  readonly unsure?: readonly string[];
}

/** Nodes and pods that decide about others: those that count in limits or wait for them, or replicas of ours. */
interface Crowd {
  readonly nodes: readonly NodeFacts[];
  readonly pods: readonly PodFacts[];
}

/** Reads all nodes and all pods; `more`: what else is known of who evicts for taints. */
export async function surveyCluster(
  reader: ClusterReader,
  more: readonly Evidence[] = [],
): Promise<Survey> {
  const [nodes, pods, rest] = await Promise.all([
    reader.ifAllowed(() => reader.nodes()),
    reader.ifAllowed(() => reader.pods()),
    readAnyway(reader, reader.taintManagers(), more),
  ]);
  return { at: reader.now(), nodes, pods, ...rest };
}

/** Reads the pods on these nodes, of those the ones that a label selector leaves. */
export async function surveyNodes(
  reader: ClusterReader,
  nodes: readonly NodeFacts[],
  podSelector: string = '',
): Promise<NodeSurvey> {
  const reading = reader.podsOn(namesOf(nodes), podSelector);
  const [pods, rest] = await Promise.all([reading, readAnyway(reader)]);
  const evictor = assumingNumbers(rest.evictor, pods);
  const replicas = await readReplicas(reader, evictor, pods);
  const read = { at: reader.now(), nodes, pods, ...rest, evictor };
  return { ...read, ...(replicas && { replicas }) };
}

/** The further options of a survey. */
export interface SurveyOptions {
  /** The pods to read; left out: all. */
  readonly podSelector?: string;
  /** The answer is about pods of this namespace: where no others may be read, these will do; left out: all are needed. */
  readonly namespace?: string;
  /** Policies as if taintmgr-controller were given them too; left out: none. */
  readonly files?: readonly PolicyObject[];
  /** True when taints are asked about that the nodes do not have. */
  readonly isWhatIf?: boolean;
  /** All nodes, where they were read already; left out: those that decide about zones are read. */
  readonly allNodes?: readonly NodeFacts[];
  /** The pods, where they were read already; left out: those on the nodes are read. */
  readonly pods?: readonly PodFacts[];
  /** The readings that the caller has begun; left out: none. */
  readonly begun?: Begun;
}

/** The readings that begin at once: they depend on no answer, only on names. */
interface Begun {
  readonly managers: Promise<readonly TaintManager[]>;
  readonly pods: Promise<readonly PodFacts[]>;
  readonly anyway: Promise<Anyway>;
  readonly leases: Promise<ReadonlyMap<string, LeaseRenewal>>;
  readonly limits: Promise<KeptLimits | 'forbidden' | null>;
  readonly policies: Promise<ClusterPolicies>;
  readonly requests: Promise<readonly EvictionRequest[] | null>;
  readonly minor: Promise<number | null>;
}

/** Begins to read the pods on the nodes of these names, and what decides when they go. */
export function beginForecast(
  reader: ClusterReader,
  withPods: readonly string[],
  { podSelector = '', namespace, files = [], pods }: SurveyOptions,
): Begun {
  // Where our controller acts they are needed, and to wait until that is known takes a round trip.
  const managers = reader.taintManagers();
  const anyway = readAnyway(reader, managers, [], namespace);
  const evictor = anyway.then((read) => read.evictor);
  const begun = {
    managers,
    anyway,
    leases: reader.leasesRenewedAt(withPods),
    limits: readLimits(reader, reader.now(), managers),
    policies: readClusterPolicies(reader, evictor, files),
    requests: readEvictionRequests(reader),
    minor: reader.serverMinor(),
    // The longest reading: meanwhile the others are read.
    pods: pods ? Promise.resolve(pods) : reader.podsOn(withPods, podSelector, namespace),
  };
  // The code that waits for them reports the failure; it may give up before that.
  for (const one of Object.values(begun)) one.catch(() => undefined);
  return begun;
}

/** Reads the pods on those of these nodes that matter, and what decides when they go. */
export async function surveyForecast(
  reader: ClusterReader,
  nodes: readonly NodeFacts[],
  withPods: readonly NodeFacts[],
  options: SurveyOptions = {},
): Promise<ForecastSurvey> {
  const begun = options.begun ?? beginForecast(reader, namesOf(withPods), options);
  const isLeaving = losingPods(nodes, reader.now()).length > 0;
  // A controller that publishes itself acts, nearly always: to wait until that is known takes a
  // round trip.
  const ahead = begun.managers.then((all) => {
    return all.length > 0 && isLeaving ? readInterceptions(reader) : null;
  });
  ahead.catch(() => undefined);
  const [pods, rest, leases, zoneNodes, limits, policies, requests] = await Promise.all([
    begun.pods,
    begun.anyway,
    begun.leases,
    options.allNodes ?? readZones(reader, nodes),
    begun.limits,
    begun.policies,
    begun.requests,
  ]);
  const kept = limits === 'forbidden' ? null : limits;
  const evictor = assumingNumbers(rest.evictor, pods);
  const { rules, takesOver = false } = evictor;
  const isOurs = rules !== 'kube-controller-manager';
  const starts = isOurs ? await withOwnStarts(reader, nodes, reader.now()) : { nodes, unsure: [] };
  const [crowd, replicas, intercepted, nodeDrains, devices, givenUp] = await Promise.all([
    isOurs ? readCrowd(reader, policies, starts.nodes, options.isWhatIf) : null,
    readReplicas(reader, rest.evictor, pods),
    isOurs && isLeaving ? ahead.then((read) => read ?? readInterceptions(reader)) : null,
    nodeDrainsAt(reader, nodes),
    begun.managers.then((all) => readPodDevices(reader, pods, rest.evictors, all)),
    requests !== null && isLeaving ? readGivenUp(reader) : null,
  ]);
  const read = {
    ...{ at: reader.now(), pods, ...rest, ...starts, leases, zoneNodes, limits: kept, policies },
    evictor,
    requests,
    past: null,
    managerGraceMs: managerGraceMs(await begun.minor),
    ...(crowd && { crowd }),
    ...(replicas && { replicas }),
    ...(intercepted && { intercepted }),
    ...(givenUp && { givenUp }),
    ...(nodeDrains.length > 0 && { nodeDrains }),
    ...(devices && { devices }),
  };
  const isUpstream = rules !== 'taintmgr-controller' || takesOver;
  return isUpstream ? await withPast(reader, read) : read;
}

/** Since this minor version kube-controller-manager taints a node that is silent for 50 s by default; before, for 40 s. */
const longerGraceSince = 32;

/** The default of --node-monitor-grace-period of kube-controller-manager 1.MINOR; null: the latest. */
export function managerGraceMs(minor: number | null): Millis {
  const isEarly = minor !== null && minor < longerGraceSince;
  return isEarly ? 40_000 : defaultLifecycleConfig.nodeMonitorGracePeriodMs;
}

/** Reads what decides when pods of a namespace go that were read: their nodes too, where we may. */
export async function surveyPods(
  reader: ClusterReader,
  namespace: string,
  pods: readonly PodFacts[],
  options: SurveyOptions = {},
): Promise<ForecastSurvey> {
  const names = [...new Set(pods.map(({ pod }) => pod.nodeName))].filter((name) => name !== '');
  const found = await reader.ifAllowed(() => reader.nodesNamed(names));
  const nodes = found ?? [];
  const given = { ...options, namespace, pods: found ? pods : [] };
  const survey = await surveyForecast(reader, nodes, nodes, given);
  return { ...survey, pods, ...(found === null && { hidesNodes: true }) };
}

/** The same with the past of its nodes and pods, by which kube-controller-manager has set its timers. */
export async function withPast(
  reader: ClusterReader,
  survey: ForecastSurvey,
): Promise<ForecastSurvey> {
  const past = survey.past ?? (await readPast(reader, survey, survey.evictor.upstreamSince));
  return { ...survey, past, at: reader.now() };
}

/**
 * Only all pods together show which pods limits let go first, and their share of all. Null: no pod
 * of these nodes is limited, or we may not see all.
 */
async function readCrowd(
  reader: ClusterReader,
  { objects }: ClusterPolicies,
  nodes: readonly NodeFacts[],
  isWhatIf = false,
): Promise<Crowd | null> {
  const limits = objects.flatMap((one) => (one.kind === 'EvictionPolicy' ? one.value.limits : []));
  const now = reader.now();
  if (limits.length === 0 || !(isWhatIf || losingPods(nodes, now).length > 0)) return null;
  const all = await reader.ifAllowed(() => reader.nodes());
  if (all === null) return null;
  const asked = new Set(namesOf(nodes));
  const others = all.filter(({ node }) => !asked.has(node.name));
  // Since when their taints count decides who goes first.
  const starts = await withOwnStarts(reader, others, now);
  const known = new Map([...nodes, ...starts.nodes].map((facts) => [facts.node.name, facts]));
  const merged = all.map((facts) => known.get(facts.node.name) ?? facts);
  const tainted = losingPods(merged, now);
  const pods = await reader.ifAllowed(() =>
    limits.some(isWindowed) ? reader.pods() : reader.podsOn(namesOf(tainted)),
  );
  return pods && { nodes: merged, pods };
}

/** Null: none of these pods may be one of them, or we may not see all. */
async function readReplicas(
  reader: ClusterReader,
  { ownPod }: Evictor,
  pods: readonly PodFacts[],
): Promise<Crowd | null> {
  if (!ownPod || !pods.some(({ pod }) => pod.namespace === ownPod.namespace)) return null;
  const all = await reader.ifAllowed(() => reader.podsOf(ownPod.namespace));
  const own = all?.find(({ pod }) => pod.name === ownPod.name)?.pod;
  if (!all || !own || !pods.some(({ pod }) => isReplica(own, pod))) return null;
  const replicas = all.filter(({ pod }) => isReplica(own, pod));
  const names = [...new Set(replicas.map(({ pod }) => pod.nodeName))].filter((name) => name !== '');
  const nodes = await reader.ifAllowed(() =>
    Promise.all(names.map((name) => reader.nodeIfThere(name))),
  );
  return nodes && { nodes: nodes.filter((node) => node !== null), pods: replicas };
}

/** The replicas of taintmgr-controller for a plan; nothing where they are not known. */
export function ownIn(
  { ownPod }: Evictor,
  replicas: NodeSurvey['replicas'],
): Pick<PlanInput, 'own'> {
  if (!ownPod || !replicas) return {};
  const pods = replicas.pods.map(({ pod }) => pod);
  return { own: { pod: ownPod, replicas: pods, nodes: replicas.nodes.map(({ node }) => node) } };
}

type Anyway = Pick<Survey, 'budgets' | 'evictors' | 'evictor' | 'refused'>;

async function readAnyway(
  reader: ClusterReader,
  managers = reader.taintManagers(),
  more: readonly Evidence[] = [],
  namespace?: string,
): Promise<Anyway> {
  const reading = [reader.budgets(namespace), reader.evictors(managers)] as const;
  const [budgets, found] = await Promise.all(reading);
  const evictors = more.length === 0 ? found : withEvidence(found, more);
  const read = {
    taintManagers: () => managers,
    podObject: (namespace: string, name: string) => reader.podObject(namespace, name),
  };
  const evictor = await readEvictor(evictors, read, reader.now());
  return { budgets, evictors, evictor, refused: reader.refused };
}

function namesOf(nodes: readonly NodeFacts[]): readonly string[] {
  return nodes.map(({ node }) => node.name);
}

/**
 * The nodes that decide how the zones of these are doing: those of the zone; all, where they are in several zones
 * or name none, or where none in the zone is ready, since then it counts whether others live.
 */
async function readZones(
  reader: ClusterReader,
  nodes: readonly NodeFacts[],
): Promise<readonly NodeFacts[] | null> {
  const [zone, ...more] = new Set(nodes.map((facts) => facts.zone));
  if (zone === undefined) return nodes;
  if (zone === '' || more.length > 0) return await reader.ifAllowed(() => reader.nodes());
  const own = await reader.ifAllowed(() => {
    return Promise.all(zoneLabels.map((label) => reader.nodes(`${label}=${zone}`)));
  });
  if (own === null) return null;
  // A node that has both labels is one node.
  const byName = new Map(own.flat().map((facts) => [facts.node.name, facts]));
  const all = [...byName.values()];
  if (all.some(({ ready }) => ready.status === 'True')) return all;
  return await reader.ifAllowed(() => reader.nodes());
}

/** All of them; none where there is no right to see them; null: there is no such kind. */
export async function readEvictionRequests(
  reader: ClusterReader,
): Promise<readonly EvictionRequest[] | null> {
  if (!(await reader.serves(lifecyclePath))) return null;
  const read = (kind: string): Promise<readonly unknown[] | null> =>
    reader.ifAllowed(async () => (await reader.objectsIfServed(`${lifecyclePath}/${kind}`)) ?? []);
  const requests = (await read('evictionrequests')) ?? [];
  if (requests.length === 0) return [];
  return evictionRequestsFrom(requests, (await read('evictions')) ?? []);
}

/** By Events of the controller; the pods that they are about are evicted by pods/eviction. */
async function readGivenUp(reader: ClusterReader): Promise<ReadonlyMap<string, string>> {
  const events = (await reader.eventsOf(givenUpReason)) as readonly EventObject[];
  return new Map(
    events.flatMap(({ reason, message = '', involvedObject }) => {
      const uid = involvedObject?.uid;
      return reason === givenUpReason && uid !== undefined ? [[uid, message] as const] : [];
    }),
  );
}

/** An older Event would have been written again, if it still held. */
const currentMs: Millis = 2 * interceptionRepeatMs;

interface EventObject {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly involvedObject?: { readonly uid?: string };
}

/** The API server's last message about each pod, by the pod's uid. */
export async function readInterceptions(
  reader: ClusterReader,
): Promise<ReadonlyMap<string, string>> {
  const events = (await reader.eventsOf(interceptedReason)) as readonly EventObject[];
  const said = events.flatMap(({ reason = '', message = '', lastTimestamp, involvedObject }) => {
    const words = interceptionIn(reason, message);
    const at = parseTime(lastTimestamp ?? '');
    const uid = involvedObject?.uid;
    const isCurrent = at !== null && reader.now() - at < currentMs;
    return words !== null && uid !== undefined && isCurrent ? [{ uid, words, at }] : [];
  });
  const inOrder = said.toSorted((one, other) => one.at - other.at);
  return new Map(inOrder.map(({ uid, words }) => [uid, words] as const));
}
