import { isIP } from 'node:net';
import { parseEvictionFlag } from '@taintmgr/core/pressure';
import { type Millis, parseDuration } from '@taintmgr/core/time';
import { declaredIn, duties, shownUrl } from '@taintmgr/k8s-adapter';
import { spelled } from '@taintmgr/k8s-adapter/command-line';
import type { DryRun } from '../transport/dry-run.ts';

/** The form of each kind of value on command lines, in variables and in files. */
export interface Kind<T> {
  /** As help shows it: `<duration>`. */
  readonly placeholder: string;
  /** The values that are allowed, to end the sentence "want ...". */
  readonly want: string;
  /** True for a URL, which may contain a password: no message repeats the value. */
  readonly isUrl?: true;
  /** Null for a text that is not allowed. */
  parse(text: string): T | null;
  /** The current spelling of an allowed text; left out or null: the text is spelled correctly. */
  readonly hint?: (text: string) => string | null;
  /** Back to text that `parse` takes. */
  format(value: T): string;
}

/**
 * The value that a text is; a hint at its spelling is added to `hints`. Throws SettingError naming the place where
 * it stands.
 */
export function read<T>(kind: Kind<T>, where: string, text: string, hints: string[] = []): T {
  const value = kind.parse(text);
  if (value !== null) {
    const hint = kind.hint?.(text) ?? null;
    if (hint !== null) hints.push(`${where}: ${hint}`);
    return value;
  }
  if (kind.isUrl) throw SettingError.saying(`${where}: got ${shownUrl(text)}, want ${kind.want}`);
  throw new SettingError(where, text, kind.want);
}

/** Any text, '' included. */
export function text(placeholder: string): Kind<string> {
  return { placeholder, want: 'text', parse: (value) => value, format: (value) => value };
}

/** An address of a server, without credentials; '' stands for none. */
export const httpUrl: Kind<string> = {
  placeholder: '<url>',
  want: 'an http or https address without credentials, such as http://host:8081',
  isUrl: true,
  parse: (value) => (value === '' || isHttpUrl(value) ? value : null),
  format: (value) => value,
};

function isHttpUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
}

/** A setting with one of these words. */
export function choice<const T extends string>(words: readonly T[]): Kind<T> {
  return {
    placeholder: `<${words.join('|')}>`,
    want: words.join(' or '),
    parse: (value) => spelled(value, words)?.word ?? null,
    hint: (value) => spelled(value, words)?.hint ?? null,
    format: (value) => value,
  };
}

/** Decimal digits only. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): Kind<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  return {
    placeholder: '<number>',
    want: `a whole number ${range}`,
    parse: (value) => (/^-?\d+$/.test(value) ? within(Number(value), min, max) : null),
    format: String,
  };
}

/** With or without a fraction, such as 0.55. */
export function fractionalNumber(min: number, max: number = Number.MAX_VALUE): Kind<number> {
  const range = max === Number.MAX_VALUE ? `from ${min}` : `from ${min} to ${max}`;
  return {
    placeholder: '<number>',
    want: `a number ${range}`,
    parse: (value) => (/^\d+(\.\d+)?$/.test(value) ? within(Number(value), min, max) : null),
    format: String,
  };
}

/** As kubectl takes it, in whole milliseconds. */
export function duration(min: Millis): Kind<Millis> {
  const range = min === 0 ? '' : ` from ${formatMillis(min)}`;
  return {
    placeholder: '<duration>',
    want: `a duration${range} such as 30s, 10m or 1h30m`,
    parse: (value) => within(wholeMillis(value), min, Number.MAX_SAFE_INTEGER),
    format: formatMillis,
  };
}

function wholeMillis(value: string): Millis {
  return Math.round(parseDuration(value) ?? Number.NaN);
}

/** A duration, or `never`. */
export const durationOrNever: Kind<Millis | 'never'> = {
  placeholder: '<duration|never>',
  want: `${duration(0).want}, or never`,
  parse: (value) => (value === 'never' ? value : duration(0).parse(value)),
  format: (value) => (value === 'never' ? value : formatMillis(value)),
};

/** The words for yes and no. */
function booleansOf<T>(yes: T, no: T): readonly (readonly [string, T])[] {
  return [
    ['true', yes],
    ['1', yes],
    ['false', no],
    ['0', no],
  ];
}

const booleans: ReadonlyMap<string, boolean> = new Map(booleansOf(true, false));

