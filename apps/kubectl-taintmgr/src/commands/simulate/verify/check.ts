// Compares a simulation with the observed course: pod by pod, node by node, workload by workload.
import { countBy, mostOf } from '@taintmgr/k8s-adapter/command-line';
import type { NodeTrack, PodTrack, Recording, Summary } from '@taintmgr/page';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { thousandths } from '../result/downtime.ts';
import { medianOf } from '../result/draws.ts';
import { disruptionOf, type Happened, isEvictedByEvent } from './happened.ts';
import { keyOf } from './inferred.ts';
import type { Observed } from './observed.ts';

/** The cause of a pod's departure, as far as it was observed. */
type LeftBy = 'taint' | 'preemption' | 'podGC' | 'kubelet' | 'somebody' | 'controller';

/** A pod that existed at the beginning. Times are in seconds after it. */
export interface PodCheck {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  /** `Deployment shop/web`; null: none. */
  readonly workload: string | null;
  /** The time when it was asked to leave; null: it stayed, or the time was not observed. */
  readonly leftAt: number | null;
  readonly by: LeftBy | null;
  readonly simulatedAt: number | null;
  readonly outcome: 'foretold' | 'missed' | 'not so' | 'not foretold' | 'stayed' | 'unknown';
  /** Simulated less real: positive is late; null: one of both is not known. */
  readonly errorSeconds: number | null;
  /** The errors of all seeds, from the least to the most; left out: there is one. */
  readonly errorBand?: { readonly least: number; readonly most: number };
}

/** When a node was given up, and tainted NoExecute for it. */
export interface NodeCheck {
  readonly node: string;
  readonly unknownAt: number | null;
  readonly simulatedUnknownAt: number | null;
  readonly taintedAt: number | null;
  readonly simulatedTaintedAt: number | null;
}

export interface WorkloadCheck {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly podMinutesLost: number;
  readonly simulatedPodMinutesLost: number;
  /** Of all seeds; left out: there is one. */
  readonly simulatedBand?: { readonly least: number; readonly most: number };
  readonly unknown?: readonly string[];
}

/** Pods that came to nodes: how many of them to the node, and the zone, that was foretold. */
export interface PlacementCheck {
  readonly real: number;
  readonly simulated: number;
  readonly sameNode: number;
  readonly sameZone: number;
  /** From a node to being ready, the median; null: none was observed. */
  readonly readySeconds: number | null;
  readonly simulatedReadySeconds: number | null;
}

interface ErrorOfTimes {
  readonly medianSeconds: number;
  readonly p90Seconds: number;
  /** With its sign. */
  readonly worstSeconds: number;
  readonly worstPod: string;
}

/** A run beside the observations. */
export interface Check {
  /** Pods that were evicted for a taint, preempted or collected. */
  readonly evictions: number;
  readonly foretold: number;
  readonly error: ErrorOfTimes | null;
  /** The same of the first, the second and so on to leave, independent of the pods' names. */
  readonly errorInOrder: Pick<ErrorOfTimes, 'medianSeconds' | 'p90Seconds' | 'worstSeconds'> | null;
  readonly pods: readonly PodCheck[];
  readonly nodes: readonly NodeCheck[];
  readonly workloads: readonly WorkloadCheck[];
  /** Null: the nodes of new pods were not observed. */
  readonly placements: PlacementCheck | null;
  /** The number of seeds in which each pod left within `closeSeconds` of its real time. */
  readonly closeSeeds: number;
}

export const closeSeconds = 3;

/** One course with its figures. */
export interface Course {
  readonly recording: Recording;
  readonly summary: Summary;
}

export interface CheckOptions {
  readonly observed: Observed;
  readonly happened: Happened;
  /** The pods before. */
  readonly pods: readonly KubeObject[];
  readonly real: Course;
  /** The draws of each seed; the first is judged. */
  readonly draws: readonly Course[];
  /** The end of the observation, in seconds; the draws go on for a while. */
  readonly until: number;
}

