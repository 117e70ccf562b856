// Reads taints as somebody types them.
import { parseTaint, type Taint } from '@taintmgr/core/model';
import { UsageError } from '../usage-error.ts';

/** Reads `key=value:effect` or `key:effect`. Throws UsageError and RangeError. */
export function readTaint(text: string): Taint {
  if (text.includes(':')) return parseTaint(text);
  throw new UsageError(`invalid taint "${text}": want key=value:effect or key:effect`);
}

/** Reads `key` or `key=value`. Throws UsageError. */
export function readKeyAndValue(text: string): Pick<Taint, 'key' | 'value'> {
  // There is no grammar of its own for them: they are read with an effect, which is forgotten.
  const whole = `${text}:NoSchedule`;
  try {
    return parseTaint(whole);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(error.message.replace(whole, () => text));
  }
}
