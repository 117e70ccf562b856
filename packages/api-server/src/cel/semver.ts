// Functions for versions such as 1.2.3-rc.1, as Kubernetes' CEL library has them.
import { CelError, type CelValue } from './value.ts';

export class Semver {
  readonly numbers: readonly number[];
  /** The prerelease identifiers after the hyphen; empty for a release. */
  readonly before: readonly string[];
  constructor(numbers: readonly number[], before: readonly string[]) {
    this.numbers = numbers;
    this.before = before;
  }
}

const number = '(0|[1-9]\\d*)';
const identifier = '(?:0|[1-9]\\d*|\\d*[-a-zA-Z][-a-zA-Z0-9]*)';
const pattern = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+[-.a-zA-Z0-9]+)?$`,
);

function readSemver(text: string): Semver | null {
  const [, major, minor, patch, before] = pattern.exec(text) ?? [];
  if (major === undefined) return null;
  return new Semver([major, minor, patch].map(Number), before?.split('.') ?? []);
}

/** `v1.02` as `1.2.0`, for calls that ask for normalization. */
function normalized(text: string): string {
  const [, numbers = '', rest = ''] = /^v?([\d.]+)(.*)$/s.exec(text) ?? [];
  const parts = numbers.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3) parts.push('0');
  return `${parts.join('.')}${rest}`;
}

const asAsked = (text: string, isNormal: boolean): string => (isNormal ? normalized(text) : text);

/** A version as expressions have it. Throws CelError for a text that is none. */
export function semverOf(text: string): Semver {
  const found = readSemver(text);
  if (!found) throw new CelError('No Major.Minor.Patch elements found');
  return found;
}

/** Negative: `a` comes first. A release comes after everything that leads to it. */
function compare(a: Semver, b: Semver): number {
  for (const [at, one] of a.numbers.entries()) {
    const other = b.numbers[at] ?? 0;
    if (one !== other) return one < other ? -1 : 1;
  }
  if (a.before.length === 0 || b.before.length === 0) {
    return Math.sign(b.before.length - a.before.length);
  }
  for (const [at, one] of a.before.entries()) {
    const other = b.before[at];
    if (other === undefined) return 1;
    if (one !== other) return compareIdentifiers(one, other);
  }
  return a.before.length < b.before.length ? -1 : 0;
}

/** Numbers come before words. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [a, b].map((text) => /^\d+$/.test(text));
  if (isNumber && isOtherNumber) return Number(a) < Number(b) ? -1 : 1;
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return a < b ? -1 : 1;
}

const part = (at: number) => (version: Semver) => BigInt(version.numbers[at] ?? 0);

// biome-ignore lint/suspicious/noExplicitAny: the signature beside each handler says what it takes
export const semverFunctions: Readonly<Record<string, (...args: any[]) => CelValue>> = {
  'isSemver(string): bool': (text: string) => readSemver(text) !== null,
  'isSemver(string, bool): bool': (text: string, isNormal: boolean) =>
    readSemver(asAsked(text, isNormal)) !== null,
  'semver(string): Semver': semverOf,
  'semver(string, bool): Semver': (text: string, isNormal: boolean) =>
    semverOf(asAsked(text, isNormal)),
  'Semver.isLessThan(Semver): bool': (a: Semver, b: Semver) => compare(a, b) < 0,
  'Semver.isGreaterThan(Semver): bool': (a: Semver, b: Semver) => compare(a, b) > 0,
  'Semver.compareTo(Semver): int': (a: Semver, b: Semver) => BigInt(compare(a, b)),
  'Semver.major(): int': part(0),
  'Semver.minor(): int': part(1),
  'Semver.patch(): int': part(2),
};

export function isSameSemver(a: Semver, b: Semver): boolean {
  return compare(a, b) === 0;
}
