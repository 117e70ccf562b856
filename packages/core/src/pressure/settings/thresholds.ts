import { parseFloat32, parseGoDuration } from '../../kernel/go-number.ts';
import type { Millis } from '../../kernel/time.ts';
import {
  formatAmount,
  parseQuantity,
  type Quantity,
  quantityValue,
  zero,
} from '../../model/quantity.ts';
import { isSignal, type Signal } from '../signals.ts';

/** An amount, or a part of the capacity. */
export type ThresholdValue =
  | { readonly kind: 'quantity'; readonly quantity: Quantity }
  /** `fraction` is a float32, as in the kubelet: the same percentages then give the same bytes. */
  | { readonly kind: 'percentage'; readonly fraction: number };

/** A threshold of a signal: what must stay available, and how long it may not. */
export interface Threshold {
  /** The signal. */
  readonly signal: Signal;
  /** The least that has to be available. */
  readonly value: ThresholdValue;
  /** 0: a hard threshold, acted on at once. Anything else: a soft one. */
  readonly gracePeriodMs: Millis;
  /** Once acted on, this much more than the value has to be available; null: no more. */
  readonly minReclaim: ThresholdValue | null;
}

/** True when a threshold is acted on at once. */
export function isHard({ gracePeriodMs }: Pick<Threshold, 'gracePeriodMs'>): boolean {
  return gracePeriodMs === 0;
}

/**
 * The amount that a value stands for. A number that no 64-bit integer holds becomes the smallest
 * one, as in Go on amd64: NaN is met by nothing.
 */
export function amountOf(value: ThresholdValue | null, capacity: number): number {
  if (value === null) return 0;
  if (value.kind === 'quantity') return quantityValue(value.quantity);
  const amount = Math.trunc(capacity * value.fraction);
  return Math.abs(amount) < 2 ** 63 ? amount : -(2 ** 63);
}

/** The amount as the kubelet's messages print it. */
export function formatThresholdAmount(value: ThresholdValue, capacity: number): string {
  return value.kind === 'quantity' ? value.quantity.text : formatAmount(amountOf(value, capacity));
}

/** Writes a threshold as people do: `memory.available<100Mi for 1m30s`. */
export function formatThreshold({ signal, value }: Threshold): string {
  return `${signal}<${formatValue(value)}`;
}

function formatValue(value: ThresholdValue): string {
  if (value.kind === 'quantity') return value.quantity.text;
  // Seven digits are what a float32 holds.
  return `${Number((value.fraction * 100).toPrecision(7))}%`;
}

/** Identifies a threshold among those of a node. */
export function thresholdKey({ signal, value, gracePeriodMs }: Threshold): string {
  const amount = value.kind === 'quantity' ? value.quantity.text : value.fraction;
  return `${signal}|${amount}|${gracePeriodMs}`;
}

/**
 * Reads one entry of evictionHard or evictionSoft; null for `0%` and `100%`, which switch the
 * signal off. Throws RangeError in the kubelet's words.
 */
export function parseThresholdValue(signal: string, text: string): ThresholdValue | null {
  knownSignal(signal);
  if (text === '0%' || text === '100%') return null;
  if (text.endsWith('%')) {
    const fraction = parsePercentage(text);
    const fault = `eviction percentage threshold ${signal} must be`;
    if (fraction < 0) throw new RangeError(`${fault} >= 0%: ${text}`);
    if (fraction > 1) throw new RangeError(`${fault} <= 100%: ${text}`);
    return { kind: 'percentage', fraction };
  }
  const quantity = parseQuantity(text);
  if (quantity.nanos <= 0n) {
    throw new RangeError(`eviction threshold ${signal} must be positive: ${quantity.text}`);
  }
  return { kind: 'quantity', quantity };
}

/** Reads one entry of evictionSoftGracePeriod, in nanoseconds. Throws RangeError, as above. */
export function parseGracePeriod(signal: string, text: string): bigint {
  knownSignal(signal);
  const nanos = parseGoDuration(text);
  if (nanos < 0n) {
    const fault = `invalid eviction grace period specified: ${text}, must be a positive value`;
    throw new RangeError(fault);
  }
  return nanos;
}

/** Reads one entry of evictionMinimumReclaim. Throws RangeError, as above. */
export function parseMinimumReclaim(signal: string, text: string): ThresholdValue {
  knownSignal(signal);
  if (text.endsWith('%')) {
    const fraction = parsePercentage(text);
    if (fraction <= 0) {
      const fault = `eviction percentage minimum reclaim ${signal} must be positive: ${text}`;
      throw new RangeError(fault);
    }
    return { kind: 'percentage', fraction };
  }
  const quantity = parseQuantity(text);
  if (quantity.nanos < zero.nanos) {
    throw new RangeError(`negative eviction minimum reclaim specified for ${signal}`);
  }
  return { kind: 'quantity', quantity };
}

/** The signal of that name. Throws RangeError, as above. */
export function knownSignal(name: string): Signal {
  if (!isSignal(name)) throw new RangeError(`unsupported eviction signal ${name}`);
  return name;
}

/** All percent signs at the end are cut. The arithmetic is that of float32. */
function parsePercentage(text: string): number {
  let end = text.length;
  while (text[end - 1] === '%') end--;
  return Math.fround(parseFloat32(text.slice(0, end)) / 100);
}
