// Functions for IP addresses, networks and URLs, as Kubernetes' CEL library has them.
import { CelError, type CelValue } from './value.ts';

/** An IP address, as a number of so many bits. */
export class IpAddress {
  readonly family: 4 | 6;
  readonly number: bigint;
  constructor(family: 4 | 6, number: bigint) {
    this.family = family;
    this.number = number;
  }

  get bits(): number {
    return this.family === 4 ? 32 : 128;
  }

  /** The shortest way to write it. */
  toString(): string {
    if (this.family === 4) return parts(this.number, 4, 8).join('.');
    const groups = parts(this.number, 8, 16).map((group) => group.toString(16));
    return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
  }
}

/** A network: its address may name a host within it. */
export class Network {
  readonly ip: IpAddress;
  readonly prefixLength: number;
  constructor(ip: IpAddress, prefixLength: number) {
    this.ip = ip;
    this.prefixLength = prefixLength;
  }

  masked(): Network {
    const { family, number } = this.ip;
    const shift = BigInt(this.ip.bits - this.prefixLength);
    return new Network(new IpAddress(family, (number >> shift) << shift), this.prefixLength);
  }

  contains(ip: IpAddress): boolean {
    const shift = BigInt(this.ip.bits - this.prefixLength);
    return ip.family === this.ip.family && ip.number >> shift === this.ip.number >> shift;
  }

  toString(): string {
    return `${this.ip}/${this.prefixLength}`;
  }
}

/** A URL with a scheme, or a path alone. */
export class Address {
  readonly url: URL;
  readonly isPath: boolean;
  constructor(url: URL, isPath: boolean) {
    this.url = url;
    this.isPath = isPath;
  }
}

/** A number as so many parts of so many bits, the highest first. */
function parts(number: bigint, count: number, bits: number): readonly number[] {
  const mask = (1n << BigInt(bits)) - 1n;
  return Array.from({ length: count }, (_, at) =>
    Number((number >> BigInt((count - 1 - at) * bits)) & mask),
  );
}

const inBase = (digits: readonly number[], base: bigint): bigint =>
  digits.reduce((sum, digit) => sum * base + BigInt(digit), 0n);

const byte = '(?:0|[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-5])';
const four = new RegExp(`^${byte}(?:\\.${byte}){3}$`);

/** Null: it is none. Zones and IPv4 addresses within IPv6 ones are none. */
function readIp(text: string): IpAddress | null {
  if (four.test(text)) return new IpAddress(4, inBase(text.split('.').map(Number), 256n));
  if (!/^[0-9a-fA-F:]+$/.test(text) || !URL.canParse(`http://[${text}]`)) return null;
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const groupsOf = (side: string): readonly string[] => (side === '' ? [] : side.split(':'));
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const between = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const groups = [...before, ...between, ...after].map((group) => Number.parseInt(group, 16));
  const number = inBase(groups, 65_536n);
  return number >> 32n === 0xffffn ? null : new IpAddress(6, number);
}

