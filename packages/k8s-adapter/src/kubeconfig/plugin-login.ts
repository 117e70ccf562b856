import { Agent, type OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import type { Authorization } from '../transport/access.ts';
import type { ClusterSettings, UserSettings } from './entries.ts';

/** Logs in by auth providers and SOCKS proxies, with @kubernetes/client-node. */
export class PluginLogin {
  readonly #cluster: ClusterSettings;
  readonly #user: UserSettings;
  readonly #config = new KubeConfig();

  constructor(cluster: ClusterSettings, user: UserSettings) {
    this.#cluster = cluster;
    this.#user = user;
    // It refuses plain http (kubectl proxy) unless TLS verification is off.
    const reachable = cluster.server.startsWith('http:')
      ? { ...cluster, skipTLSVerify: true }
      : cluster;
    this.#config.loadFromClusterAndUser(reachable, user);
  }

  async authorize(): Promise<Authorization> {
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    const { ca, cert, key, servername, agent } = options;
    // Never undefined: NODE_TLS_REJECT_UNAUTHORIZED=0 would then decide.
    const rejectUnauthorized = !this.#cluster.skipTLSVerify;
    return {
      headers: { ...loginHeaders(options), ...this.#user.headers },
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
}

/** client-node always gives a record, its type allows lists too. */
function loginHeaders({ headers = {}, auth }: RequestOptions): OutgoingHttpHeaders {
  return {
    ...('length' in headers ? {} : headers),
    ...(auth && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` }),
  };
}
