// All that is configured for a pool of nodes: thresholds, grace periods, reclaim.
import { parseGoDuration } from '../../kernel/go-number.ts';
import type { Millis } from '../../kernel/time.ts';
import { type FilesystemLayout, layersBeside } from '../observation/filesystems.ts';
import type { Signal } from '../signals.ts';
import {
  isHard,
  knownSignal,
  parseGracePeriod,
  parseMinimumReclaim,
  parseThresholdValue,
  type Threshold,
  type ThresholdValue,
} from './thresholds.ts';

type BySignal = Readonly<Record<string, string>>;

/**
 * The settings for the nodes of a pool, under the names and in the grammar of a kubelet's
 * configuration file (KubeletConfiguration of kubelet.config.k8s.io/v1beta1). Settings that are
 * left out have the defaults of a kubelet on Linux.
 */
export interface PressureSettingsInput {
  /** Left out: the defaults. Given: all others are off, unless they are merged. */
  readonly evictionHard?: BySignal;
  /** Thresholds with a grace period, by signal; left out: none. */
  readonly evictionSoft?: BySignal;
  /** The grace period of each soft threshold, as a Go duration: `1m30s`. */
  readonly evictionSoftGracePeriod?: BySignal;
  /** The amount that has to be available beyond a threshold once it was acted on. */
  readonly evictionMinimumReclaim?: BySignal;
  /** A Go duration, `5m0s`. */
  readonly evictionPressureTransitionPeriod?: string;
  /** Seconds; negative: as the pod has it. */
  readonly evictionMaxPodGracePeriod?: number;
  /** True: defaults hold for the signals that `evictionHard` omits. */
  readonly mergeDefaultEvictionSettings?: boolean;
  /** False: limits on local storage are not enforced. Left out: they are. */
  readonly localStorageCapacityIsolation?: boolean;
  /** `pods` enables `allocatableMemory.available`; left out: `pods`. */
  readonly enforceNodeAllocatable?: readonly string[];
  /** Where images and writable layers lie; left out: read from the observations. */
  readonly filesystemLayout?: FilesystemLayout;
  /**
   * True when the program that carries out commands can clear away unused containers and images.
   */
  readonly nodeReclaim?: boolean;
}

/** The settings of the kubelets of a pool, read and checked. */
export interface PressureSettings {
  /** The thresholds of all signals. */
  readonly thresholds: readonly Threshold[];
  /** The time a condition lasts after its threshold was last met. */
  readonly transitionPeriodMs: Millis;
  /** The longest grace period of an eviction at a soft threshold, in seconds. */
  readonly maxPodGracePeriodSeconds: number;
  /** True when limits on local storage are enforced. */
  readonly localStorageLimits: boolean;
  /** Where images and writable layers lie; null: read from the observations. */
  readonly filesystemLayout: FilesystemLayout | null;
  /** True when unused containers and images are cleared away first. */
  readonly nodeReclaim: boolean;
}

const defaultHard: BySignal = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/**
 * Reads the settings. Throws RangeError in the kubelet's words for settings with which it would not
 * start.
 */
export function resolvePressureSettings(input: PressureSettingsInput): PressureSettings {
  const transitionPeriod = input.evictionPressureTransitionPeriod ?? '5m';
  const maxPodGracePeriodSeconds = input.evictionMaxPodGracePeriod ?? 0;
  if (!Number.isInteger(maxPodGracePeriodSeconds)) {
    throw new RangeError(
      `evictionMaxPodGracePeriod: got ${maxPodGracePeriodSeconds}, want a whole number of seconds`,
    );
  }
  const transitionPeriodMs = millis(parseGoDuration(transitionPeriod));
  if (transitionPeriodMs < 0) {
    throw new RangeError(
      `evictionPressureTransitionPeriod: got ${transitionPeriod}, want 0 or more`,
    );
  }
  return {
    thresholds: parseThresholds(input),
    transitionPeriodMs,
    maxPodGracePeriodSeconds,
    localStorageLimits: input.localStorageCapacityIsolation ?? true,
    filesystemLayout: input.filesystemLayout ?? null,
    nodeReclaim: input.nodeReclaim ?? false,
  };
}

/**
 * Reads one of a kubelet's eviction flags: `memory.available<1Gi,nodefs.available<10%` with the
 * separator `<`, grace periods and reclaims with `=`. Throws RangeError in the words of
 * pkg/kubelet/eviction/helpers.go.
 */
