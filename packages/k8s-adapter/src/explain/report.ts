import type { Decision, NodeExplanation, Pod, PodExplanation, Reason } from '@taintmgr/core';
import type { DeviceVerdict } from '@taintmgr/core/devices';
import type { Comparison } from '@taintmgr/core/differences';
import {
  type Budget,
  budgetsAsked,
  type EvictionRequest,
  type PredictedBlocker,
  predictBlockers,
} from '@taintmgr/core/drain';
import { type Forecast, forecastOf } from '@taintmgr/core/lifecycle';
import { earliest, type Instant, type Millis } from '@taintmgr/core/time';
import { type Attachment, isDead } from '../survey/dead-nodes.ts';
import { drainedBy, losesPods } from '../survey/drained-nodes.ts';
import type { NodeFacts, PodFacts, Readiness } from '../survey/facts.ts';
import { type LeaseRenewal, nodeClockText } from '../survey/lease-renewal.ts';
import { nodesOfTaintedDevices, type PodDevices } from '../survey/pod-devices.ts';
import type { ClusterReader } from '../survey/reader.ts';
import { type ForecastSurvey, type SurveyOptions, surveyForecast } from '../survey/survey.ts';
import { mostOf } from '../text/count.ts';
import { Explainer, isLeftToManager, type Judged, type PodEvictor } from './explainer.ts';
import { type ActingDrain, drainsInstead } from './left-to-drains.ts';
import { isLegacy, isNotReady } from './legacy.ts';
import type { LimitedTime } from './limit-forecast.ts';
import { present } from './question.ts';

/** Everything to be said about one pod. */
export interface PodReport {
  /** The pod as it was read. */
  readonly facts: PodFacts;
  /** The engine's decision and its reasons. */
  readonly explanation: PodExplanation;
  /** The program that makes it leave; null: none does, or it is unknown. */
  readonly evictor: PodEvictor;
  /** True: the pod has to leave and no program here evicts pods. */
  readonly lacksEvictor: boolean;
  /** True: the pod is due before the moment asked about, and nothing blocks the pod as of now. */
  readonly isGone: boolean;
  /** True when its time is an estimate. */
  readonly isEstimate: boolean;
  /** The effect of limits on it; null: none. The time left is by them, where they tell it. */
  readonly limit: LimitedTime | null;
  /** Without the hypothetical taints; null where there are none, or its node may not be read. */
  readonly present: PodExplanation | null;
  /** The decision of kube-controller-manager; null where that was not asked. */
  readonly upstream: Comparison | null;
  /** The decision if Lt and Gt count otherwise than assumed; null: the same, or that is known. */
  readonly otherwise: Decision | null;
  /** The predicted blockers of its eviction. */
  readonly blockers: readonly PredictedBlocker[];
  /**
   * The budgets that have a say in its eviction, where it will be evicted; none where they could
   * not be read.
   */
  readonly budgets: readonly Budget[];
  /** True: the evictor asks budgets, or may. */
  readonly asksBudgets: boolean;
  /** True when its budgets are known, or are not asked. */
  readonly knowsBudgets: boolean;
  /** When it is deleted whatever its budgets say; null: never, or none of them holds it. */
  readonly deletedAt: Instant | null;
  /** The requests to move it. */
  readonly requests: readonly EvictionRequest[];
  /**
   * The verdict on it for its devices alone, where kube-controller-manager decides; left out: it
   * uses no claim.
   */
  readonly devices?: DeviceVerdict;
}

