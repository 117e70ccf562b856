// Durations of the configuration file, which the engine takes in milliseconds.
import { parseDuration } from '@taintmgr/core/time';

/** What the engine takes, as the file has it: `holdMs: 60_000` is `hold: 1m` there. */
export type Written<T> = {
  [K in keyof T as K extends `${infer Name}Ms` ? Name : K]: K extends `${string}Ms`
    ? string | Exclude<T[K], number>
    : T[K];
};

type OrUndefined<T> = { readonly [K in keyof T]: T[K] | undefined };

const durations: readonly string[] = [
  ...['deleteAfter', 'minTaintAge', 'window', 'podEvictionTimeout'],
  ...['healthy', 'within', 'hold', 'holds', 'clear'],
];

/** What the engine takes for these fields, without those that are undefined. */
export function inMillis<T extends object>(fields: OrUndefined<Written<T>>): T {
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
