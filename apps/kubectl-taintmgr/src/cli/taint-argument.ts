import { parseTaint, type Taint } from '@taintmgr/core';
import { UsageError } from '../usage-error.ts';

/** Reads a taint as somebody types it. Throws UsageError and RangeError. */
export function readTaint(text: string): Taint {
  if (text.includes(':')) return parseTaint(text);
  throw new UsageError(`invalid taint "${text}": want key=value:effect or key:effect`);
}
