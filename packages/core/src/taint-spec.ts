import type { Taint } from './model.ts';

/** How people write a taint: `key=value:effect`, `key:effect` without a value. */
export function formatTaint(taint: Pick<Taint, 'key' | 'value' | 'effect'>): string {
  const value = taint.value === '' ? '' : `=${taint.value}`;
  return `${taint.key}${value}:${taint.effect}`;
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const namePattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const prefixPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Reads a taint as written for `kubectl taint`: `key=value:effect` or `key:effect`. Throws
 * RangeError naming the part that is wrong and what is allowed there.
 */
export function parseTaint(text: string): Taint {
  const match = /^([^=:]*)(?:=([^=:]*))?:([^=:]*)$/.exec(text);
  if (!match) refuse(text, 'want key=value:effect or key:effect');
  const [, key = '', value = '', effect = ''] = match;
  const wrongKey = qualifiedNameFault(key);
  if (wrongKey) refuse(text, `key "${key}": ${wrongKey}`);
  const wrongValue = value === '' ? null : nameFault(value);
  if (wrongValue) refuse(text, `value "${value}": ${wrongValue}`);
  if (!effects.includes(effect)) refuse(text, `effect "${effect}": want ${effects.join(', ')}`);
  return { key, value, effect, timeAdded: null };
}

/** What is wrong with a label-like key (`name` or `prefix/name`); null when it is fine. */
function qualifiedNameFault(key: string): string | null {
  const parts = key.split('/');
  if (parts.length > 2) return 'want name or prefix/name';
  const [name = '', prefix] = parts.reverse();
  if (prefix !== undefined && (prefix.length > 253 || !prefixPattern.test(prefix))) {
    return 'the prefix must be a lower-case DNS subdomain of at most 253 characters';
  }
  return nameFault(name);
}

function nameFault(name: string): string | null {
  if (name.length >= 1 && name.length <= 63 && namePattern.test(name)) return null;
  return "want 1 to 63 of letters, digits, '-', '_' and '.', beginning and ending alphanumeric";
}

function refuse(text: string, fault: string): never {
  throw new RangeError(`invalid taint "${text}": ${fault}`);
}
