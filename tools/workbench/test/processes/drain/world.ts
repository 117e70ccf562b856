// A cluster with a controller that carries out NodeDrains, and the real kubectl.
import type { TestContext } from 'node:test';
import type { ApiServer } from '@taintmgr/api-server';
import { execute } from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import type { Topology } from '@taintmgr/sim-cluster';
import { servesNobody, start, startCluster, until, type WatchedCluster } from './programs.ts';

/** A cluster, a controller that carries out NodeDrains, and kubectl. */
export class World {
  readonly #watched: WatchedCluster;
  readonly #out: () => string;

  private constructor(watched: WatchedCluster, out: () => string) {
    this.#watched = watched;
    this.#out = out;
  }

  static async start(t: TestContext, topology: Topology): Promise<World> {
    const watched = await startCluster(t, topology);
    const flags = ['--mode=evict', '--controllers=node-drain-controller', '-v=4', servesNobody];
    const { out } = start(t, 'controller', watched.kubeconfig, ...flags);
    return new World(watched, out);
  }

  /** What kubectl prints. */
  async kubectl(line: string, input: object = {}): Promise<string> {
    const env = { ...process.env, KUBECONFIG: this.#watched.kubeconfig };
    const { out, err } = await execute('kubectl', line.split(' '), env, JSON.stringify(input));
    return `${out}${err}`.trim();
  }

  get api(): ApiServer {
    return this.#watched.cluster.api;
  }

  /** What the controller has logged. */
  get log(): string {
    return this.#out();
  }

  /** The drain as the cluster has it, and what the controller has logged: for a failure. */
  async drainAsIs(): Promise<string> {
    return `${await this.kubectl('get nodedrain kernel -o yaml')}\n${this.log}`;
  }

  /** Until the first thing that stands in the drain's way is this. */
  async blockedBy(pattern: RegExp): Promise<void> {
    const { api } = this.#watched.cluster;
    const first = (): string =>
      api.get('nodedrains.taintmgr.dev', '', 'kernel')?.status?.blockers?.[0] ?? '';
    await until(
      `${pattern}`,
      () => pattern.test(first()),
      () => `${first()}\n${this.#out()}`,
    );
  }

  isTainted(node: string): boolean {
    const spec = this.api.get('nodes', '', node)?.spec;
    return spec?.taints !== undefined || spec?.unschedulable === true;
  }

  isDrained(node: string): boolean {
    return this.#watched.isDrained(node);
  }
}
