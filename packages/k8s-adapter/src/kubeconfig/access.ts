import { createPrivateKey, X509Certificate } from 'node:crypto';
import { asRecord, asText } from '../proto/json.ts';
import type { Access, Authorization } from '../transport/access.ts';
import { describeError } from '../transport/errors.ts';
import type { ClusterSettings, UserSettings } from './entries.ts';
import type { Credential } from './exec-login.ts';
import { isPlain, PlainLogin } from './plain-login.ts';

/** The way into one cluster; requests that come together share one login. */
export class KubeconfigAccess implements Access {
  readonly server: string;
  readonly #cluster: ClusterSettings;
  readonly #user: UserSettings;
  #login: Pick<Access, 'authorize'> | null = null;
  #credential: Credential | null = null;
  /** Aborted: nobody waits for a credential plugin any more. */
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

  /** What a plugin gave counts until it expires, or is refused. */
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
 * What the connection would say in OpenSSL's words, or not at all: of a key of another type than the
 * certificate's OpenSSL says nothing, and sends none of both.
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
  const { PluginLogin } = await import('./plugin-login.ts');
  return new PluginLogin(cluster, user);
}
