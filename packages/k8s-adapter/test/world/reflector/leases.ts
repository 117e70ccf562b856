import { ApiServer, type ApiServerOptions } from '@taintmgr/api-server';
import { seededRandom } from '@taintmgr/sim-cluster';

const namespaces = ['default', 'kube-system'];

/** The leases of a simulated API server, which reflectors follow, and what happens to them. */
export class Leases {
  readonly api: ApiServer;
  readonly #options: Omit<ApiServerOptions, 'random'>;
  #serial = 0;

  constructor(options: Omit<ApiServerOptions, 'random'>) {
    this.#options = options;
    this.api = new ApiServer({ ...options, random: seededRandom(7) });
  }

  /** From now on something else always changes in the cluster, as in every real one. */
  beat(): void {
    const { clock } = this.#options;
    this.api.create('nodes', { metadata: { name: 'n' } });
    const beat = (): void => {
      const labels = { at: String(clock.now()) };
      this.api.update('nodes', { metadata: { name: 'n', labels } });
      clock.after(15_000, beat);
    };
    clock.after(15_000, beat);
  }

  /** `length`: characters in it, about. */
  create(length = 0): void {
    const name = `l${this.#serial++}`;
    const namespace = namespaces[name.length % 2] ?? '';
    const spec = { holderIdentity: 'x'.repeat(length) };
    this.api.create('leases', { metadata: { name, namespace }, spec });
  }

  /** Changes an object; which one, chance decides. */
  touch(chance: number): void {
    const lease = this.#any(chance);
    if (!lease) return;
    const spec = { ...lease.spec, leaseTransitions: (lease.spec.leaseTransitions ?? 0) + 1 };
    this.api.update('leases', { ...lease, spec });
  }

  delete(chance: number): void {
    const lease = this.#any(chance);
    if (lease) this.api.delete('leases', lease.metadata.namespace ?? '', lease.metadata.name);
  }

  /** Another object takes the place of one. */
  replace(chance: number): void {
    const lease = this.#any(chance);
    if (!lease) return;
    const { name, namespace = '' } = lease.metadata;
    this.api.delete('leases', namespace, name);
    this.api.create('leases', { metadata: { name, namespace }, spec: {} });
  }

  /** A bit of everything. */
  churn(): void {
    this.create();
    this.touch(0.2);
    this.replace(0.5);
    this.delete(0.7);
    this.touch(0.9);
  }

  /** What a list would say: the version of each object by its key, in order. */
  listed(): Map<string, string> {
    const entries = this.api.list('leases').map(({ metadata }) => {
      const { namespace, name, uid, resourceVersion } = metadata;
      return [`${namespace}/${name}`, `${uid} ${resourceVersion}`] as const;
    });
    return new Map(entries.sort());
  }

  #any(chance: number) {
    const leases = this.api.list('leases');
    return leases[Math.floor(chance * leases.length)] ?? null;
  }
}