export function parseEvictionFlag(text: string, separator: '<' | '='): BySignal {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const index = pair.indexOf(separator);
      if (index < 0) {
        throw new RangeError(`malformed pair, expect string${separator}string`);
      }
      return [pair.slice(0, index).trim(), pair.slice(index + 1).trim()];
    }),
  );
}

/** All thresholds, the hard ones first. Throws RangeError in the kubelet's words. */
export function parseThresholds(input: PressureSettingsInput): readonly Threshold[] {
  const minReclaim = parseEach(input.evictionMinimumReclaim, parseMinimumReclaim);
  const gracePeriods = parseEach(input.evictionSoftGracePeriod, parseGracePeriod);
  const threshold = (signal: Signal, value: ThresholdValue, gracePeriodMs: Millis): Threshold => {
    return { signal, value, gracePeriodMs, minReclaim: minReclaim.get(signal) ?? null };
  };
  const hard = [...parseEach(hardOf(input), parseThresholdValue)].flatMap(([signal, value]) =>
    value === null ? [] : [threshold(signal, value, 0)],
  );
  const soft = [...parseEach(input.evictionSoft, parseThresholdValue)].flatMap(
    ([signal, value]) => {
      if (value === null) return [];
      const gracePeriod = gracePeriods.get(signal);
      if (gracePeriod !== undefined) return [threshold(signal, value, millis(gracePeriod))];
      throw new RangeError(
        `grace period must be specified for the soft eviction threshold ${signal}`,
      );
    },
  );
  const allocatable = input.enforceNodeAllocatable ?? ['pods'];
  return withAllocatable([...hard, ...soft], allocatable.includes('pods'));
}

function hardOf({ evictionHard, mergeDefaultEvictionSettings }: PressureSettingsInput): BySignal {
  if (evictionHard === undefined) return defaultHard;
  return mergeDefaultEvictionSettings ? { ...defaultHard, ...evictionHard } : evictionHard;
}

function parseEach<T>(
  entries: BySignal | undefined,
  parse: (signal: string, text: string) => T,
): ReadonlyMap<Signal, T> {
  const parsed = new Map<Signal, T>();
  for (const [signal, text] of Object.entries(entries ?? {})) {
    parsed.set(knownSignal(signal), parse(signal, text));
  }
  return parsed;
}

/** A threshold for the memory of the node holds for that of all its pods together. */
function withAllocatable(thresholds: readonly Threshold[], enforced: boolean): Threshold[] {
  if (!enforced) return [...thresholds];
  const copies = thresholds
    .filter((threshold) => threshold.signal === 'memory.available' && isHard(threshold))
    .map((threshold): Threshold => ({ ...threshold, signal: 'allocatableMemory.available' }));
  return [...copies, ...thresholds];
}

/** The derived thresholds, and the given ones that they replace. */
export interface ContainerFilesystemThresholds {
  readonly thresholds: readonly Threshold[];
  readonly ignored: readonly Threshold[];
}

/**
 * Thresholds for containerfs cannot be set: those of the file system of the writable layers hold
 * for it, hard and soft, bytes and inodes. A given threshold is ignored, except for the first of
 * two hard ones (a soft one without grace is a hard one), which the kubelet overlooks.
 */
export function withContainerFilesystem(
  thresholds: readonly Threshold[],
  layout: FilesystemLayout,
): ContainerFilesystemThresholds {
  const last = (signal: string, hard: boolean): readonly Threshold[] =>
    thresholds
      .filter((threshold) => threshold.signal === signal && isHard(threshold) === hard)
      .slice(-1);
  const kinds = derivedSignals.flatMap(([field, signal]) =>
    [true, false].map((hard) => ({ field, signal, hard })),
  );
  const ignored = kinds.flatMap(({ signal, hard }) => last(signal, hard));
  const copies = kinds.flatMap(({ field, signal, hard }) =>
    last(`${layersBeside[layout]}.${field}`, hard).map((threshold) => ({ ...threshold, signal })),
  );
  const others = thresholds.filter((threshold) => !ignored.includes(threshold));
  return { thresholds: [...copies, ...others], ignored };
}

const derivedSignals = [
  ['available', 'containerfs.available'],
  ['inodesFree', 'containerfs.inodesFree'],
] as const;

function millis(nanos: bigint): Millis {
  return Number(nanos) / 1e6;
}
