// The proxy to a server, by kubectl's rules.
import net from 'node:net';
import { KubeconfigError } from '../transport/errors.ts';
import { type Entry, textOf } from './file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const schemes = ['http:', 'https:', 'socks5:'];

/**
 * The proxy to a server, by kubectl's rules: proxy-url of the cluster, else HTTPS_PROXY (HTTP_PROXY
 * for plain http) unless NO_PROXY names the server; null: none. Throws KubeconfigError.
 */
export function proxyOf({ fields, place }: Entry, server: string, env: Environment): string | null {
  const own = textOf(fields, 'proxy-url', place);
  if (own !== '') return checked(own, `${place}: proxy-url`);
  const url = new URL(server);
  const [name, value] = variable(env, url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const [, exceptions] = variable(env, 'NO_PROXY');
  if (value === '' || isExcepted(url, exceptions)) return null;
  return checked(value.includes('://') ? value : `http://${value}`, name);
}

/** As Go reads its environment: the name in capitals, else in small letters. */
function variable(env: Environment, name: string): [string, string] {
  const small = name.toLowerCase();
  return env[name] ? [name, env[name]] : [small, env[small] ?? ''];
}

/** With its scheme in small letters, by which others know it. */
function checked(proxy: string, source: string): string {
  const protocol = URL.canParse(proxy) ? new URL(proxy).protocol : '';
  if (schemes.includes(protocol)) return proxy.replace(/^[^:]*:/, protocol);
  throw new KubeconfigError(
    `${source}: got ${shownUrl(proxy)}, want a URL with http, https or socks5`,
  );
}

/** A URL as messages may show it: one with a user in it has a password too. */
export function shownUrl(url: string): string {
  return /[@?#]/.test(url) ? 'one with a user, a password or a query' : JSON.stringify(url);
}

/** This machine itself is never asked through a proxy that the environment names. */
function isExcepted({ hostname, port, protocol }: URL, exceptions: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (host === 'localhost' || isLoopback(host)) return true;
  const actualPort = port || (protocol === 'https:' ? '443' : '80');
  return exceptions
    .split(',')
    .map((exception) => exception.trim().toLowerCase())
    .some((exception) => exception !== '' && covers(exception, host, actualPort));
}

/** An entry of NO_PROXY: `*`, an address, a range of them, or a domain, maybe with a port. */
function covers(exception: string, host: string, port: string): boolean {
  if (exception === '*') return true;
  const [range = '', bits] = exception.split('/');
  if (bits !== undefined) return coversAddress(range, Number(bits), host);
  const [name, onPort] = hostAndPort(exception);
  if (onPort !== null && onPort !== port) return false;
  if (net.isIP(name) !== 0) return coversAddress(name, null, host);
  const domain = name.startsWith('*.') ? name.slice(1) : name;
  return domain.startsWith('.')
    ? host.endsWith(domain)
    : host === domain || host.endsWith(`.${domain}`);
}

function hostAndPort(text: string): [string, string | null] {
  const bracketed = /^\[(.*)\](?::(\d+))?$/.exec(text);
  if (bracketed) return [bracketed[1] ?? '', bracketed[2] ?? null];
  if (net.isIP(text) === 6) return [text, null];
  const [name = '', port = null] = text.split(':');
  return [name, port];
}

/** Tells whether the host is an address within the range, or that very address (`bits` null). */
function coversAddress(address: string, bits: number | null, host: string): boolean {
  const version = net.isIP(address);
  const family = version === 6 ? 'ipv6' : 'ipv4';
  const bitsMax = version === 6 ? 128 : 32;
  if (version === 0 || (bits !== null && !(bits >= 0 && bits <= bitsMax))) return false;
  const list = new net.BlockList();
  list.addSubnet(address, bits ?? bitsMax, family);
  return isIn(list, host);
}

function isLoopback(host: string): boolean {
  return coversAddress('127.0.0.0', 8, host) || coversAddress('::1', null, host);
}

function isIn(list: net.BlockList, host: string): boolean {
  const version = net.isIP(host);
  return version !== 0 && list.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
