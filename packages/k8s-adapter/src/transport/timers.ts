import type { Millis } from '@taintmgr/core/time';

/**
 * Time that passes; it cannot be set. The same as `performance.now()` but for its beginning, with
 * which Node loads all that it has for measuring: that would be a noticeable part of a short
 * command.
 */
export function monotonic(): Millis {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1000 + nanos / 1e6;
}

/** The limit of setTimeout, which calls at once beyond it. */
export const timerMsMax: Millis = 2 ** 31 - 1;
