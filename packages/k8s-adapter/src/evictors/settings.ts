// The settings that a taintmgr-controller publishes, as an engine takes them that answers in its place.

import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import { type Config, resolveConfig } from '@taintmgr/core/model';
import { parseDuration } from '@taintmgr/core/time';
import { selectorFrom } from '../proto/convert.ts';
import { asRecord, isRecord, parseJson } from '../proto/json.ts';
import { modeWords, rulesWords, semanticsOf, spelled } from '../text/vocabulary.ts';
import { declaringFlag, deviceController } from './judge.ts';

/** The sum of published settings. */
export interface ReadSettings {
  /** The configuration of the engine; what is not published is left out. */
  readonly engine: NonNullable<Chosen['engine']>;
  /** The configuration of node lifecycle; what is not published is left out. */
  readonly lifecycle: Partial<LifecycleConfig>;
  /** True if policies and pauses of the cluster count. */
  readonly followsCluster: boolean;
  /** The settings that could not be used, as `name=value`. */
  readonly unusable: readonly string[];
}

const defaultSettings: ReadSettings = {
  engine: {},
  lifecycle: {},
  followsCluster: true,
  unusable: [],
};

/** Reads them by their names; those that change no prediction are left out. Never throws. */
export function readSettings(settings: Readonly<Record<string, string>>): ReadSettings {
  // The chosen rules decide what else is allowed.
  const names = Object.keys(settings).sort((a, b) => rankOf(a) - rankOf(b));
  const unusable: string[] = [];
  let read = defaultSettings;
  for (const name of names) {
    const value = settings[name] ?? '';
    const after = withSetting(read, name, value);
    if (after === null) unusable.push(`${name}=${value}`);
    else read = after;
  }
  const isUpstream = read.engine.semantics === 'upstream-1.36';
  return { ...read, unusable, followsCluster: read.followsCluster && !isUpstream };
}

function rankOf(name: string): number {
  return name === 'semantics' ? 0 : 1;
}

/** Null: this one cannot be used. */
function withSetting(before: ReadSettings, name: string, value: string): ReadSettings | null {
  if (isWithoutEffect(name)) return before;
  const chosen = settingReaders.get(name)?.(value) ?? null;
  if (!chosen) return null;
  const engine = { ...before.engine, ...chosen.engine };
  const lifecycle = { ...before.lifecycle, ...chosen.lifecycle };
  if (!isAllowed({ ...engine, lifecycle })) return null;
  return {
    ...before,
    engine,
    lifecycle,
    followsCluster: chosen.followsCluster ?? before.followsCluster,
  };
}

function isAllowed(config: Partial<Config>): boolean {
  try {
    resolveConfig(config);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** True for the way and the speed at which it is run: no prediction depends on these. */
function isWithoutEffect(name: string): boolean {
  return withoutEffect.has(name) || prefixesWithoutEffect.test(name);
}

const prefixesWithoutEffect = /^(leader-elect|kube-api-|node-pressure-|summary-|eviction-)/;
const withoutEffect: ReadonlySet<string> = new Set([
  ...['allow-overlap', 'concurrent-evictions', 'kubelet-certificate-authority'],
  ...['dry-run', 'pod-watch', 'publish-status', declaringFlag],
]);

/** The changes that one setting makes. */
interface Chosen {
  readonly engine?: Partial<Omit<Config, 'lifecycle'>>;
  readonly lifecycle?: Partial<LifecycleConfig>;
  /** True if policies and pauses of the cluster count. */
  readonly followsCluster?: boolean;
}

/** Null: the value cannot be read. The engine says whether it is allowed. */
type SettingReader = (text: string) => Chosen | null;

/** A value; null: the text is invalid. */
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
  return (text) => spelled(text, words)?.word ?? null;
}

const boolean: Kind<boolean> = (text) => (text === 'true' ? true : text === 'false' ? false : null);
const number: Kind<number> = (text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : null);

/** By the name of the flag, or of the field of the configuration file where there is no flag. */
const settingReaders: ReadonlyMap<string, SettingReader> = new Map([
  ['mode', engine('mode', choice(...modeWords))],
  ['semantics', engine('semantics', readRules)],
  ['takeover', engine('takeover', boolean)],
  ['controllers', readControllers],
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
  ['nodeLifecycle.podReadiness', lifecycle('podReadiness', choice('limited', 'at-once'))],
  ['nodeLifecycle.healthy', lifecycle('healthyMs', parseDuration)],
  ['nodeLifecycle.massUnreachable', readMassUnreachable],
  ['nodeLifecycle.flapping', lifecycle('flapping', readFlapping)],
]);

function readRules(text: string): Config['semantics'] | null {
  const word = spelled(text, rulesWords)?.word;
  return word === undefined ? null : semanticsOf(word);
}

/** Only the device controller adds to the decision; it runs where it first has no dash. */
function readControllers(text: string): Chosen {
  const named = text.split(',').find((name) => name.replace(/^-/, '') === deviceController);
  return named === deviceController ? { engine: { deviceTaints: true } } : {};
}

function readDeleteAfter(text: string): Chosen | null {
  if (text === 'never') return { engine: { deleteAfterMs: null } };
  return inField(parseDuration(text), (deleteAfterMs) => ({ engine: { deleteAfterMs } }));
}

const gate = /^(?:\w+:)?(\w+)=(true|1|false|0)$/i;

/** Gates of other programs, as a start line of kube-controller-manager has them, change nothing. */
function readGates(text: string): Chosen | null {
  const entries = text === '' ? [] : text.split(',').map((one) => gate.exec(one.trim()));
  if (entries.includes(null)) return null;
  const ours = entries.findLast((entry) => entry?.[1] === 'TaintTolerationComparisonOperators');
  return { engine: { comparisonOperators: /^(true|1)$/i.test(ours?.[2] ?? '') } };
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

/** The engine refuses all that is no duration. */
function millisOf(value: unknown): number {
  return (typeof value === 'string' ? parseDuration(value) : null) ?? Number.NaN;
}
