// How each published setting that predictions go by is read.
import type { Config } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import { parseDuration } from '@taintmgr/core/time';
import { selectorFrom } from '../proto/convert.ts';
import { asRecord, isRecord, parseJson } from '../proto/json.ts';

/** What one setting changes. */
export interface Chosen {
  readonly engine?: Partial<Omit<Config, 'lifecycle'>>;
  readonly lifecycle?: Partial<LifecycleConfig>;
  /** Whether policies and pauses of the cluster count. */
  readonly followsCluster?: boolean;
}

/** Null: the value cannot be read. Whether it is allowed the engine says. */
export type SettingReader = (text: string) => Chosen | null;

/** A value; null: the text is none. */
type Kind<T> = (text: string) => T | null;

function engine<K extends keyof Config>(field: K, kind: Kind<Config[K]>): SettingReader {
  return (text) => inField(kind(text), (value) => ({ engine: { [field]: value } }));
}

function lifecycle<K extends keyof LifecycleConfig>(
  field: K,
  kind: Kind<LifecycleConfig[K]>,
): SettingReader {
  return (text) => inField(kind(text), (value) => ({ lifecycle: { [field]: value } }));
}

function inField<T>(value: T | null, chosen: (value: T) => Chosen): Chosen | null {
  return value === null ? null : chosen(value);
}

function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  return (text) => words.find((word) => word === text) ?? null;
}

const boolean: Kind<boolean> = (text) => (text === 'true' ? true : text === 'false' ? false : null);
const number: Kind<number> = (text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : null);

const modes = choice('delete', 'evict', 'evictThenDelete');

/** A mode as flags have it, of one that is written as an action of a policy or with hyphens. */
export function modeNamed(text: string): string {
  const joined = text.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return joined.replace(/^[A-Z]/, (letter) => letter.toLowerCase());
}

/** By the name of the flag, or of the field of the configuration file where there is no flag. */
export const settingReaders: ReadonlyMap<string, SettingReader> = new Map([
  ['mode', engine('mode', (text) => modes(modeNamed(text)))],
  ['semantics', engine('semantics', choice('precise', 'upstream-1.36'))],
  ['takeover', engine('takeover', boolean)],
  ['delete-after', readDeleteAfter],
  ['feature-gates', readGates],
  ['cluster-policies', (text) => inField(boolean(text), (followsCluster) => ({ followsCluster }))],
  ['eviction.gracePeriodSeconds', engine('gracePeriodSeconds', number)],
  ['eviction.minTaintAge', engine('minTaintAgeMs', parseDuration)],
  ['eviction.heedNodeDeadlines', engine('heedNodeDeadlines', boolean)],
  ['eviction.leave', engine('leave', readLeave)],
  ['node-monitor-period', lifecycle('nodeMonitorPeriodMs', parseDuration)],
  ['node-monitor-grace-period', lifecycle('nodeMonitorGracePeriodMs', parseDuration)],
  ['node-startup-grace-period', lifecycle('nodeStartupGracePeriodMs', parseDuration)],
  ['node-eviction-rate', lifecycle('nodeEvictionRate', number)],
  ['secondary-node-eviction-rate', lifecycle('secondaryNodeEvictionRate', number)],
  ['large-cluster-size-threshold', lifecycle('largeClusterSizeThreshold', number)],
  ['unhealthy-zone-threshold', lifecycle('unhealthyZoneThreshold', number)],
  ['nodeLifecycle.enforcement', lifecycle('enforcement', choice('taints', 'pods'))],
  ['nodeLifecycle.podEvictionTimeout', lifecycle('podEvictionTimeoutMs', parseDuration)],
  ['nodeLifecycle.zoneMembers', lifecycle('zoneMembers', readZoneMembers)],
  ['nodeLifecycle.fullDisruption', lifecycle('fullDisruption', choice('evict', 'hold'))],
  ['nodeLifecycle.podReadiness', lifecycle('podReadiness', choice('limited', 'atOnce'))],
  ['nodeLifecycle.healthy', lifecycle('healthyMs', parseDuration)],
  ['nodeLifecycle.massUnreachable', readMassUnreachable],
  ['nodeLifecycle.flapping', lifecycle('flapping', readFlapping)],
]);

function readDeleteAfter(text: string): Chosen | null {
  if (text === 'never') return { engine: { deleteAfterMs: null } };
  return inField(parseDuration(text), (deleteAfterMs) => ({ engine: { deleteAfterMs } }));
}

const gate = /^TaintTolerationComparisonOperators=(true|1|false|0)$/i;

/** A gate that is not known may change anything. */
function readGates(text: string): Chosen | null {
  const values = text === '' ? [] : text.split(',').map((one) => gate.exec(one.trim())?.[1]);
  if (values.includes(undefined)) return null;
  return { engine: { comparisonOperators: /^(true|1)$/i.test(values.at(-1) ?? '') } };
}

function readLeave(text: string): Config['leave'] | null {
  const { finishedPods, returningDaemonSetPods, optedOutPods } = asRecord(parseJson(text));
  const [finished, returning, optedOut] = [finishedPods, returningDaemonSetPods, optedOutPods];
  if (![finished, returning, optedOut].every((value) => typeof value === 'boolean')) return null;
  return {
    finishedPods: finished === true,
    returningDaemonSetPods: returning === true,
    optedOutPods: optedOut === true,
  };
}

function readZoneMembers(text: string): LifecycleConfig['zoneMembers'] | null {
  const selector = parseJson(text);
  return isRecord(selector) ? selectorFrom(selector) : null;
}

function readMassUnreachable(text: string): Chosen | null {
  if (text === 'null') return { lifecycle: { massUnreachable: null } };
  const value = parseJson(text);
  if (!isRecord(value)) return null;
  const { share, nodesMin, within, hold } = value;
  const times = { withinMs: millisOf(within), holdMs: millisOf(hold) };
  const massUnreachable = { share: Number(share), nodesMin: Number(nodesMin), ...times };
  return { lifecycle: { massUnreachable } };
}

function readFlapping(text: string): LifecycleConfig['flapping'] {
  const value = parseJson(text);
  if (!isRecord(value)) return null;
  const { times, within, healthy } = value;
  return { times: Number(times), withinMs: millisOf(within), healthyMs: millisOf(healthy) };
}

/** What is no duration the engine refuses. */
function millisOf(value: unknown): number {
  return (typeof value === 'string' ? parseDuration(value) : null) ?? Number.NaN;
}
