import { KubeConfig } from '@kubernetes/client-node';
import { type Authorization, sameTls, type TlsMaterial } from '../transport/access.ts';
import { authorizationOf } from '../transport/kube-config.ts';
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
    const authorization = await authorizationOf(this.#config);
    const { headers, tls } = authorization;
    if (this.#tls && !sameTls(this.#tls, tls)) {
      // Files have been replaced, and it keeps the agent that it made with the old ones.
      this.#config = configOf(this.#cluster, this.#user);
      this.#tls = null;
      return await this.authorize();
    }
    this.#tls = tls;
    return { ...authorization, headers: { ...headers, ...this.#user.headers } };
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
