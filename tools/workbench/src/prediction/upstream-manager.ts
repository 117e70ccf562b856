// kube-controller-manager's taint eviction as a program of its own, on a virtual clock.

import type { ServedCluster } from '@taintmgr/api-server';
import type { Instant } from '@taintmgr/core/time';
import { upstreamLoop, upstreamUserAgent, VirtualDriver } from '@taintmgr/k8s-adapter';
import { type Exchange, seededRandom, type Timer, type VirtualClock } from '@taintmgr/sim-cluster';

export interface UpstreamManagerOptions {
  readonly cluster: ServedCluster;
  readonly clock: VirtualClock;
  /** How its API server is reached. */
  readonly exchange: Exchange;
  /** The token it logs in with. */
  readonly token: string;
}

const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const leaseName = 'kube-controller-manager';
const renewMs = 2_000;
const seed = 7;

/** Its timers are in its memory, and its lease outlives it: a restart forgets the ones, and takes the other. */
export class VirtualUpstreamManager {
  readonly #options: UpstreamManagerOptions;
  #driver: VirtualDriver | null = null;
  #renewal: Timer | null = null;
  #starts = 0;

  constructor(options: UpstreamManagerOptions) {
    this.#options = options;
  }

  /** Takes the lease, and begins with empty hands. */
  start(): void {
    const { clock } = this.#options;
    const loop = upstreamLoop({ random: seededRandom(seed) });
    const exchange = this.#exchange;
    this.#driver = new VirtualDriver({ loop, exchange, clock, onNotice: () => {} });
    this.#starts++;
    this.#claim(clock.now());
    this.#driver.feed({ kind: 'start' });
  }

  /** Forgets every timer; its lease is held until it runs out. */
  stop(): void {
    this.#renewal?.cancel();
    this.#driver?.feed({ kind: 'stop' });
    this.#driver = null;
  }

  /** Moves time to `instant`; what is due on the way has been done when it returns. */
  runUntil(instant: Instant): void {
    if (this.#driver) this.#driver.runUntil(instant);
    else this.#options.clock.advanceTo(instant);
  }

  #claim(acquiredAt: Instant): void {
    const { cluster, clock } = this.#options;
    const known = cluster.api.get('leases', 'kube-system', leaseName);
    const spec = {
      holderIdentity: `control-plane_${this.#starts}`,
      leaseDurationSeconds: 15,
      acquireTime: microTime(acquiredAt),
      renewTime: microTime(clock.now()),
    };
    const metadata = known?.metadata ?? { name: leaseName, namespace: 'kube-system' };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    const [method, path] = known ? ['PUT', `${leasesPath}/${leaseName}`] : ['POST', leasesPath];
    const headers = { 'content-type': 'application/json' };
    const ignored = { head() {}, data() {}, end() {}, reset() {} };
    this.#exchange(
      { method: method ?? '', path: path ?? '', headers, body: JSON.stringify(lease) },
      ignored,
    );
    this.#renewal = clock.after(renewMs, () => this.#claim(acquiredAt));
  }

  readonly #exchange: Exchange = (request, sink) => {
    const { exchange, token } = this.#options;
    const own = { 'user-agent': upstreamUserAgent, authorization: `Bearer ${token}` };
    return exchange({ ...request, headers: { ...request.headers, ...own } }, sink);
  };
}

function microTime(instant: Instant): string {
  return new Date(instant).toISOString().replace('Z', '000Z');
}
