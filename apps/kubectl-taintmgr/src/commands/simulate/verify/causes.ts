// Where the error of a simulation comes from, as far as the two courses show it.
import { formatDuration } from '@taintmgr/core/time';
import { choicesText, count, mostOf } from '@taintmgr/k8s-adapter/command-line';
import type { PodTrack, Recording } from '@taintmgr/page';
import { medianOf } from '../result/draws.ts';
import { type Check, closeSeconds, type NodeCheck, type PodCheck } from './check.ts';
import type { Observed } from './observed.ts';

/** Smaller differences have no cause. */
const secondsMin = 2;

interface CauseOptions {
  readonly observed: Observed;
  readonly check: Check;
  readonly real: Recording;
  readonly simulated: Recording;
  readonly seeds: number;
}

/** The causes, each with what shows it. */
export function causesOf(options: CauseOptions): readonly string[] {
  return [
    ...nodeOrder(options),
    ...chance(options),
    ...lateKubelets(options),
    ...neverReady(options),
    ...slowStarts(options),
    ...unknownRules(options),
  ];
}

/** Pods whose error is that of the taint of their node. */
function nodeOrder({ check }: CauseOptions): readonly string[] {
  const off = check.nodes.flatMap((node) => {
    const error = taintError(node);
    if (error === null || Math.abs(error) < secondsMin) return [];
    const pods = check.pods.filter(
      (pod) => pod.node === node.node && isOff(pod) && isNear(pod.errorSeconds ?? 0, error),
    );
    return pods.length === 0 ? [] : [{ node: node.node, error, pods: pods.length }];
  });
  if (off.length === 0) return [];
  const pods = off.reduce((sum, one) => sum + one.pods, 0);
  const texts = off.map(({ node, error }) => `${node} ${lateText(error)}`);
  const who = count(pods, 'pod');
  return [
    `nodes were tainted at other moments or in another order than simulated, which chance decides: ` +
      `${choicesText(texts)}; that is the error of ${who}`,
  ];
}

function taintError({ taintedAt, simulatedTaintedAt }: NodeCheck): number | null {
  return taintedAt === null || simulatedTaintedAt === null ? null : simulatedTaintedAt - taintedAt;
}

function isOff({ errorSeconds }: PodCheck): boolean {
  return errorSeconds !== null && Math.abs(errorSeconds) >= secondsMin;
}

function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) < secondsMin;
}

/** `3.2s late`, `3.2s early` */
export function lateText(seconds: number): string {
  const size = shownSeconds(Math.abs(seconds));
  return seconds < 0 ? `${size} early` : `${size} late`;
}

/** `3.2s`, `1m33.9s`: tenths of a second are the finest that tells anything. */
export function shownSeconds(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const [minutes, rest] = [Math.floor(tenths / 600), tenths % 600];
  const short = `${rest / 10}s`;
  if (minutes === 0) return short;
  return minutes < 60 ? `${minutes}m${rest === 0 ? '' : short}` : formatDuration(tenths * 100);
}

/** The number of pods that left inside the band of the seeds; empty for a single seed. */
function chance({ check, seeds }: CauseOptions): readonly string[] {
  // Deletions by users are played as they were: their match proves nothing.
  const judged = check.pods.filter(({ errorBand, outcome }) => {
    return errorBand !== undefined && outcome === 'foretold';
  });
  if (seeds === 1 || judged.length === 0) return [];
  const inside = judged.filter(({ errorBand }) => {
    const { least = 0, most = 0 } = errorBand ?? {};
    return least <= secondsMin && most >= -secondsMin;
  });
  return [
    `${inside.length} of ${count(judged.length, 'pod')} left inside the band of ${seeds} seeds; with ` +
      `${check.closeSeeds} of the seeds each within ${closeSeconds}s`,
  ];
}

/** Pods that were asked to leave, and whose kubelet ended them later than it would here. */
function lateKubelets({ observed, real, simulated }: CauseOptions): readonly string[] {
  if (observed.from !== 'recording') return [];
  const late = pairsOf(real, simulated).flatMap(([one, other]) => {
    const ended = [one, other].map(({ until }) => until);
    const [at, foretold] = ended;
    if (at === null || at === undefined || foretold === null || foretold === undefined) return [];
    const [left, leftThere] = [one, other].map(leavingOf);
    if (left === null || leftThere === null || left === undefined || leftThere === undefined)
      return [];
    const by = at - Math.max(foretold, left);
    return by >= secondsMin * 2 ? [{ by, at }] : [];
  });
  if (late.length === 0) return [];
  const by = shownSeconds(medianOf(late.map((one) => one.by)));
  const from = shownSeconds(Math.min(...late.map(({ at }) => at)));
  return [
    `kubelets ended ${count(late.length, 'terminating pod')} ${by} later than simulated (from ${from} on): ` +
      'until then their names and their room were taken',
  ];
}

function leavingOf({ states }: PodTrack): number | null {
  return states.find(({ state }) => state === 'stopping')?.at ?? null;
}

/** The tracks of pods that were there at the beginning, in both. */
function pairsOf(
  real: Recording,
  simulated: Recording,
): readonly (readonly [PodTrack, PodTrack])[] {
  const keyOfTrack = ({ namespace, pod }: PodTrack): string => `${namespace}/${pod}`;
  const others = new Map(
    simulated.pods.filter(({ from }) => from === 0).map((track) => [keyOfTrack(track), track]),
  );
  return real.pods.flatMap((track) => {
    const other = track.from === 0 ? others.get(keyOfTrack(track)) : undefined;
    return other ? [[track, other] as const] : [];
  });
}

/** Pods that stayed on nodes that came back, and were not ready any more to the end. */
function neverReady({ real, simulated, check }: CauseOptions): readonly string[] {
  const lost = new Set(check.nodes.map(({ node }) => node));
  const found = pairsOf(real, simulated).filter(([one, other]) => {
    const [is, foretold] = [one, other].map(({ states }) => states.at(-1)?.state);
    const hasStayed = one.until === null && other.until === null && lost.has(one.node);
    return hasStayed && is === 'down' && foretold === 'serving';
  });
  if (found.length === 0) return [];
  const names = found.map(([{ namespace, pod }]) => `${namespace}/${pod}`);
  return [
    `${count(found.length, 'pod')} never became ready again on nodes that came back: ${choicesText(names)}`,
  ];
}

function slowStarts({ check }: CauseOptions): readonly string[] {
  const { readySeconds: real = null, simulatedReadySeconds: simulated = null } =
    check.placements ?? {};
  if (real === null || simulated === null || Math.abs(real - simulated) < secondsMin) return [];
  return [
    `new pods took ${shownSeconds(real)} to become ready, simulated ${shownSeconds(simulated)}: times of a ` +
      'script, or of a snapshot with all its pods, say how long',
  ];
}

function unknownRules({ check }: CauseOptions): readonly string[] {
  const touched = check.workloads.filter(({ unknown, ...one }) => {
    const by = Math.abs(one.podMinutesLost - one.simulatedPodMinutesLost);
    return unknown !== undefined && by > mostOf([0.6, 0.1 * one.podMinutesLost], 0);
  });
  return touched.map(({ namespace, name, unknown = [] }) => {
    return `? ${namespace}/${name}: ${unknown.join('; ')}, which is not simulated`;
  });
}
