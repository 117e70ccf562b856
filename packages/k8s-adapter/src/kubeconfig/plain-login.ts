import fs from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Instant, Millis } from '@taintmgr/core/time';
import { asRecord, asText } from '../proto/json.ts';
import type { Authorization } from '../transport/access.ts';
import type { ClusterSettings, UserSettings } from './entries.ts';

/** Tokens and certificates on disk are replaced while we run; client-go looks once a minute. */
const readAgainAfter: Millis = 10_000;
/** After a file that could not be read: somebody may just be writing it. */
const triedAgainAfter: Millis = 1_000;

/** Whether all it takes is written down or in files: no program to run, nothing to exchange. */
export function isPlain({ proxyUrl = '' }: ClusterSettings, user: UserSettings): boolean {
  const exchanges = user.exec !== undefined || (user.authProvider && tokenFileOf(user) === '');
  return !exchanges && !proxyUrl.startsWith('socks');
}

/**
 * Logs in with tokens and certificates that are written down. Rejects when a file cannot be read, or is
 * empty, and was never read before; what was read before is used on, as in client-go.
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

/** An empty one is no credential: without it we would be somebody else, nobody in particular. */
async function contentOf(file: string): Promise<Buffer> {
  const content = await fs.promises.readFile(file);
  if (String(content).trim() === '') throw new Error(`${file} is empty`);
  return content;
}
