// Who made a pod leave, as each source has it, and which of them is believed.
import { earliest, formatTime, type Instant } from '@taintmgr/core/time';
import type { Departure } from '../history/departure.ts';
import type { Claim, ClaimKind, Source, ToldDeparture } from './history-model.ts';
import { type EventTrace, isOurs, type NodeTrace, type PodTrace } from './history-traces.ts';

const recordSource: Source = { kind: 'record', name: 'record of taintmgr-controller' };

/** Who tells of a departure. */
export function recordOf({ toldBy = recordSource }: ToldDeparture): Source {
  return toldBy;
}
export const deletionSource: Source = { kind: 'deletion', name: 'deletionTimestamp of the pod' };
const conditionSource: Source = { kind: 'condition', name: 'condition DisruptionTarget' };
const recordedCondition: Source = {
  kind: 'condition',
  name: 'recorded condition DisruptionTarget',
};

export function eventSource({ reason, by }: EventTrace): Source {
  return {
    kind: 'event',
    name: by === '' ? `Event ${reason} without a source` : `Event ${reason} of ${by}`,
  };
}

/** The facts known of one pod. */
export interface Evidence {
  readonly departures: readonly Departure[];
  readonly pod: PodTrace | null;
  /** About the pod. */
  readonly events: readonly EventTrace[];
  /** Of its owner: that it has deleted the pod. */
  readonly deletions: readonly EventTrace[];
  readonly node: string;
  /** The names of pods by uid. */
  readonly names: ReadonlyMap<string, string>;
}

/** All claims about a pod, those of one kind as one, the most believed first. */
export function claimsOf(evidence: Evidence): readonly Claim[] {
  const { departures, pod, events, deletions, node, names } = evidence;
  const all = [
    ...departures.flatMap((one) => recordClaim(one, node)),
    ...(pod ? podClaims(pod) : []),
    ...events.flatMap((event) => eventClaim(event, node, names)),
    ...deletions.map(ownerClaim),
  ];
  const acts = new Set(all.map(actOf));
  const merged = Array.from(acts, (act) => mergedClaim(all.filter((one) => actOf(one) === act)));
  return merged.sort((a, b) => rankOf(a) - rankOf(b) || compare(a.kind, b.kind));
}

/** Claims of one act are one; drains have names. */
function actOf({ kind, who }: Claim): string {
  return kind === 'drain' ? who : kind;
}

/**
 * Claims that contradict the first one. The Eviction API has an unnamed caller, and the Events of a
 * NodeDrain that taintmgr-controller carries out only name it.
 */
export function contradictions([best, ...others]: readonly Claim[]): readonly Claim[] {
  const usesApi = best?.kind === 'taintmgr' || best?.kind === 'drain';
  const isByController = best?.kind === 'drain' && best.who !== drainByTaint;
  return others.filter(({ kind }) => {
    return !(usesApi && kind === 'evictionApi') && !(isByController && kind === 'taintmgr');
  });
}

/** An own act first; then conditions, Events, and what does not say who. */
function rankOf({ kind, sources }: Claim): number {
  const ranks = sources.map((source) => sourceRanks[source.kind]);
  const best = ranks.reduce((one, other) => Math.min(one, other), sourceRanks.request);
  return best + (kind === 'evictionApi' ? 5 : 0);
}

const sourceRanks: Readonly<Record<Source['kind'], number>> = {
  ...{ record: 0, deletion: 1, condition: 2, pod: 3, event: 4, node: 5, request: 5 },
};

function mergedClaim(claims: readonly Claim[]): Claim {
  const sorted = claims.toSorted((a, b) => {
    return rankOf(a) - rankOf(b) || compare(keyOf(a), keyOf(b));
  });
  const [first] = sorted;
  if (!first) throw new Error('there is no claim to merge');
  const detail = sorted.find((one) => one.detail !== '')?.detail ?? '';
  const times = sorted.flatMap(({ at }) => at ?? []);
  const sources = new Map(sorted.flatMap((one) => one.sources.map((from) => [from.name, from])));
  // The first: a program that marks a pod asks again when the pod is slow to leave.
  return { ...first, detail, at: earliest(times), sources: [...sources.values()] };
}

function keyOf({ who, detail, at, sources }: Claim): string {
  return JSON.stringify([who, detail, at, sources.map(({ name }) => name)]);
}

function recordClaim(departure: ToldDeparture, node: string): readonly Claim[] {
  const { by, answeredAt, askedAt, seenAt } = departure;
  const at = answeredAt ?? askedAt ?? seenAt;
  if (by.source === 'ownAct') {
    const who =
      by.kind === 'drain' && by.drain ? `NodeDrain ${by.drain} (${controller})` : controller;
    return [{ kind: by.kind, who, detail: '', at, sources: [recordOf(departure)] }];
  }
  if (by.source === 'deletion' || by.kind === 'unknown') return [];
  const mark = { reason: by.reason ?? '', manager: by.manager ?? null, message: '' };
  const claim = markClaim(mark, node);
  const kind = claim.kind === 'unknown' ? by.kind : claim.kind;
  return [{ ...claim, kind, at, sources: [recordedCondition] }];
}