/** Everything to be said about one node. */
export interface NodeReport {
  /** The node as it was read. */
  readonly facts: NodeFacts;
  /** The NoExecute taints, and since when each counts. */
  readonly taints: NodeExplanation['taints'];
  /** Next to go first; null where they were not read because no taint is in question. */
  readonly pods: readonly PodReport[] | null;
  /** The last heartbeat; null: unknown. */
  readonly leaseRenewedAt: Instant | null;
  /** The difference between its clock and the API server's; null: no sign of any. */
  readonly clock: string | null;
  /** The drains that make its pods leave in the place of any other evictor, or alone. */
  readonly drains: readonly ActingDrain[];
  /** The zone of the node, and the numbers of its nodes; null: they may not be read. */
  readonly zone: ZoneCount | null;
  /** The volumes that are attached to it while it is dead; null: we may not see them; left out: not asked. */
  readonly attachments?: readonly Attachment[] | null;
  /**
   * The state of the node and its zone; null where the others of its zone may not be seen. Its
   * health is known where its lease was looked for, which is where its pods were.
   */
  readonly forecast: Forecast | null;
}

/** The state of a zone, as its nodes show it. */
interface ZoneCount {
  readonly name: string;
  readonly nodes: number;
  readonly notReady: number;
}

/** The numbers of pods of a node, or of several, by their fate. */
export interface Tally {
  /** All pods. */
  readonly pods: number;
  /** Being deleted already. */
  readonly terminating: number;
  /** To be evicted. */
  readonly evict: number;
  /** Due before the moment that was asked about; none where that is the present. */
  readonly gone: number;
  /** Held by pauses: they have their time left when those are over. */
  readonly held: number;
  /** Stay. */
  readonly keep: number;
  /** Refused, and not tried again; left out: none. */
  readonly blocked?: number;
  /** The pods whose fate is unknown as rights are missing; left out: there are none. */
  readonly unknown?: number;
  /** Time left to the first and the last that goes; null: none does. */
  readonly next: Millis | null;
  /** Milliseconds left to the last that goes; null: none does. */
  readonly last: Millis | null;
}

/** The whole report about a subject. */
export interface Report {
  /** The nodes of the subject, with their pods. */
  readonly nodes: readonly NodeReport[];
  /** Pods that are on none of these nodes: not bound yet, or their node is gone. */
  readonly strays: readonly PodReport[];
}

/** The pods of all nodes, and those on none of them. */
export function podsIn({ nodes, strays }: Report): readonly PodReport[] {
  return [...nodes.flatMap(({ pods }) => pods ?? []), ...strays];
}

/** Puts together the readings and the engine's statements, node by node. */
export function reportOn(survey: ForecastSurvey, explainer: Explainer): Report {
  const { nodes, pods } = survey;
  const names = new Set(nodes.map(({ node }) => node.name));
  const byUid = new Map(pods.map((pod) => [pod.pod.uid, pod] as const));
  return {
    nodes: nodes.map((facts) => reportNode(survey, explainer, facts, byUid)),
    strays: pods
      .filter(({ pod }) => !names.has(pod.nodeName))
      .flatMap((facts) => {
        const explanation = explainer.stray(survey.at, facts);
        return explanation ? [reportPod(survey, explainer, null, facts, explanation)] : [];
      }),
  };
}

/** The report on a survey as things are, by an engine that has seen nothing before. */
export function reportOnPresent(survey: ForecastSurvey): Report {
  const explainer = new Explainer(present);
  explainer.take(survey);
  return reportOn(survey, explainer);
}

function reportNode(
  survey: ForecastSurvey,
  explainer: Explainer,
  facts: NodeFacts,
  byUid: ReadonlyMap<string, PodFacts>,
): NodeReport {
  const { at, leases } = survey;
  const { name } = facts.node;
  const explanation = explainer.node(at, name);
  const pods = explanation?.pods.flatMap((pod) => {
    const read = byUid.get(pod.pod.uid);
    return read ? [reportPod(survey, explainer, facts.ready, read, pod)] : [];
  });
  return {
    facts,
    taints: explanation?.taints ?? [],
    pods: leases.has(name) ? (pods ?? []).sort(byTimeLeft) : null,
    leaseRenewedAt: renewedAt(leases.get(name)),
    clock: nodeClockText(leases.get(name)),
    drains: [...drainedBy(facts, at), ...drainsInstead(at, facts, survey.evictor)],
    zone: countZone(facts, survey.zoneNodes),
    ...(survey.attachments !== undefined && {
      attachments: survey.attachments && (survey.attachments.get(name) ?? []),
    }),
    forecast: forecastFor(survey, facts),
  };
}

