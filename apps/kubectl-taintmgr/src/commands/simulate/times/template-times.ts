// How long a pod takes to start and stop, as far as its spec says: probes, hooks, its grace period.
import type { KubeObject, RangeMs } from '@taintmgr/sim-cluster';

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

/** What Kubernetes takes where nobody says otherwise. */
const periodUsual = 10;
const failuresUsual = 3;
const graceUsual = 30;

/**
 * The start by its probes; null: it has none. A pod is not ready before the first delay is over; its
 * startup probe may fail until it gives up, and the readiness probe looks once more a period later.
 */
export function probedStart(spec: KubeObject['spec'], [least, most]: RangeMs): RangeMs | null {
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
export function gracefulStop(spec: KubeObject['spec'], [least, most]: RangeMs): RangeMs | null {
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
