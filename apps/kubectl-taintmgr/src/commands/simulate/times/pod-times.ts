// The time that pods take to start and to stop: by templates, as observed, and by ranges.

import { formatDuration, type Millis, parseDuration } from '@taintmgr/core/time';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import type { AssumedTime, Assumption } from '@taintmgr/page';
import {
  defaultTiming,
  type KubeObject,
  type PodTiming,
  type RangeMs,
} from '@taintmgr/sim-cluster';

/** The times that a script gives for a workload; null: none. */
export interface SaidTimes {
  readonly start: RangeMs | null;
  readonly stop: RangeMs | null;
}

/** On the pods of a workload, by its template: as `startTime` and `stopTime` of a topology. */
export const timeAnnotations = {
  start: 'taintmgr.dev/start-time',
  stop: 'taintmgr.dev/stop-time',
} as const;

interface Timed {
  readonly range: RangeMs;
  readonly from: AssumedTime['from'];
}

type Kind = keyof typeof timeAnnotations;

/** Looks up how long pods take. */
export class PodTimes {
  readonly #said: ReadonlyMap<string, SaidTimes>;
  readonly #observed: ReadonlyMap<string, RangeMs>;

  /** Takes the times of a script and the observed starts, by workloads such as `shop/web`. */
  constructor(
    said: ReadonlyMap<string, SaidTimes> = new Map(),
    observed: ReadonlyMap<string, RangeMs> = new Map(),
  ) {
    this.#said = said;
    this.#observed = observed;
  }

  /** Of a pod. */
  of(pod: KubeObject): PodTiming {
    const key = workloadKeyOf(pod);
    return {
      podStartMs: this.#start(key, pod).range,
      podStopMs: this.#stop(key, pod).range,
    };
  }

  /** Of the pods of a workload. */
  assumed({ kind = '', metadata, spec }: KubeObject): Assumption {
    const key = `${metadata.namespace ?? ''}/${metadata.name}`;
    const pod: KubeObject = { ...spec.template, metadata: { name: '', ...spec.template.metadata } };
    return {
      workload: `${kind} ${key}`,
      start: assumedTime(this.#start(key, pod)),
      stop: assumedTime(this.#stop(key, pod)),
    };
  }

  #start(key: string, pod: KubeObject): Timed {
    const usual = defaultTiming.podStartMs;
    const said = this.#saidOf('start', key, pod);
    if (said) return said;
    const observed = this.#observed.get(key);
    if (observed) return { range: observed, from: 'observed' };
    const probed = probedStart(pod.spec, usual);
    return probed ? { range: probed, from: 'probes' } : { range: usual, from: 'usual' };
  }

  #stop(key: string, pod: KubeObject): Timed {
    const usual = defaultTiming.podStopMs;
    const said = this.#saidOf('stop', key, pod);
    if (said) return said;
    const graceful = gracefulStop(pod.spec, usual);
    return graceful ? { range: graceful, from: 'grace' } : { range: usual, from: 'usual' };
  }

  #saidOf(what: Kind, key: string, { metadata }: KubeObject): Timed | null {
    const said = this.#said.get(key)?.[what];
    if (said) return { range: said, from: 'script' };
    const range = parseRange(metadata.annotations?.[timeAnnotations[what]] ?? '');
    return range && { range, from: 'annotation' };
  }
}

function assumedTime({ range: [least, most], from }: Timed): AssumedTime {
  return { leastSeconds: least / 1000, mostSeconds: most / 1000, from };
}

interface Probe {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
  readonly successThreshold?: number;
}

interface Container {
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: {
    readonly preStop?: {
      readonly sleep?: { readonly seconds?: number };
      readonly exec?: { readonly command?: readonly string[] };
    };
  };
}

/** The default of Kubernetes. */
const periodUsual = 10;
const failuresUsual = 3;
const graceUsual = 30;

/**
 * The start by its probes; null: it has none. A pod is not ready before the first delay is over; its
 * startup probe may fail until it gives up, and the readiness probe looks once more a period later.
 */