function reportPod(
  survey: ForecastSurvey,
  explainer: Explainer,
  ready: Readiness | null,
  facts: PodFacts,
  ours: PodExplanation,
): PodReport {
  const { finalizers, pod } = facts;
  const { at } = survey;
  const seen = survey.hidesNodes ? ofHiddenNode(ours, pod) : ours;
  const judged = explainer.judge(at, facts, seen);
  const goes = judged.explanation.decision.kind !== 'keep' || pod.deletionTimestamp !== null;
  const nodeAnswers = ready?.since == null ? null : ready.status !== 'Unknown';
  const asks = asksBudgets(survey, judged);
  const budgets = asks ? survey.budgets : [];
  const site = {
    budgets,
    finalizers,
    nodeAnswers,
    nodeIsDead: ready !== null && isDead(ready, at),
    intercepted: interceptedBy(survey, judged, pod),
  };
  const blockers = goes ? predictBlockers(pod, site) : [];
  const lacksEvictor =
    judged.evictor === null &&
    survey.evictor.name === 'nobody' &&
    judged.explanation.decision.kind === 'evict';
  return {
    facts,
    ...judged,
    lacksEvictor,
    isGone:
      explainer.after > 0 &&
      judged.explanation.decision.kind === 'evict' &&
      (judged.explanation.remaining ?? 0) < 0 &&
      blockers.length === 0 &&
      !lacksEvictor,
    present: survey.hidesNodes ? null : explainer.present(at, facts),
    otherwise: survey.hidesNodes ? null : explainer.otherwise(at, facts, judged.explanation),
    upstream: survey.hidesNodes ? null : explainer.compared(at, facts, ours),
    blockers,
    budgets:
      judged.explanation.decision.kind === 'evict' ? budgetsAsked(pod, survey.budgets ?? []) : [],
    asksBudgets: asks,
    knowsBudgets: !asks || survey.budgets !== null,
    deletedAt: deletedAt(judged, blockers),
    requests: (survey.requests ?? []).filter(({ podUid, intent }) => {
      return podUid === pod.uid && intent === 'Eviction';
    }),
    ...(survey.devices &&
      pod.claims &&
      isTheirs(survey.devices, judged) && {
        devices: survey.devices.verdictOf(facts),
      }),
  };
}

/** True when kube-controller-manager decides about the devices of the pod. */
function isTheirs({ byOurs }: PodDevices, { explanation: { decision } }: Judged): boolean {
  return !byOurs || isLeftToManager(decision);
}

/**
 * The explanation of a pod whose node may have taints that we may not read: if anything could make
 * it leave.
 */
function ofHiddenNode(explanation: PodExplanation, pod: Pod): PodExplanation {
  const { nodeName, phase, mirror, optedOut } = pod;
  const [found] = explanation.decision.because;
  if (found?.code !== 'NodeUnknown') return explanation;
  const reason: Reason = hasEnded(pod)
    ? { code: 'Finished', phase }
    : mirror
      ? { code: 'StaticPod' }
      : optedOut
        ? { code: 'OptedOut' }
        : { code: 'NodeUnknown', nodeName, hidden: true };
  return { ...explanation, decision: { kind: 'keep', because: [reason] } };
}

/** A webhook's message to our own controller, as long as the pod is due. */
function interceptedBy(
  { intercepted, at }: ForecastSurvey,
  { evictor, explanation: { decision } }: Judged,
  { uid }: PodFacts['pod'],
): string | undefined {
  const isDue = decision.kind === 'evict' && decision.deadline <= at;
  return isDue && evictor === 'taintmgr-controller' ? intercepted?.get(uid) : undefined;
}