/** Compares them. */
export function checkRun(options: CheckOptions): Check {
  const { real, draws, observed } = options;
  const [first] = draws;
  if (!first) throw new Error('nothing was played');
  const pods = podChecks(options, first);
  const evicted = pods.filter(({ by }) => by !== null && evictions.has(by));
  return {
    evictions: evicted.length,
    foretold: evicted.filter(({ outcome }) => outcome === 'foretold').length,
    error: errorOf(pods),
    errorInOrder: errorInOrder(pods),
    pods,
    nodes: nodeChecks(real.recording.nodes, first.recording.nodes),
    workloads: observed.from === 'Events' ? [] : workloadChecks(real.summary, draws),
    placements: placementCheck(options, first),
    closeSeeds: draws.filter((draw) => isClose(podChecks({ ...options, draws: [draw] }, draw)))
      .length,
  };
}

function isClose(pods: readonly PodCheck[]): boolean {
  return pods.every(({ outcome }) => outcome !== 'missed') && worstOf(pods) <= closeSeconds;
}

const evictions: ReadonlySet<LeftBy> = new Set(['taint', 'preemption', 'podGC']);

// Pods

function podChecks(options: CheckOptions, first: Course): readonly PodCheck[] {
  const { observed, real, draws, pods, until } = options;
  const leftReally = leavingTimes(real.recording);
  const simulated = draws.map(({ recording }) => leavingTimes(recording));
  const workloads = new Map(
    first.recording.pods.filter(({ from }) => from === 0).map((track) => [nameOf(track), track]),
  );
  const unseen = unseenIn(observed);
  const reasons = reasonsIn(observed);
  return pods.flatMap((pod) => {
    const key = keyOf(pod);
    const node: string | undefined = pod.spec.nodeName;
    if (!node || pod.metadata.deletionTimestamp !== undefined) return [];
    const left = leftReally.get(key) ?? null;
    const foretold = simulated[0]?.get(key) ?? null;
    const at = left === null && foretold !== null && foretold > until ? null : foretold;
    const isUnseen = unseen.has(key);
    const leftAt = isUnseen ? null : left;
    const by = left === null ? null : leftBy(pod, options, reasons);
    const errorSeconds = leftAt === null || at === null ? null : thousandths(at - leftAt);
    const errors = simulated.flatMap((times) => {
      const time = times.get(key);
      return time === undefined || leftAt === null ? [] : [thousandths(time - leftAt)];
    });
    const { namespace = '', name } = pod.metadata;
    return [
      {
        ...{ namespace, pod: name, node, workload: workloads.get(key)?.workload ?? null },
        ...{ leftAt, by, simulatedAt: at, errorSeconds },
        outcome: outcomeOf({ left, at, by, isKnown: observed.from !== 'Events' }),
        ...(draws.length > 1 && errors.length > 0 && { errorBand: spanOf(errors) }),
      },
    ];
  });
}

function outcomeOf({
  left,
  at,
  by,
  isKnown,
}: {
  readonly left: number | null;
  readonly at: number | null;
  readonly by: LeftBy | null;
  /** True if a pod without any sign of leaving has stayed; false: the outcome is unknown. */
  readonly isKnown: boolean;
}): PodCheck['outcome'] {
  if (left === null) {
    if (!isKnown) return 'unknown';
    return at === null ? 'stayed' : 'not so';
  }
  if (by === 'somebody' || by === 'kubelet') return 'not foretold';
  return at === null ? 'missed' : 'foretold';
}

/** Pods whose departure was not observed. */
function unseenIn({ changes }: Observed): ReadonlySet<string> {
  const keys = changes.flatMap(({ resource, object, after }) => {
    return resource === 'pods' && after !== undefined ? [keyOf(object)] : [];
  });
  return new Set(keys);
}