function probedStart(spec: KubeObject['spec'], [least, most]: RangeMs): RangeMs | null {
  const ranges = containersOf(spec).flatMap(({ startupProbe, readinessProbe }) => {
    if (!startupProbe && !readinessProbe) return [];
    const [startLeast, startMost] = startupProbe ? waitOf(startupProbe, true) : [0, 0];
    const [readyLeast, readyMost] = readinessProbe ? waitOf(readinessProbe, false) : [0, 0];
    return [[startLeast + readyLeast, startMost + readyMost] as const];
  });
  if (ranges.length === 0) return null;
  return [
    least + 1000 * Math.max(...ranges.map(([one]) => one)),
    most + 1000 * Math.max(...ranges.map(([, one]) => one)),
  ];
}

/** The seconds that a probe takes until it is content. */
function waitOf(
  { initialDelaySeconds = 0, periodSeconds, failureThreshold, successThreshold = 1 }: Probe,
  mayFail: boolean,
): readonly [least: number, most: number] {
  const period = periodSeconds ?? periodUsual;
  const least = initialDelaySeconds + (successThreshold - 1) * period;
  const looks = mayFail ? (failureThreshold ?? failuresUsual) : 1;
  return [least, least + looks * period];
}

/** The stop by preStop hooks that sleep, and by a grace period other than the usual; null: neither. */
function gracefulStop(spec: KubeObject['spec'], [least, most]: RangeMs): RangeMs | null {
  const sleep = 1000 * Math.max(0, ...containersOf(spec).map(sleepOf));
  const grace: number = spec?.terminationGracePeriodSeconds ?? graceUsual;
  if (grace === graceUsual && sleep === 0) return null;
  const end = grace === graceUsual ? sleep + most : Math.max(sleep + least, 1000 * grace);
  return [Math.min(sleep + least, 1000 * grace), Math.min(end, 1000 * grace)];
}

function sleepOf({ lifecycle }: Container): number {
  const { sleep, exec } = lifecycle?.preStop ?? {};
  if (sleep?.seconds !== undefined) return sleep.seconds;
  const [, seconds = '0'] = /\bsleep (\d+)/.exec(exec?.command?.join(' ') ?? '') ?? [];
  return Number(seconds);
}

function containersOf(spec: KubeObject['spec']): readonly Container[] {
  return spec?.containers ?? [];
}

/** The possible values, in words. */
const wanted = 'a time such as 60s, or a least and a most such as 60s-90s';

/** Reads a range; null for anything else. */
export function parseRange(text: string): RangeMs | null {
  const [first = '', last = first, ...more] = text.split('-');
  const [least, most] = [parseDuration(first.trim()), parseDuration(last.trim())];
  if (least === null || most === null || more.length > 0 || least > most) return null;
  return [least, most];
}

/** The range of a member. Throws FileFault. */
export function rangeOf(field: Field): RangeMs {
  const { value } = field;
  const range = typeof value === 'string' ? parseRange(value) : null;
  if (range) return range;
  throw field.fault(`want ${wanted}, got ${JSON.stringify(value)}`);
}

/** `1m`, `1m to 1m30s` */
export function rangeText([least, most]: RangeMs): string {
  const [from, to] = [timeText(least), timeText(most)];
  return from === to ? from : `${from} to ${to}`;
}

/** `1m30s`, and `0.5s` where seconds are too coarse. */
function timeText(millis: Millis): string {
  return millis % 1000 === 0 ? formatDuration(millis) : `${millis / 1000}s`;
}

/** A range as it is read. */
export function rangeNotation([least, most]: RangeMs): string {
  return `${least}ms-${most}ms`;
}

/** `shop/web`; the pod's own name where nothing owns it. */
export function workloadKeyOf({ metadata }: KubeObject): string {
  const { namespace = '', name, labels = {} } = metadata;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  const hash = labels['pod-template-hash'];
  const isOfDeployment = owner?.kind === 'ReplicaSet' && hash !== undefined;
  const own = owner?.name ?? name;
  const stem = isOfDeployment && own.endsWith(`-${hash}`) ? own.slice(0, -hash.length - 1) : own;
  return `${namespace}/${stem}`;
}
