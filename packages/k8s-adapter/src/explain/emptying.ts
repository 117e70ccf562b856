// When a node will have no pods but those of DaemonSets and static pods, or never, and because of whom.
import { type Decision, describeReason } from '@taintmgr/core';
import { formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import { count, groupBy, listText } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import {
  hasEnded,
  isGivenUp,
  isPaused,
  isUnknown,
  type NodeReport,
  type PodReport,
} from './report.ts';
import { blockerText, isOpenEnded } from './words.ts';

/**
 * Ways a node gets empty, the strongest obstacle first: `lost` pods cannot end while the kubelet is
 * silent, `stays` no program evicts them, `unknown` the fate is unknown, `held` something outside
 * time decides, `leaving` all end without intervention.
 */
export type EmptyingState = 'lost' | 'stays' | 'unknown' | 'held' | 'leaving' | 'empty';

/** When a node has no pods left but those that belong to every node. */
export interface Emptying {
  /** The way in which the node gets empty. */
  readonly state: EmptyingState;
  /** By when the pods that leave by themselves have ended; null: none does. */
  readonly by: Instant | null;
  /** When the last of them is evicted; null: each of them ends already. */
  readonly lastEvictionAt: Instant | null;
  /** True: the times are estimates. */
  readonly isEstimate: boolean;
  /** The pods that decide about the state, with the reason for each; none where all leave by themselves. */
  readonly obstacles: readonly Obstacle[];
  /** Pods that drains at work leave where they are: the node is drained and not empty; none where no drain is at work. */
  readonly left: readonly Obstacle[];
  /** Pods that an empty node may have. */
  readonly daemonSetPods: number;
  /** The number of static pods that stay. */
  readonly staticPods: number;
  /** The number of pods that have ended and are still in the API. */
  readonly finishedPods: number;
}

/** A pod in the way of an empty node. */
interface Obstacle {
  readonly pod: string;
  readonly why: string;
}

type Way =
  | { readonly state: 'leaving'; readonly evictedAt: Instant | null; readonly endsBy: Instant }
  | { readonly state: 'lost' | 'stays' | 'unknown' | 'held'; readonly why: string };

/** The API server's default of terminationGracePeriodSeconds. */
const defaultGraceSeconds = 30;
/** Kubelets need some seconds beyond the grace period to report the end. */
const slackMs: Millis = 60_000;

const order: readonly EmptyingState[] = ['lost', 'stays', 'unknown', 'held', 'leaving'];

/**
 * Tells when the node of a report is empty; null: no pod leaves it, or its pods were not read. `at`
 * is the moment that is asked about, `isLater` whether that is not the present: pods due before are
 * gone then.
 */
export function emptyingOf(
  { taints, drains, pods }: Pick<NodeReport, 'taints' | 'drains' | 'pods'>,
  at: Instant,
  isLater: boolean,
): Emptying | null {
  const isLeft = taints.length > 0 || drains.length > 0;
  if (pods === null || !(isLeft || pods.some(isToGo))) return null;
  const queues = queuesOf(pods);
  const owned = pods.filter((pod) => belongsToNode(pod) && !leaves(pod));
  const finished = pods.filter(
    (pod) => !belongsToNode(pod) && hasEnded(pod.facts.pod) && !leaves(pod),
  );
  const others = pods.filter((pod) => !belongsToNode(pod) && !finished.includes(pod));
  const ways = others
    .filter((pod) => !(isLater && isGoneBefore(pod, at)))
    .map((pod) => ({ pod, way: wayOf(pod, queues.get(pod), at) }));
  const isLeftBehind = ({ way }: (typeof ways)[number]): boolean =>
    drains.length > 0 && way.state === 'stays';
  const awaited = ways.filter((one) => !isLeftBehind(one));
  const state = order.find((one) => awaited.some(({ way }) => way.state === one)) ?? 'empty';
  const leaving = ways.flatMap(({ way }) => (way.state === 'leaving' ? way : []));
  const evictions = leaving.flatMap(({ evictedAt }) => evictedAt ?? []);
  return {
    state,
    by: leaving.length === 0 ? null : leaving.reduce((last, one) => Math.max(last, one.endsBy), at),
    lastEvictionAt: evictions.length === 0 ? null : evictions.reduce((a, b) => Math.max(a, b), at),
    isEstimate: others.some(({ isEstimate }) => isEstimate),
    obstacles: awaited.filter(({ way }) => way.state === state).flatMap(obstacleIn),
    left: ways.filter(isLeftBehind).flatMap(obstacleIn),
    daemonSetPods: owned.filter(({ facts: { pod } }) => !pod.mirror).length,
    staticPods: owned.filter(({ facts: { pod } }) => pod.mirror).length,
    finishedPods: finished.length,
  };
}

function obstacleIn({ pod, way }: { readonly pod: PodReport; readonly way: Way }): Obstacle[] {
  return way.state === 'leaving' ? [] : [{ pod: nameOf(pod), why: printable(way.why) }];
}

/** `in 4m48s at most: the last eviction in 4m18s, then up to 30s to stop; 3 DaemonSet pods stay` */
export function emptyingText(emptying: Emptying, at: Instant): string {
  const { left } = emptying;
  const text = stateText(emptying, at);
  return left.length === 0 ? text : `${text}; ${stayText(left)}`;
}

function stateText(emptying: Emptying, at: Instant): string {
  const { state, obstacles } = emptying;
  const stays = belongingText(emptying);
  const names = namesIn(obstacles);
  const whys = whysIn(obstacles);
  const others = emptying.by === null ? '' : `; the others end ${within(emptying.by - at)} at most`;
  switch (state) {
    case 'empty':
      return stays === '' ? 'now' : `now, but for ${stays}`;
    case 'leaving':
      return `${leavingText(emptying, at)}${stays === '' ? '' : `; ${stays} ${isOne(emptying) ? 'stays' : 'stay'}`}`;
    case 'lost':
      return `not by itself: the kubelet does not answer, and ends no pod: ${names}`;
    case 'stays':
      return `never: ${stayText(obstacles)}${others}`;
    case 'unknown':
      return `unknown: ${names}: ${whys}`;
    case 'held':
      return `unknown: held by ${whys}${others}`;
  }
}

/** `shop/db-0 stays: tolerates maintenance:NoExecute without limit` */
function stayText(pods: readonly Obstacle[]): string {
  return `${namesIn(pods)} ${pods.length === 1 ? 'stays' : 'stay'}: ${whysIn(pods)}`;
}

function namesIn(pods: readonly Obstacle[]): string {
  return listText(pods.map(({ pod }) => pod));
}

function whysIn(pods: readonly Obstacle[]): string {
  return listText([...new Set(pods.map(({ why }) => why))]);
}

/** Says in a cell of a table when a node is empty: `in 4m48s`, `never`. */
export function emptyingCell(emptying: Emptying | null, at: Instant): string {
  if (emptying === null) return '-';
  const { state, by, isEstimate } = emptying;
  if (state === 'leaving' && by !== null) return `in ${isEstimate ? '~' : ''}${span(by - at)}`;
  const cells = { empty: 'now', lost: 'unreachable', stays: 'never' } as const;
  return state in cells ? cells[state as keyof typeof cells] : 'unknown';
}

function wayOf(report: PodReport, queue: string | undefined, at: Instant): Way {
  const { facts, explanation, blockers, limit, deletedAt } = report;
  const { deletionTimestamp, gracePeriodSeconds = defaultGraceSeconds } = facts.pod;
  if (isUnknown(report)) return { state: 'unknown', why: whyOf(explanation.decision) };
  if (isGivenUp(report)) return { state: 'held', why: 'a refusal, and no controller tries again' };
  const isGoing = deletionTimestamp !== null || explanation.decision.kind !== 'keep';
  if (!isGoing) return { state: 'stays', why: whyOf(explanation.decision) };
  if (deletionTimestamp === null && report.lacksEvictor)
    return { state: 'stays', why: 'no controller here evicts for NoExecute taints' };
  if (blockers.some(({ code }) => code === 'NodeLost'))
    return { state: 'lost', why: 'the kubelet does not answer' };
  const finalizers = blockers.find(({ code }) => code === 'Finalizers');
  if (finalizers) return { state: 'held', why: blockerText(finalizers) };
  if (deletionTimestamp !== null) {
    if (deletionTimestamp + slackMs >= at)
      return { state: 'leaving', evictedAt: null, endsBy: Math.max(deletionTimestamp, at) };
    const late = formatDuration(at - deletionTimestamp);
    return { state: 'held', why: `${nameOf(report)}, which should have ended ${late} ago` };
  }
  const [reason] = explanation.decision.because;
  if (isPaused(report))
    return { state: 'held', why: reason?.code === 'Paused' ? `pause ${reason.pause}` : 'a pause' };
  if (limit && (limit.tripped || isOpenEnded(limit)))
    return { state: 'held', why: `limit ${limit.id}${limit.tripped ? ' (tripped)' : ''}` };
  const due = deletedAt ?? limit?.goesAt ?? dueOf(explanation.decision) ?? at;
  const [blocker] = blockers;
  if (deletedAt === null && blocker) return { state: 'held', why: blockerText(blocker) };
  if (deletedAt === null && queue !== undefined) return { state: 'held', why: queue };
  const evictedAt = Math.max(due, at);
  return { state: 'leaving', evictedAt, endsBy: evictedAt + gracePeriodSeconds * 1000 };
}

/** The budgets that let some of these pods go now, and not as many as have to: the others wait for replacements. */
function queuesOf(pods: readonly PodReport[]): ReadonlyMap<PodReport, string> {
  const waiting = pods.flatMap((pod) => {
    const [budget] = pod.asksBudgets ? pod.budgets : [];
    return budget ? [{ budget, pod }] : [];
  });
  return new Map(
    [...groupBy(waiting, ({ budget }) => budget)].flatMap(([{ name, allowed }, all]) =>
      all.slice(allowed).map(({ pod }) => [pod, queueText(name, allowed, all.length)] as const),
    ),
  );
}

function queueText(name: string, allowed: number, pods: number): string {
  return `PDB ${name} (lets ${allowed} of ${count(pods, 'pod')} go, the others when those are replaced)`;
}

function leavingText({ by, lastEvictionAt, isEstimate }: Emptying, at: Instant): string {
  const end = `${within((by ?? at) - at, isEstimate ? '~' : '')} at most`;
  if (lastEvictionAt === null) return end;
  const last = lastEvictionAt - at;
  const then = `then up to ${span((by ?? at) - lastEvictionAt)} to stop`;
  return `${end}: the last eviction ${within(last, isEstimate ? '~' : '')}, ${then}`;
}

function within(wait: Millis, mark = ''): string {
  return wait < 1000 ? 'now' : `in ${mark}${span(wait)}`;
}

function span(wait: Millis): string {
  return formatDuration(Math.max(0, wait));
}

/** `3 DaemonSet pods and 1 static pod` */
function belongingText({ daemonSetPods, staticPods, finishedPods }: Emptying): string {
  const parts = [
    ...(daemonSetPods > 0 ? [count(daemonSetPods, 'DaemonSet pod')] : []),
    ...(staticPods > 0 ? [count(staticPods, 'static pod')] : []),
    ...(finishedPods > 0 ? [count(finishedPods, 'finished pod')] : []),
  ];
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function isOne({ daemonSetPods, staticPods, finishedPods }: Emptying): boolean {
  return daemonSetPods + staticPods + finishedPods === 1;
}

function belongsToNode({ facts: { pod } }: PodReport): boolean {
  return pod.mirror || pod.owner?.kind === 'DaemonSet';
}

function leaves(report: PodReport): boolean {
  return report.facts.pod.deletionTimestamp !== null || isToGo(report);
}

function isToGo({ explanation }: PodReport): boolean {
  return explanation.decision.kind !== 'keep';
}

function isGoneBefore({ facts, explanation, blockers }: PodReport, at: Instant): boolean {
  const due = facts.pod.deletionTimestamp ?? dueOf(explanation.decision);
  return due !== null && due < at && blockers.length === 0;
}

function dueOf(decision: Decision): Instant | null {
  return decision.kind === 'evict' ? decision.deadline : null;
}

function whyOf({ because: [first] }: Decision): string {
  return first ? describeReason(first) : '';
}

function nameOf({ facts: { pod } }: PodReport): string {
  return printable(`${pod.namespace}/${pod.name}`);
}