/** True when the pod's evictor asks budgets, or may: an unseen setting is assumed to ask. */
function asksBudgets({ evictor }: ForecastSurvey, judged: Judged): boolean {
  if (judged.evictor === 'drain-by-taint') return judged.drainBudgets?.kind !== 'ignore';
  const [reason] = judged.explanation.decision.because;
  const isForDevice = reason !== undefined && 'device' in reason;
  if (isForDevice && judged.evictor !== 'taintmgr-controller') return false;
  if (evictor.name === 'unknown') return true;
  if (judged.evictor === 'kube-controller-manager') return false;
  return judged.explanation.budgets.kind !== 'ignore';
}

/** With EvictThenDelete budgets are asked for a while, and limits hold the deletion as well. */
function deletedAt(
  { evictor, explanation: { deletedAt: at, decision }, limit, drainBudgets }: Judged,
  blockers: readonly PredictedBlocker[],
): Instant | null {
  const isHeld = blockers.some((blocker) => blocker.budgets.length > 0);
  if (isHeld && drainBudgets?.kind === 'deleteAfter' && decision.kind === 'evict') {
    return decision.deadline + drainBudgets.afterMs;
  }
  if (!isHeld || evictor === 'drain-by-taint' || at === null) return null;
  if (limit === null) return at;
  return limit.goesAt === null ? null : Math.max(at, limit.goesAt);
}

