import { Agent, type OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { asRecord, asText } from '../proto/json.ts';
import type { Access, Authorization } from '../transport/access.ts';
import { describeError } from '../transport/errors.ts';
import type { ClusterSettings, UserSettings } from './entries.ts';

/**
 * The way into one cluster. @kubernetes/client-node does the logging in (files, plugins, tokens);
 * requests that come together share one login.
 */
export class KubeconfigAccess implements Access {
  readonly server: string;
  readonly #cluster: ClusterSettings;
  readonly #user: UserSettings;
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
    this.#config = null;
  }

  async #authorize(): Promise<Authorization> {
    const options: RequestOptions = {};
    try {
      this.#config ??= await this.#login();
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      throw new Error(this.#complaint(error));
    }
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