function podClaims({ mark, phase, reason, message, node }: PodTrace): readonly Claim[] {
  if (mark) return [{ ...markClaim(mark, node), at: mark.at, sources: [conditionSource] }];
  if (phase !== 'Failed' || reason !== 'Evicted') return [];
  const source: Source = { kind: 'pod', name: 'status of the pod' };
  return [{ kind: 'kubelet', who: kubeletOf(node), detail: message, at: null, sources: [source] }];
}

interface Mark {
  readonly reason: string;
  readonly manager?: string | null;
  readonly message: string;
}

/** The claim that each reason of a condition DisruptionTarget makes. */
function markClaim(mark: Mark, node: string): Pick<Claim, 'kind' | 'who' | 'detail'> {
  const { reason, manager = null, message } = mark;
  const known = (kind: ClaimKind, who: string, detail = '') => ({ kind, who, detail });
  switch (reason) {
    case 'DeletionByTaintManager':
      if (manager !== null && isOurs(manager)) return { ...ourAct(manager), detail: '' };
      return known('taintManager', manager ?? 'a program that evicts for taints');
    case 'DeletionByDeviceTaintManager': {
      const who = manager ?? 'a program';
      return known('deviceTaints', `${who}, for taints of devices`);
    }
    case 'EvictionByEvictionAPI':
      return known('evictionApi', 'a client of the Eviction API');
    case 'PreemptionByScheduler':
      return known('preemption', 'the scheduler');
    case 'TerminationByKubelet':
      return known('kubelet', kubeletOf(node), message);
    case 'DeletionByPodGC':
      return known('podGc', 'garbage collection of pods', message.replace(/^PodGC: /, ''));
    default:
      return known('unknown', manager ?? 'an unknown program', reason);
  }
}

function kubeletOf(node: string): string {
  return node === '' ? 'the kubelet' : `the kubelet of ${node}`;
}

/** Names under which taint managers of kube-controller-manager have reported; the second until 1.28. */
const upstreamReporters: readonly string[] = ['taint-eviction-controller', 'taint-controller'];

function eventClaim(
  event: EventTrace,
  node: string,
  names: ReadonlyMap<string, string>,
): readonly Claim[] {
  const { by, message, firstAt: at } = event;
  const claim = (kind: ClaimKind, who: string, detail = ''): readonly Claim[] => {
    return [{ kind, who, detail, at, sources: [eventSource(event)] }];
  };
  switch (event.reason) {
    case 'TaintManagerEviction':
      if (!message.startsWith('Marking for deletion')) return [];
      if (isOurs(by)) {
        const { kind, who } = ourAct(by);
        return claim(kind, who, becauseIn(message));
      }
      return claim(
        'taintManager',
        upstreamReporters.includes(by) ? upstream : by || 'an unknown program',
      );
    case 'DeviceTaintManagerEviction':
      if (!message.startsWith('Marking for deletion')) return [];
      return claim('deviceTaints', `${isOurs(by) ? by : upstream}, for taints of devices`);
    case 'Preempted':
      return claim('preemption', 'the scheduler', preemptorIn(message, names));
    case 'Evicted':
      return claim('kubelet', isOurs(by) ? by : kubeletOf(event.host || node), message);
    case 'NodeControllerEviction':
      return claim('nodeLost', isOurs(by) ? controller : by, message);
    default:
      return [];
  }
}

const upstream = 'kube-controller-manager';
const controller = 'taintmgr-controller';
const drainByTaint = 'kubectl taintmgr drain-by-taint';

/** The plugin evicts by itself only when it drains. */
function ourAct(name: string): Pick<Claim, 'kind' | 'who'> {
  return name.startsWith('kubectl')
    ? { kind: 'drain', who: drainByTaint }
    : { kind: 'taintmgr', who: controller };
}

/** `Marking for deletion Pod shop/web: no toleration for x:NoExecute` has a cause. */
function becauseIn(message: string): string {
  return /^[^:]*: (.*)$/.exec(message)?.[1] ?? '';
}

/** `Preempted by pod UID on node n5`; before 1.31 by its name. */
function preemptorIn(message: string, names: ReadonlyMap<string, string>): string {
  const named = /^Preempted by (?:pod )?(\S+) on node/.exec(message)?.[1];
  if (named === undefined || named === 'a') return '';
  return `for pod ${names.get(named) ?? named}`;
}

function ownerClaim(event: EventTrace): Claim {
  const who = `${event.kind} ${event.name}`;
  const detail = event.reason === 'ScalingReplicaSet' ? event.message : '';
  return { kind: 'workload', who, detail, at: event.firstAt, sources: [eventSource(event)] };
}

/** The hints at the evictor where only the way is known: who cordoned the node, and the drains that have left marks. */
export function drainHints(node: NodeTrace, at: Instant | null): readonly string[] {
  const { cordoned, drains, name } = node;
  const isBefore = cordoned !== null && at !== null && cordoned.at <= at + 1000;
  const like = cordoned?.by.startsWith('kubectl') ? ', as kubectl drain does before it evicts' : '';
  return [
    ...drains.map(({ id, taint, by }) => {
      return `${name} has the mark of drain ${id}${by === '' ? '' : ` of ${by}`} (${taint})`;
    }),
    ...(isBefore && drains.length === 0
      ? [`${cordoned.by} cordoned ${name} at ${formatTime(cordoned.at)}${like}`]
      : []),
  ];
}

export function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