/** The reasons for which pods were asked to leave, as their conditions say, by uid. */
function reasonsIn({ changes }: Observed): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const { resource, object } of changes) {
    const reason = resource === 'pods' ? disruptionOf(object) : null;
    const { uid = '' } = object.metadata;
    if (reason !== null && !reasons.has(uid)) reasons.set(uid, reason);
  }
  return reasons;
}

function leftBy(
  pod: KubeObject,
  { observed, happened }: CheckOptions,
  reasons: ReadonlyMap<string, string>,
): LeftBy {
  const { uid = '' } = pod.metadata;
  const named = byReason[reasons.get(uid) ?? ''];
  if (named) return named;
  if (isEvictedByEvent(pod, observed)) return 'taint';
  if (happened.deleted.has(uid)) return 'somebody';
  return happened.taken.has(uid) ? 'controller' : 'taint';
}

const byReason: Readonly<Record<string, LeftBy>> = {
  DeletionByTaintManager: 'taint',
  DeletionByDeviceTaintManager: 'taint',
  PreemptionByScheduler: 'preemption',
  DeletionByPodGC: 'podGC',
  TerminationByKubelet: 'kubelet',
  EvictionByEvictionAPI: 'somebody',
};

/** When each pod that was there at the beginning was asked to leave, in seconds, by `namespace/name`. */
function leavingTimes({ pods }: Recording): ReadonlyMap<string, number> {
  const times = pods
    .filter(({ from }) => from === 0)
    .flatMap((track) => {
      const stopping = track.states.find(({ state }) => state === 'stopping');
      const at = stopping?.at ?? track.until;
      return at === null ? [] : [[nameOf(track), at] as const];
    });
  return new Map(times);
}

function nameOf({ namespace, pod }: Pick<PodTrack, 'namespace' | 'pod'>): string {
  return `${namespace}/${pod}`;
}

function errorOf(pods: readonly PodCheck[]): ErrorOfTimes | null {
  const known = pods.flatMap(({ namespace, pod, by, errorSeconds: seconds }) => {
    const counts = by !== null && evictions.has(by) && seconds !== null;
    return counts ? [{ name: `${namespace}/${pod}`, seconds }] : [];
  });
  const found = errorAmong(known.map(({ seconds }) => seconds));
  if (!found) return null;
  const worst = known.find(({ seconds }) => seconds === found.worstSeconds);
  return { ...found, worstPod: worst?.name ?? '' };
}

/**
 * The order in which many nodes are tainted is chance; the number of pods that have left by a time is not.
 */
function errorInOrder(pods: readonly PodCheck[]): Check['errorInOrder'] {
  const evicted = pods.filter(({ by }) => by === null || evictions.has(by));
  const inOrder = (timeOf: (pod: PodCheck) => number | null): readonly number[] =>
    evicted.flatMap((pod) => timeOf(pod) ?? []).toSorted((a, b) => a - b);
  const foretold = inOrder(({ simulatedAt }) => simulatedAt);
  const errors = inOrder(({ leftAt }) => leftAt).flatMap((at, index) => {
    const other = foretold[index];
    return other === undefined ? [] : [thousandths(other - at)];
  });
  return errorAmong(errors);
}

function errorAmong(errors: readonly number[]): Omit<ErrorOfTimes, 'worstPod'> | null {
  if (errors.length === 0) return null;
  const sizes = errors.map(Math.abs).toSorted((a, b) => a - b);
  return {
    medianSeconds: medianOf(sizes),
    p90Seconds: sizes[Math.ceil(0.9 * sizes.length) - 1] ?? 0,
    worstSeconds: errors.find((seconds) => Math.abs(seconds) === sizes.at(-1)) ?? 0,
  };
}

function spanOf(values: readonly number[]): { readonly least: number; readonly most: number } {
  return { least: Math.min(...values), most: Math.max(...values) };
}

// Nodes

const unreachable = 'node.kubernetes.io/unreachable:NoExecute';

