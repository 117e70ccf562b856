// How long pods take to start and to stop in a simulation, and where that is from.
import {
  defaultTiming,
  type KubeObject,
  type PodTiming,
  type RangeMs,
} from '@taintmgr/sim-cluster';
import { parseRange } from './ranges.ts';
import { gracefulStop, probedStart } from './template-times.ts';
import { workloadKeyOf } from './workload-key.ts';

/** What a script says of a workload; null: nothing. */
export interface SaidTimes {
  readonly start: RangeMs | null;
  readonly stop: RangeMs | null;
}

/** Where a time is from, the first that says something. */
type TimeFrom = 'script' | 'annotation' | 'observed' | 'probes' | 'grace' | 'usual';

/** How long something takes, and who says so. */
export interface AssumedTime {
  readonly leastSeconds: number;
  readonly mostSeconds: number;
  readonly from: TimeFrom;
}

/** What is assumed of the pods of a workload. */
export interface Assumption {
  /** `Deployment shop/web` */
  readonly workload: string;
  readonly start: AssumedTime;
  readonly stop: AssumedTime;
}

/** On the pods of a workload, by its template: as `startTime` and `stopTime` of a topology. */
export const timeAnnotations = {
  start: 'taintmgr.dev/start-time',
  stop: 'taintmgr.dev/stop-time',
} as const;

interface Timed {
  readonly range: RangeMs;
  readonly from: TimeFrom;
}

type Kind = keyof typeof timeAnnotations;

/** Looks up how long pods take. */
export class PodTimes {
  readonly #said: ReadonlyMap<string, SaidTimes>;
  readonly #observed: ReadonlyMap<string, RangeMs>;

  /** What a script says and what was seen of starts, by workloads such as `shop/web`. */
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
