import { isDeepStrictEqual } from 'node:util';
import { quantityValue } from '../../src/model/quantity.ts';
import type { FilesystemLayout } from '../../src/pressure/observation/filesystems.ts';
import { parseThresholds, withContainerFilesystem } from '../../src/pressure/settings/settings.ts';
import {
  amountOf,
  parseGracePeriod,
  parseMinimumReclaim,
  parseThresholdValue,
  type Threshold,
  type ThresholdValue,
} from '../../src/pressure/settings/thresholds.ts';
import { gracePeriodNs, isInert, type VectorThreshold, valueText } from './kubelet-objects.ts';

type Case = { readonly error: boolean; readonly errorMessage?: string } & (
  | {
      readonly kind: 'statement';
      readonly signal: string;
      readonly statement: string;
      readonly ignored?: boolean;
      readonly threshold?: VectorThreshold & {
        readonly absoluteForCapacity?: readonly (readonly [number, number])[];
      };
    }
  | {
      readonly kind: 'gracePeriod';
      readonly signal: string;
      readonly statement: string;
      readonly gracePeriodNs?: number | string;
    }
  | {
      readonly kind: 'minimumReclaim';
      readonly signal: string;
      readonly statement: string;
      readonly minReclaim?: VectorThreshold['value'];
    }
  | ConfigCase
);

type BySignal = Readonly<Record<string, string>>;

interface ConfigCase {
  readonly kind: 'config';
  readonly enforceNodeAllocatable: readonly string[] | null;
  readonly evictionHard: BySignal;
  readonly evictionSoft: BySignal;
  readonly evictionSoftGracePeriod: BySignal;
  readonly evictionMinimumReclaim: BySignal;
  readonly thresholds?: readonly VectorThreshold[];
  readonly containerFs?: {
    readonly dedicatedImageFs: boolean;
    readonly splitContainerImageFs: boolean;
    readonly thresholds: readonly VectorThreshold[];
    readonly warned: boolean;
  };
}

/** What differs from the kubelet's reading of its flags; null when nothing does. */
export function checkThresholdParse(recorded: Case): string | null {
  let ours: unknown;
  try {
    ours = read(recorded);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    if (!recorded.error) return `refused: ${error.message}`;
    const { errorMessage = error.message } = recorded;
    return error.message === errorMessage ? null : `refused with ${error.message}`;
  }
  if (recorded.error) return `accepted: ${JSON.stringify(ours)}`;
  const theirs = expected(recorded);
  return isDeepStrictEqual(ours, theirs)
    ? null
    : `read ${JSON.stringify(ours)}, want ${JSON.stringify(theirs)}`;
}

function read(recorded: Case): unknown {
  switch (recorded.kind) {
    case 'statement': {
      const value = parseThresholdValue(recorded.signal, recorded.statement);
      if (value === null) return 'ignored';
      const capacities = recorded.threshold?.absoluteForCapacity ?? [];
      return {
        value: describeValue(value),
        absolute: capacities.map(([capacity]) => [capacity, amountOf(value, capacity) + 0]),
      };
    }
    case 'gracePeriod':
      return parseGracePeriod(recorded.signal, recorded.statement).toString();
    case 'minimumReclaim':
      return describeValue(parseMinimumReclaim(recorded.signal, recorded.statement));
    case 'config':
      return readConfig(recorded);
  }
}

function readConfig({ enforceNodeAllocatable, containerFs, ...settings }: ConfigCase): unknown {
  const thresholds = parseThresholds({
    ...settings,
    enforceNodeAllocatable: enforceNodeAllocatable ?? [],
  });
  if (!containerFs) return { thresholds: sorted(thresholds.map(describe)) };
  const derived = withContainerFilesystem(thresholds, layoutOf(containerFs));
  return {
    thresholds: sorted(thresholds.map(describe)),
    derived: sorted(derived.thresholds.map(describe)),
    warned: derived.ignored.length > 0,
  };
}

function expected(recorded: Case): unknown {
  switch (recorded.kind) {
    case 'statement': {
      if (recorded.ignored || !recorded.threshold) return 'ignored';
      const { value, absoluteForCapacity = [] } = recorded.threshold;
      return { value: valueText(value), absolute: absoluteForCapacity };
    }
    case 'gracePeriod':
      return String(recorded.gracePeriodNs);
    case 'minimumReclaim':
      return recorded.minReclaim && valueText(recorded.minReclaim);
    case 'config': {
      const thresholds = sorted((recorded.thresholds ?? []).map(describeVector));
      const { containerFs } = recorded;
      if (!containerFs) return { thresholds };
      const derived = containerFs.thresholds.filter((threshold) => !isInert(threshold));
      return {
        thresholds,
        derived: sorted(derived.map(describeVector)),
        warned: containerFs.warned,
      };
    }
  }
}

function layoutOf({
  dedicatedImageFs,
  splitContainerImageFs,
}: NonNullable<ConfigCase['containerFs']>): FilesystemLayout {
  if (!dedicatedImageFs) return 'single';
  return splitContainerImageFs ? 'splitImages' : 'dedicatedImages';
}

/** The recording's order is arbitrary. */
function sorted(thresholds: readonly string[]): readonly string[] {
  return [...thresholds].sort();
}

function describe({ signal, value, gracePeriodMs, minReclaim }: Threshold): string {
  const reclaim = minReclaim && describeValue(minReclaim);
  return JSON.stringify([signal, describeValue(value), gracePeriodMs * 1e6, reclaim]);
}

function describeVector(threshold: VectorThreshold): string {
  const { signal, value, minReclaim = null } = threshold;
  const reclaim = minReclaim && valueText(minReclaim);
  return JSON.stringify([signal, valueText(value), gracePeriodNs(threshold), reclaim]);
}

function describeValue(value: ThresholdValue): string {
  if (value.kind === 'percentage') return `${float32Text(value.fraction)} of the capacity`;
  const { text, nanos, format } = value.quantity;
  const units = nanos / 10n ** 9n;
  const rest = (nanos % 10n ** 9n).toString().padStart(9, '0').replace(/0+$/, '');
  const exact = rest === '' ? `${units}` : `${units}.${rest}`;
  return `${text} = ${exact} ${format} ~ ${quantityValue(value.quantity)}`;
}

/** The recording has the shortest decimal that a float32 is read from. */
function float32Text(fraction: number): string {
  return Object.is(fraction, -0) ? '-0' : String(fraction);
}
