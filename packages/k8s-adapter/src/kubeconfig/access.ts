import { createPrivateKey, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Instant, Millis } from '@taintmgr/core/time';
import { asRecord, asText } from '../proto/json.ts';
import type { Access, Authorization } from '../transport/access.ts';
import { describeError } from '../transport/errors.ts';
import { explainedImport } from '../transport/kube-config.ts';
import type { ClusterSettings, UserSettings } from './entries.ts';
import type { Credential } from './exec-login.ts';

/** The way into one cluster; requests that come together share one login. */
export class KubeconfigAccess implements Access {
  readonly server: string;
  readonly #cluster: ClusterSettings;
  readonly #user: UserSettings;
  #login: Pick<Access, 'authorize'> | null = null;
  #credential: Credential | null = null;
  /** Aborted: no caller waits for a credential plugin any more. */
  #waiting = new AbortController();
  #pending: Promise<Authorization> | null = null;
  /** The last that was looked at. */
  #latest: Authorization | null = null;

  constructor(cluster: ClusterSettings, user: UserSettings) {
    this.server = cluster.server;
    this.#cluster = cluster;
    this.#user = user;
  }

  authorize(): Promise<Authorization> {
    this.#pending ??= this.#authorize().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  rejected(): void {
    this.#login = null;
    this.#credential = null;
  }

  close(): void {
    this.#waiting.abort();
    this.#waiting = new AbortController();
  }

  async #authorize(): Promise<Authorization> {
    try {
      if (this.#user.exec) await this.#runPlugin(this.#user.exec);
      this.#login ??= await logIn(this.#cluster, withCredential(this.#user, this.#credential));
      const authorization = await this.#login.authorize();
      if (authorization !== this.#latest) check(authorization);
      this.#latest = authorization;
      return authorization;
    } catch (error) {
      throw new Error(this.#complaint(error));
    }
  }

  /** The credential that a plugin gave counts until it expires, or is refused. */
  async #runPlugin(exec: object): Promise<void> {
    const { expiresAt = null } = this.#credential ?? {};
    if (this.#credential && (expiresAt === null || Date.now() < expiresAt)) return;
    this.#login = null;
    const { signal } = this.#waiting;
    // Few log in so, and what starts processes takes a while to load.
    const { runPlugin } = await import('./exec-login.ts');
    this.#credential = await runPlugin(exec, signal);
  }

  #complaint(error: unknown): string {
    const { exec } = this.#user;
    if (!exec) return `no credentials: ${describeError(error)}`;
    const plugin = asRecord(exec);
    const hint = asText(plugin.installHint).trim();
    const said = `credential plugin ${asText(plugin.command)} failed: ${describeError(error)}`;
    return hint === '' ? said : `${said} (${hint})`;
  }
}

/**
 * Throws the errors that the connection would put in OpenSSL's words, or never report: for a key of
 * another type than the certificate's OpenSSL reports nothing, and sends neither.
 */
function check({ headers, tls: { cert, key } }: Authorization): void {
  for (const [name, value] of Object.entries(headers)) {
    const hasLineEnd = [value].flat().some((one) => /[\r\n]/.test(String(one)));
    if (hasLineEnd) throw new Error(`the header ${name} cannot have a line end in it`);
  }
  if (!(cert instanceof Buffer) || !(key instanceof Buffer)) return;
  const certificate = readPem('certificate', 'PEM', () => new X509Certificate(cert));
  const own = readPem('key', 'PEM, and no passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(own)) {
    throw new Error('the client key is not that of the client certificate');
  }
}

function readPem<T>(what: string, want: string, readIt: () => T): T {
  try {
    return readIt();
  } catch (error) {
    throw new Error(`the client ${what} cannot be read (${describeError(error)}); want ${want}`);
  }
}

function withCredential(
  { exec: _, ...user }: UserSettings,
  credential: Credential | null,
): UserSettings {
  if (!credential) return user;
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
  const { token, certificate, key } = credential;
  return {
    ...user,
    ...(token && { token }),
    ...(certificate && { certData: base64(certificate), keyData: base64(key) }),
  };
}

/** The library is not loaded for less than it is needed for: 90 MB, a third of a second. */
async function logIn(
  cluster: ClusterSettings,
  user: UserSettings,
): Promise<Pick<Access, 'authorize'>> {
  if (isPlain(cluster, user)) return new PlainLogin(cluster, user);
  const { PluginLogin } = await import('./plugin-login.ts').catch((error: unknown) => {
    throw explainedImport(error, user.authProvider ? 'an auth-provider' : 'a SOCKS proxy');
  });
  return new PluginLogin(cluster, user);
}

/** Tokens and certificates on disk are replaced while we run; client-go looks once a minute. */
const readAgainAfter: Millis = 10_000;
/** After a file that could not be read: it may be in the middle of a write. */
const triedAgainAfter: Millis = 1_000;

/** Tells whether all it takes is written down or in files: no program to run, nothing to exchange. */
export function isPlain({ proxyUrl = '' }: ClusterSettings, user: UserSettings): boolean {
  const exchanges = user.exec !== undefined || (user.authProvider && tokenFileOf(user) === '');
  return !exchanges && !proxyUrl.startsWith('socks');
}

/**
 * Logs in with tokens and certificates that are written down. Rejects when a file cannot be read,
 * or is empty, and was never read before; an earlier reading is used on, as in client-go.
 */
export class PlainLogin {
  readonly #cluster: ClusterSettings;
  readonly #user: UserSettings;
  #latest: Authorization | null = null;
  #readAt = 0;
  #holdsFor: Millis = readAgainAfter;
  readonly #now: () => Instant;

