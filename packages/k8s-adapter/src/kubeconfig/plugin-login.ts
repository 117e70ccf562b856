import { Agent, type OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { type Authorization, sameTls, type TlsMaterial } from '../transport/access.ts';
import type { ClusterSettings, UserSettings } from './entries.ts';

/** Logs in by auth providers and SOCKS proxies, with @kubernetes/client-node. */
export class PluginLogin {
  readonly #cluster: ClusterSettings;
  readonly #user: UserSettings;
  #config: KubeConfig;
  /** The material that the connections of `#config` are made with. */
  #tls: TlsMaterial | null = null;

  constructor(cluster: ClusterSettings, user: UserSettings) {
    this.#cluster = cluster;
    this.#user = user;
    this.#config = configOf(cluster, user);
  }

  async authorize(): Promise<Authorization> {
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    const { ca, cert, key, servername, agent } = options;
    // Never undefined: NODE_TLS_REJECT_UNAUTHORIZED=0 would then decide.
    const rejectUnauthorized = !this.#cluster.skipTLSVerify;
    const tls = { ca, cert, key, servername, rejectUnauthorized };
    if (this.#tls && !sameTls(this.#tls, tls)) {
      // Files have been replaced, and it keeps the agent that it made with the old ones.
      this.#config = configOf(this.#cluster, this.#user);
      this.#tls = null;
      return await this.authorize();
    }
    this.#tls = tls;
    return {
      headers: { ...loginHeaders(options), ...this.#user.headers },
      tls,
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

function configOf(cluster: ClusterSettings, user: UserSettings): KubeConfig {
  const { server, proxyUrl } = cluster;
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      ...cluster,
      // The plugin refuses plain http (kubectl proxy) unless TLS verification is off.
      ...(server.startsWith('http:') && { skipTLSVerify: true }),
      // As with kubectl the proxy looks up the name, which may mean nothing on this side of it.
      ...(proxyUrl && { proxyUrl: proxyUrl.replace(/^socks5:/, 'socks5h:') }),
    },
    user,
  );
  return config;
}

/** client-node always gives a record, its type allows lists too. */
function loginHeaders({ headers = {}, auth }: RequestOptions): OutgoingHttpHeaders {
  return {
    ...('length' in headers ? {} : headers),
    ...(auth && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` }),
  };
}