function readNetwork(text: string): Network | null {
  const [, address = '', length = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const ip = readIp(address);
  return ip && Number(length) <= ip.bits ? new Network(ip, Number(length)) : null;
}

function readUrl(text: string): Address | null {
  if (text.startsWith('/')) return new Address(new URL(text, 'path://none'), true);
  const hasScheme = /^[a-zA-Z][-+.a-zA-Z0-9]*:\/\//.test(text);
  return hasScheme && URL.canParse(text) ? new Address(new URL(text), false) : null;
}

function must<T>(what: string, read: (text: string) => T | null): (text: string) => T {
  return (text) => {
    const found = read(text);
    if (found === null) throw new CelError(`${what} ${JSON.stringify(text)}`);
    return found;
  };
}

const ipOf = must('unable to parse IP address from string', readIp);
const networkOf = must('unable to parse CIDR from string', readNetwork);
const urlOf = must('URL parse error during conversion from string: invalid URI', readUrl);

function isWithin(text: string): (ip: IpAddress) => boolean {
  const network = networkOf(text);
  return (ip) => network.contains(ip);
}

const loopback = [isWithin('127.0.0.0/8'), isWithin('::1/128')];
const linkLocal = [isWithin('169.254.0.0/16'), isWithin('fe80::/10')];
const linkLocalMulticast = [isWithin('224.0.0.0/24'), isWithin('ff02::/16')];
const multicast = [isWithin('224.0.0.0/4'), isWithin('ff00::/8')];
const broadcast = isWithin('255.255.255.255/32');
const isOneOf = (ip: IpAddress, kinds: readonly ((ip: IpAddress) => boolean)[]): boolean =>
  kinds.some((kind) => kind(ip));
const isGlobal = (ip: IpAddress): boolean =>
  ip.number !== 0n && !isOneOf(ip, [...loopback, ...linkLocal, ...multicast, broadcast]);

const holds = (outer: Network, inner: Network): boolean =>
  outer.contains(inner.ip) && outer.prefixLength <= inner.prefixLength;
const unlessPath = ({ isPath }: Address, text: string): string => (isPath ? '' : text);

// biome-ignore lint/suspicious/noExplicitAny: the signature beside each handler says what it takes
export const addressFunctions: Readonly<Record<string, (...args: any[]) => CelValue>> = {
  'isIP(string): bool': (text: string) => readIp(text) !== null,
  'ip(string): IP': ipOf,
  'Ips.isCanonical(string): bool': (_: object, text: string) => ipOf(text).toString() === text,
  'string(IP): string': String,
  'IP.family(): int': ({ family }: IpAddress) => BigInt(family),
  'IP.isUnspecified(): bool': ({ number }: IpAddress) => number === 0n,
  'IP.isLoopback(): bool': (ip: IpAddress) => isOneOf(ip, loopback),
  'IP.isLinkLocalUnicast(): bool': (ip: IpAddress) => isOneOf(ip, linkLocal),
  'IP.isLinkLocalMulticast(): bool': (ip: IpAddress) => isOneOf(ip, linkLocalMulticast),
  'IP.isGlobalUnicast(): bool': isGlobal,
  'isCIDR(string): bool': (text: string) => readNetwork(text) !== null,
  'cidr(string): CIDR': networkOf,
  'string(CIDR): string': String,
  'CIDR.containsIP(IP): bool': (network: Network, ip: IpAddress) => network.contains(ip),
  'CIDR.containsIP(string): bool': (network: Network, ip: string) => network.contains(ipOf(ip)),
  'CIDR.containsCIDR(CIDR): bool': holds,
  'CIDR.containsCIDR(string): bool': (a: Network, b: string) => holds(a, networkOf(b)),
  'CIDR.ip(): IP': ({ ip }: Network) => ip,
  'CIDR.masked(): CIDR': (network: Network) => network.masked(),
  'CIDR.prefixLength(): int': ({ prefixLength }: Network) => BigInt(prefixLength),
  'isURL(string): bool': (text: string) => readUrl(text) !== null,
  'url(string): URL': urlOf,
  'URL.getScheme(): string': (of: Address) => unlessPath(of, of.url.protocol.slice(0, -1)),
  'URL.getHost(): string': (of: Address) => unlessPath(of, of.url.host),
  'URL.getHostname(): string': (of: Address) =>
    unlessPath(of, of.url.hostname.replace(/^\[(.*)\]$/, '$1')),
  'URL.getPort(): string': (of: Address) => unlessPath(of, of.url.port),
  'URL.getEscapedPath(): string': (of: Address) => of.url.pathname,
  'URL.getQuery(): map<string, list<string>>': ({ url }: Address) =>
    new Map([...url.searchParams.keys()].map((key) => [key, url.searchParams.getAll(key)])),
};
