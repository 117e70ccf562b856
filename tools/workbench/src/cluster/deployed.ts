// Runs the taintmgr-controller that is deployed into the cluster: kubelets here start no
// containers, so the Deployment becomes a process on this machine, with its arguments, its
// environment and its account.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type EmbeddedCluster, serviceAccountUser, writeKubeconfig } from '@taintmgr/api-server';
import type { KubeObject, User } from '@taintmgr/sim-cluster';

const namespace = 'taintmgr-system';
const name = 'taintmgr-controller';
const main = fileURLToPath(new URL('../../../../apps/controller/src/main.ts', import.meta.url));
/** The ports of a pod may be taken on this machine. */
const anyPorts = ['--secure-port=0', '--healthz-port=0'];
/** Before a container that has ended is started again. */
const restartMs = 2000;

export const controllerToken: string = randomBytes(16).toString('hex');

/** The pod's user in the API server. */
export const controllerUser: User = serviceAccountUser(namespace, name);

/** Follows the Deployment; one replica runs, however many it wants. */
export class DeployedController {
  readonly #kubeconfig: string;
  readonly #unsubscribe: () => void;
  /** The process that runs or should run, as text. */
  #wanted: string | null = null;
  #child: ChildProcess | null = null;
  #restart: NodeJS.Timeout | null = null;

  constructor({ cluster: { api }, url, ca, kubeconfig }: EmbeddedCluster) {
    this.#kubeconfig = `${kubeconfig}-of-controller`;
    writeKubeconfig(this.#kubeconfig, { server: url, ca, token: controllerToken });
    this.#unsubscribe = api.subscribe(
      ({ type, key, object }) => {
        if (key === `${namespace}/${name}`) this.#look(type === 'DELETED' ? null : object);
      },
      new Set(['deployments']),
    );
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#wanted = null;
    await this.#end();
    rmSync(this.#kubeconfig, { force: true });
  }

  #look(deployment: KubeObject | null): void {
    const wanted =
      deployment && deployment.spec.replicas > 0
        ? JSON.stringify(deployment.spec.template.spec.containers[0])
        : null;
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    void this.#end().then(() => this.#start());
  }

  /** The one before has ended: two would be a replica too many. */
  #start(): void {
    if (this.#wanted === null || this.#child) return;
    const { args = [], env = [] } = JSON.parse(this.#wanted);
    const variables = env.map((one: { name: string; value?: string }) => [one.name, one.value]);
    const own = [...args, ...anyPorts, `--kubeconfig=${this.#kubeconfig}`];
    const child = spawn(process.execPath, ['-C', '@taintmgr/source', main, ...own], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...Object.fromEntries(variables) },
    });
    this.#child = child;
    child.once('close', () => {
      this.#child = null;
      if (this.#wanted !== null) this.#restart = setTimeout(() => this.#start(), restartMs);
    });
  }

  async #end(): Promise<void> {
    if (this.#restart) clearTimeout(this.#restart);
    const child = this.#child;
    if (!child) return;
    child.kill('SIGTERM');
    await once(child, 'close');
    if (this.#restart) clearTimeout(this.#restart);
  }
}
