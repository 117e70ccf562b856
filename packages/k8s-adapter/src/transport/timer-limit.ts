import type { Millis } from '@taintmgr/core/time';

/** setTimeout takes no more, and calls at once what is to wait longer. */
export const timerMsMax: Millis = 2 ** 31 - 1;
