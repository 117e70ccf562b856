import { asRecord, asText } from '../proto/json.ts';
import type { Access, Authorization } from '../transport/access.ts';
import { describeError } from '../transport/errors.ts';
import type { ClusterSettings, UserSettings } from './entries.ts';
import { isPlain, PlainLogin } from './plain-login.ts';

/** The way into one cluster; requests that come together share one login. */
export class KubeconfigAccess implements Access {
  readonly server: string;
  readonly #cluster: ClusterSettings;
  readonly #user: UserSettings;
  #login: Pick<Access, 'authorize'> | null = null;
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
    this.#login = null;
  }

  async #authorize(): Promise<Authorization> {
    try {
      this.#login ??= await logIn(this.#cluster, this.#user);
      return await this.#login.authorize();
    } catch (error) {
      throw new Error(this.#complaint(error));
    }
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

/** The library is not loaded for less than it is needed for: 90 MB, a third of a second. */
async function logIn(
  cluster: ClusterSettings,
  user: UserSettings,
): Promise<Pick<Access, 'authorize'>> {
  if (isPlain(cluster, user)) return new PlainLogin(cluster, user);
  const { PluginLogin } = await import('./plugin-login.ts');
  return new PluginLogin(cluster, user);
}