  constructor(cluster: ClusterSettings, user: UserSettings, now: () => Instant = Date.now) {
    this.#cluster = cluster;
    this.#user = user;
    this.#now = now;
  }

  async authorize(): Promise<Authorization> {
    const now = this.#now();
    if (this.#latest && Math.abs(now - this.#readAt) < this.#holdsFor) return this.#latest;
    try {
      this.#latest = await this.#read();
      this.#holdsFor = readAgainAfter;
    } catch (error) {
      if (!this.#latest) throw error;
      this.#holdsFor = triedAgainAfter;
    }
    this.#readAt = now;
    return this.#latest;
  }

  async #read(): Promise<Authorization> {
    const { proxyUrl } = this.#cluster;
    const proxy = proxyUrl ? new URL(proxyUrl) : null;
    return { headers: await this.#headers(), tls: await this.#tls(), proxy, agent: null };
  }

  async #headers(): Promise<OutgoingHttpHeaders> {
    const { username, password = '', headers } = this.#user;
    const file = tokenFileOf(this.#user);
    const token = file === '' ? this.#user.token : await this.#tokenIn(file);
    const basic = username && Buffer.from(`${username}:${password}`).toString('base64');
    return {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(basic && { Authorization: `Basic ${basic}` }),
      ...headers,
    };
  }

  /** Of a file that cannot be read from the start the token counts that stands beside it. */
  async #tokenIn(file: string): Promise<string> {
    try {
      return String(await contentOf(file)).trim();
    } catch (error) {
      if (this.#latest || !this.#user.token) throw error;
      return this.#user.token;
    }
  }

  async #tls(): Promise<Authorization['tls']> {
    const { caFile, caData, skipTLSVerify, tlsServerName } = this.#cluster;
    const { certFile, certData, keyFile, keyData } = this.#user;
    const [ca, cert, key] = await Promise.all([
      material(caFile, caData),
      material(certFile, certData),
      material(keyFile, keyData),
    ]);
    return {
      ca,
      cert,
      key,
      servername: tlsServerName,
      // Never undefined: NODE_TLS_REJECT_UNAUTHORIZED=0 would then decide.
      rejectUnauthorized: !skipTLSVerify,
    };
  }
}

/** '' where the token does not come from a file. */
function tokenFileOf({ authProvider }: UserSettings): string {
  return asText(asRecord(asRecord(authProvider).config).tokenFile);
}

async function material(
  file: string | undefined,
  base64: string | undefined,
): Promise<Buffer | undefined> {
  if (file) return contentOf(file);
  return base64 ? Buffer.from(base64, 'base64') : undefined;
}

/**
 * An empty file is no credential: without it we would be another user, namely the anonymous one.
 */
async function contentOf(file: string): Promise<Buffer> {
  const content = await fs.promises.readFile(file);
  if (String(content).trim() === '') throw new Error(`${file} is empty`);
  return content;
}