/** Orders pods by the time left, the shortest first. */
function byTimeLeft(a: PodReport, b: PodReport): number {
  const left = a.explanation.remaining ?? Number.POSITIVE_INFINITY;
  const right = b.explanation.remaining ?? Number.POSITIVE_INFINITY;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** The same, those of the same moment by name. */
export function byTimeLeftAndName(a: PodReport, b: PodReport): number {
  return byTimeLeft(a, b) || (a.facts.pod.name < b.facts.pod.name ? -1 : 1);
}

function renewedAt(lease: LeaseRenewal | undefined): Instant | null {
  return lease && lease !== 'hidden' ? lease.at : null;
}

function forecastFor(
  { at, leases, zoneNodes, evictor, policies, managerGraceMs }: ForecastSurvey,
  { node }: NodeFacts,
): Forecast | null {
  if (zoneNodes === null) return null;
  const nodes = zoneNodes.map((facts) => facts.node);
  const { settings } = evictor;
  const watches = settings?.watchesNodes ?? false;
  // No other evictor applies pauses.
  const pauses = watches
    ? policies.objects.flatMap((one) => (one.kind === 'EvictionPause' ? [one.value] : []))
    : [];
  const lease = leases.get(node.name) ?? null;
  const leaseRenewedAt = lease === 'hidden' ? lease : renewedAt(lease);
  const observed = { node, nodes, leaseRenewedAt, pauses };
  const ofManager = managerGraceMs ? { nodeMonitorGracePeriodMs: managerGraceMs } : {};
  return forecastOf(at, observed, watches ? settings?.lifecycle : ofManager);
}

/** Counts the nodes of a zone; null where the node is in none, or the others may not be seen. */
function countZone(
  { node, zone }: NodeFacts,
  nodes: readonly NodeFacts[] | null,
): ZoneCount | null {
  // Not only by its labels of today: the old ones count for the controller too.
  const name = node.zone ?? zone;
  if (name === '' || nodes === null) return null;
  const inZone = nodes.filter((other) => (other.node.zone ?? other.zone) === name);
  const notReady = inZone.filter(({ ready }) => ready.status !== 'True');
  return { name, nodes: inZone.length, notReady: notReady.length };
}

/** True when its fate is unknown as rights are missing. */
export function isUnknown({ explanation }: Pick<PodReport, 'explanation'>): boolean {
  const { decision, pod } = explanation;
  if (decision.kind !== 'keep' || pod.deletionTimestamp !== null) return false;
  const [reason] = decision.because;
  if (reason?.code === 'RulesUnheeded') return true;
  return reason?.code === 'DevicesUnknown' || (reason?.code === 'NodeUnknown' && !!reason.hidden);
}

/** True: the evictor was refused and does not try again. */
export function isGivenUp({ explanation }: Pick<PodReport, 'explanation'>): boolean {
  const [reason] = explanation.decision.because;
  return reason?.code === 'GivenUp' && explanation.pod.deletionTimestamp === null;
}

/** True when a pause holds it. */
export function isPaused({ explanation }: Pick<PodReport, 'explanation'>): boolean {
  return explanation.decision.kind === 'pause';
}

/** The time left to each pod that goes and is not held by a pause. */
export function runningWaits(pods: readonly PodReport[]): readonly Millis[] {
  return pods.flatMap((pod) => (isPaused(pod) ? [] : (pod.explanation.remaining ?? [])));
}

/** Counts pods by their fate. */
export function tally(pods: readonly PodReport[]): Tally {
  const terminating = pods.filter(({ facts }) => facts.pod.deletionTimestamp !== null).length;
  const held = pods.filter(isPaused).length;
  const unknown = pods.filter(isUnknown).length;
  const blocked = pods.filter(isGivenUp).length;
  const gone = pods.filter(({ isGone }) => isGone).length;
  const waits = runningWaits(pods.filter(({ isGone }) => !isGone));
  return {
    pods: pods.length,
    terminating,
    evict: waits.length,
    gone,
    held,
    keep: pods.length - terminating - held - unknown - blocked - gone - waits.length,
    ...(blocked > 0 && { blocked }),
    ...(unknown > 0 && { unknown }),
    next: earliest(waits),
    last: waits.length === 0 ? null : mostOf(waits, Number.NEGATIVE_INFINITY),
  };
}

type Bare = Pick<Pod, 'owner' | 'mirror' | 'phase'>;

/**
 * True when the pod is not recreated; the kubelet recreates static pods, and a finished pod is
 * done.
 */
export function isBare(pod: Bare): boolean {
  return pod.owner === null && !pod.mirror && !hasEnded(pod);
}

/** True: the containers have ended, and are not started again. */
export function hasEnded({ phase }: Pick<Pod, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/**
 * The pods of a namespace, null: of all, where we may not read nodes. Their fate is unknown then.
 */
export async function surveyHidden(
  reader: ClusterReader,
  namespace: string | null,
  { podSelector = '', ...options }: SurveyOptions = {},
): Promise<ForecastSurvey> {
  const [survey, pods] = await Promise.all([
    surveyForecast(reader, [], [], options),
    reader.podsOf(namespace, podSelector),
  ]);
  return { ...survey, pods: pods.filter(({ pod }) => pod.nodeName !== ''), hidesNodes: true };
}

/** The nodes of pods that may go for their devices. */
async function nodesOfDevices(
  reader: ClusterReader,
  namespace: string | undefined,
): Promise<ReadonlySet<string>> {
  if (!(await reader.servesDevices())) return new Set();
  return await nodesOfTaintedDevices(reader, namespace);
}

/** The nodes that lose pods, with these: by taints, of devices too, and drains, and in the legacy mode those not ready. */
export async function surveyPending(
  reader: ClusterReader,
  nodes: readonly NodeFacts[],
  given: SurveyOptions = {},
): Promise<ForecastSurvey> {
  const options = { ...given, allNodes: nodes };
  const now = reader.now();
  const withDevices = await nodesOfDevices(reader, options.namespace);
  const losing = (facts: NodeFacts) => losesPods(facts, now) || withDevices.has(facts.node.name);
  const tainted = nodes.filter(losing);
  const survey = await surveyForecast(reader, tainted, tainted, options);
  if (!isLegacy(survey.evictor)) return survey;
  const all = nodes.filter((facts) => losing(facts) || isNotReady(facts));
  return all.length === tainted.length ? survey : await surveyForecast(reader, all, all, options);
}
