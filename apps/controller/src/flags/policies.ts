// The parts of the configuration file about evictions that no flag can give.
import type { Config } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import { parseDuration } from '@taintmgr/core/time';
import type { ConfigFile } from './config-file.ts';

/** Values for all pods without a policy. */
type Defaults = Partial<Pick<Config, 'gracePeriodSeconds' | 'minTaintAgeMs' | 'heedNodeDeadlines'>>;

/** `eviction` as the schema describes it, without the settings that have a flag. */
interface EvictionFields extends Written<Defaults> {
  readonly leave?: Partial<Config['leave']>;
}

/** Reads the policies of the file, without those that it leaves out. */
export function evictionPolicies(file: ConfigFile): Partial<Config> {
  const fields: EvictionFields = file.eviction ?? {};
  const { gracePeriodSeconds, minTaintAge, heedNodeDeadlines, leave } = fields;
  const none = { finishedPods: false, returningDaemonSetPods: false, optedOutPods: false };
  return {
    ...inMillis<Defaults>({ gracePeriodSeconds, minTaintAge, heedNodeDeadlines }),
    ...(leave && { leave: { ...none, ...leave } }),
  };
}

type Plain = Partial<
  Pick<
    LifecycleConfig,
    | 'enforcement'
    | 'podEvictionTimeoutMs'
    | 'zoneMembers'
    | 'fullDisruption'
    | 'podReadiness'
    | 'healthyMs'
  >
>;
type MassUnreachable = NonNullable<LifecycleConfig['massUnreachable']>;
type Flapping = NonNullable<LifecycleConfig['flapping']>;

/** `nodeLifecycle` as the schema describes it, without the settings that have a flag. */
interface LifecycleFields extends Written<Plain> {
  readonly massUnreachable?: Written<MassUnreachable> | null;
  readonly flapping?: Written<Flapping>;
}

/** The settings for nodes that only the configuration file has; what it leaves out is left out here. */
export function lifecyclePolicies(file: ConfigFile): Partial<LifecycleConfig> {
  const fields: LifecycleFields = file.nodeLifecycle ?? {};
  const { massUnreachable, flapping, ...others } = fields;
  const { enforcement, podEvictionTimeout, zoneMembers, fullDisruption, podReadiness, healthy } =
    others;
  const plain = {
    enforcement,
    podEvictionTimeout,
    zoneMembers,
    fullDisruption,
    podReadiness,
    healthy,
  };
  return {
    ...inMillis<Plain>(plain),
    ...(massUnreachable !== undefined && {
      massUnreachable: massUnreachable && inMillis<MassUnreachable>(massUnreachable),
    }),
    ...(flapping && { flapping: inMillis<Flapping>(flapping) }),
  };
}

/** The engine's settings as the file has them: `holdMs: 60_000` is `hold: 1m` there. */
type Written<T> = {
  [K in keyof T as K extends `${infer Name}Ms` ? Name : K]: K extends `${string}Ms`
    ? string | Exclude<T[K], number>
    : T[K];
};

type OrUndefined<T> = { readonly [K in keyof T]: T[K] | undefined };

const durations: readonly string[] = [
  ...['deleteAfter', 'minTaintAge', 'window', 'podEvictionTimeout'],
  ...['healthy', 'within', 'hold', 'holds', 'clear'],
];

/** The engine's settings from these fields, without those that are undefined. */
function inMillis<T extends object>(fields: OrUndefined<Written<T>>): T {
  const entries = Object.entries<unknown>(fields).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return durations.includes(name) ? [[`${name}Ms`, millisOf(String(value))]] : [[name, value]];
  });
  // The names of the fields are those of T, which Object.entries cannot say.
  return Object.fromEntries(entries) as T;
}

/** The schema has checked the form. */
function millisOf(duration: string): number {
  return Math.round(parseDuration(duration) ?? 0);
}
