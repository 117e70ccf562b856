import { Agent, type OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { asRecord, asText } from '../proto/json.ts';
import type { Access, Authorization } from '../transport/access.ts';
import { describeError } from '../transport/errors.ts';
import type { ClusterSettings, UserSettings } from './entries.ts';
import { isPlain, PlainLogin } from './plain-login.ts';

/**
 * The way into one cluster; requests that come together share one login. Where a plugin or another
 * server has a part in it, @kubernetes/client-node logs in. It is not loaded for less: that takes
 * 90 MB and a third of a second.
 */
export class KubeconfigAccess implements Access {
  readonly server: string;
  readonly #cluster: ClusterSettings;
  readonly #user: UserSettings;
  #plain: PlainLogin | null = null;
  #config: KubeConfig | null = null;
  #pending: Promise<Authorization> | null = null;

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
    this.#plain = null;
    this.#config = null;
  }

  async #authorize(): Promise<Authorization> {
    try {
      if (!isPlain(this.#cluster, this.#user)) return await this.#exchange();
      this.#plain ??= new PlainLogin(this.#cluster, this.#user);
      return await this.#plain.authorize();
    } catch (error) {
      throw new Error(this.#complaint(error));
    }
  }

  async #exchange(): Promise<Authorization> {
    const options: RequestOptions = {};
    this.#config ??= await this.#login();
    await this.#config.applyToHTTPSOptions(options);
    const { ca, cert, key, servername, rejectUnauthorized, auth, agent } = options;
    return {
      headers: {
        ...loginHeaders(options),
        ...(auth && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` }),
        ...this.#user.headers,
      },
      tls: { ca, cert, key, servername, rejectUnauthorized },
      ...this.#way(agent),
    };
  }

  /** client-node knows SOCKS; through other proxies we go ourselves. */
  #way(agent: RequestOptions['agent']): Pick<Authorization, 'proxy' | 'agent'> {
    const { proxyUrl } = this.#cluster;
    if (!proxyUrl) return { proxy: null, agent: null };
    if (!proxyUrl.startsWith('socks')) return { proxy: new URL(proxyUrl), agent: null };
    return { proxy: null, agent: agent instanceof Agent ? agent : null };
  }

  async #login(): Promise<KubeConfig> {
    const { KubeConfig } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    const { server } = this.#cluster;
    // client-node refuses plain http (kubectl proxy) unless TLS verification is off.
    const cluster = server.startsWith('http:')
      ? { ...this.#cluster, skipTLSVerify: true }
      : this.#cluster;
    config.loadFromClusterAndUser(cluster, this.#user);
    return config;
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

/** client-node always gives a record, its type allows lists too. */
function loginHeaders({ headers = {} }: RequestOptions): OutgoingHttpHeaders {
  return 'length' in headers ? {} : { ...headers };
}