/** `--flag` alone is true; `--flag=false`. */
export const boolean: Kind<boolean> = {
  placeholder: '[boolean]',
  want: 'true or false',
  parse: (value) => booleans.get(value.toLowerCase()) ?? null,
  format: String,
};

const judges: ReadonlyMap<string, DryRun> = new Map([
  ...booleansOf<DryRun>('server', 'none'),
  ['none', 'none'],
  ['client', 'client'],
  ['server', 'server'],
]);

/** `--dry-run` alone is `server`. */
export const dryRunKind: Kind<DryRun> = {
  placeholder: '[none|client|server]',
  want: 'none, client or server',
  parse: (value) => judges.get(value.toLowerCase()) ?? null,
  format: (value) => value,
};

/** Separated by commas; the flag may be repeated. */
export const list: Kind<readonly string[]> = {
  placeholder: '<list>',
  want: 'names separated by commas',
  parse: (value) => {
    if (value === '') return [];
    const parts = value.split(',').map((part) => part.trim());
    return parts.includes('') ? null : parts;
  },
  format: (parts) => parts.join(','),
};

/** Paths of a server, separated by commas. */
export const paths: Kind<readonly string[]> = {
  ...list,
  want: 'paths that begin with /, separated by commas',
  parse: (value) => {
    const parts = list.parse(value);
    return parts?.every((part) => part === '*' || part.startsWith('/')) ? parts : null;
  },
};

/** Of a network interface of this machine, or all of them. */
export const ipAddress: Kind<string> = {
  ...text('<ip>'),
  want: 'an IP address, 0.0.0.0 or :: for all',
  parse: (value) => (isIP(value) === 0 ? null : value),
};

/** As Kubernetes wants the name of a namespace and of a lease. */
export const objectName: Kind<string> = {
  ...text('<name>'),
  want: 'a name of lower case letters, digits, - and .',
  parse: (value) => (/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(value) ? value : null),
};

/** A service account with its namespace. */
export const serviceAccount: Kind<string> = {
  ...text('<namespace/name>'),
  want: 'NAMESPACE/NAME',
  parse: (value) => {
    const parts = value.split('/');
    return parts.length === 2 && parts.every((part) => objectName.parse(part)) ? value : null;
  },
};

/** The part of our work that kube-controller-manager runs, by the administrator's word. */
export const declaration: Kind<string> = {
  placeholder: '<unknown|none|list>',
  want: `unknown, none, or of ${duties.join(', ')} those that it runs`,
  parse: (value) => (value === 'unknown' || declaredIn(value) ? value : null),
  format: (value) => value,
};

/** Settings of amounts or durations by signal, as a kubelet's flags have them. */
export type BySignal = Readonly<Record<string, string>>;

/**
 * As a kubelet's flags have it, with `<` or `=` between signal and value. The configuration file has an
 * object there, which is read as pairs with `=`. The values are checked together.
 */
export function bySignal(separator: '<' | '=', example: string): Kind<BySignal> {
  return {
    placeholder: '<list>',
    want: `pairs such as ${example}`,
    parse: (text) => pairs(text, separator) ?? pairs(text, '='),
    format: (values) =>
      Object.entries(values)
        .map(([signal, value]) => signal + separator + value)
        .join(','),
  };
}

function pairs(text: string, separator: '<' | '='): BySignal | null {
  try {
    return parseEvictionFlag(text, separator);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function within(value: number, min: number, max: number): number | null {
  return value >= min && value <= max ? value : null;
}

const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** Nothing is dropped, and parseDuration reads it: formatDuration is for people. */
export function formatMillis(length: Millis): string {
  const { text } = units.reduce(
    ({ text, rest }, [name, size]) => {
      const count = Math.floor(rest / size);
      return { text: count > 0 ? `${text}${count}${name}` : text, rest: rest % size };
    },
    { text: '', rest: length },
  );
  return text || '0s';
}

/** A setting that cannot be used: one line naming its place, its value and the allowed values. */
export class SettingError extends Error {
  override readonly name = 'SettingError';

  /** `where` is a flag, a variable, or a file and a field in it. */
  constructor(where: string, got: string, want: string) {
    super(`${where}: got ${JSON.stringify(got)}, want ${want}`);
  }

  /** An error with a special line. */
  static saying(line: string): SettingError {
    const error = new SettingError('', '', '');
    error.message = line;
    return error;
  }
}