function nodeChecks(
  real: readonly NodeTrack[],
  simulated: readonly NodeTrack[],
): readonly NodeCheck[] {
  return real.flatMap((track) => {
    const other = simulated.find(({ name }) => name === track.name);
    const check: NodeCheck = {
      node: track.name,
      unknownAt: firstAt(track, ({ ready }) => ready === 'Unknown'),
      simulatedUnknownAt: other ? firstAt(other, ({ ready }) => ready === 'Unknown') : null,
      taintedAt: firstAt(track, ({ taints }) => taints.includes(unreachable)),
      simulatedTaintedAt: other
        ? firstAt(other, ({ taints }) => taints.includes(unreachable))
        : null,
    };
    const isOfAny = check.unknownAt !== null || check.simulatedUnknownAt !== null;
    return isOfAny ? [check] : [];
  });
}

function firstAt(
  { states }: NodeTrack,
  isIt: (state: NodeTrack['states'][number]) => boolean,
): number | null {
  const [first, ...later] = states;
  return first && isIt(first) ? null : (later.find(isIt)?.at ?? null);
}

// Workloads

function workloadChecks(real: Summary, draws: readonly Course[]): readonly WorkloadCheck[] {
  return real.workloads.flatMap(({ kind, namespace, name, podMinutesLost }) => {
    const all = draws.flatMap(({ summary }) =>
      summary.workloads.filter((one) => {
        return one.kind === kind && one.namespace === namespace && one.name === name;
      }),
    );
    const [first] = all;
    if (!first) return [];
    const minutes = all.map((one) => one.podMinutesLost);
    return [
      {
        ...{ kind, namespace, name, podMinutesLost },
        simulatedPodMinutesLost: first.podMinutesLost,
        ...(draws.length > 1 && { simulatedBand: spanOf(minutes) }),
        ...(first.unknown && { unknown: first.unknown }),
      },
    ];
  });
}

// Placements

/** Pods of DaemonSets have one node each to go to. */
function placementCheck(
  { observed, real, until }: CheckOptions,
  { recording }: Course,
): PlacementCheck | null {
  const [came, foretold] = [real.recording, recording].map((one) => arrivalsIn(one, until));
  if (!came || !foretold || (observed.from === 'Events' && came.length === 0)) return null;
  const zones = new Map(recording.nodes.map(({ name, zone }) => [name, zone] as const));
  const zoneOf = ({ node, workload }: PodTrack): string => `${workload} ${zones.get(node) ?? ''}`;
  return {
    real: came.length,
    simulated: foretold.length,
    sameNode: inBoth(came, foretold, ({ node, workload }) => `${workload} ${node}`),
    sameZone: inBoth(came, foretold, zoneOf),
    readySeconds: readySeconds(came),
    simulatedReadySeconds: readySeconds(foretold),
  };
}

function arrivalsIn({ pods }: Recording, until: number): readonly PodTrack[] {
  return pods.filter(({ from, workload }) => {
    return from > 0 && from <= until && !workload?.startsWith('DaemonSet ');
  });
}

function inBoth(
  some: readonly PodTrack[],
  others: readonly PodTrack[],
  keyOfTrack: (track: PodTrack) => string,
): number {
  const found = countBy(others.map(keyOfTrack));
  const counts = Array.from(countBy(some.map(keyOfTrack)), ([key, number]) =>
    Math.min(number, found.get(key) ?? 0),
  );
  return counts.reduce((sum, number) => sum + number, 0);
}

function readySeconds(tracks: readonly PodTrack[]): number | null {
  const times = tracks.flatMap(({ from, states }) => {
    const ready = states.find(({ state }) => state === 'serving');
    return ready ? [thousandths(ready.at - from)] : [];
  });
  return times.length === 0 ? null : medianOf(times);
}

/** The largest error in seconds, early or late; 0: no pod has an error. */
function worstOf(pods: readonly PodCheck[]): number {
  return mostOf(
    pods.flatMap(({ errorSeconds }) => (errorSeconds === null ? [] : [Math.abs(errorSeconds)])),
    0,
  );
}
