// Taint eviction and node lifecycle of kube-controller-manager 1.36.2 as a client of its own: the one that tests,
// the demo, and users who try something against it have beside a cluster.
import { createEngine } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import { Loop } from '../controller/engine-loop.ts';
import { drive } from '../driver/driver.ts';
import type { Random } from '../proto/backoff.ts';
import type { Access } from '../transport/access.ts';
import { HttpTransport } from '../transport/http-transport.ts';

/** The word of its requests for who sends them. */
export const upstreamUserAgent =
  'kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/node-controller';

const lease = { namespace: 'kube-system', name: 'kube-controller-manager' };

export interface UpstreamLoopOptions {
  readonly random: Random;
  /** Its name in the lease that it acts by, another one with each start; left out: it needs none. */
  readonly identity?: string;
  /** The way it watches over nodes, as the node-lifecycle-controller does; left out: not at all. */
  readonly nodes?: Partial<LifecycleConfig>;
  /** False: it evicts nobody, as with --controllers=*,-taint-eviction-controller. Left out: it evicts. */
  readonly taintEviction?: boolean;
}

/**
 * A loop that does what the taint-eviction-controller does to the letter, defects included: the machine
 * of core with those semantics, with requests and Events of its own. It marks a pod before it
 * deletes it, and where it may not, it tries five times and forgets the pod. Its timers are in its
 * memory: another loop knows none of them.
 */
export function upstreamLoop(options: UpstreamLoopOptions): Loop {
  const { identity, random, nodes, taintEviction = true } = options;
  const machine = createEngine({
    semantics: 'upstream-1.36',
    taintEviction,
    leader: identity === undefined,
    lifecycle: nodes ?? null,
  });
  const election = identity === undefined ? {} : { election: { lease, identity } };
  const component = 'taint-eviction-controller';
  return new Loop({ machine, random, component, leases: nodes !== undefined, ...election });
}

export interface UpstreamManagerOptions extends Omit<UpstreamLoopOptions, 'identity' | 'random'> {
  /** False: it acts without the lease, as with --leader-elect=false. Left out: by the lease. */
  readonly lease?: boolean;
}

/** The same as a running program, in real time. */
export class UpstreamManager {
  readonly #access: Access;
  readonly #options: UpstreamManagerOptions;
  #starts = 0;
  #life: { readonly end: AbortController; readonly over: Promise<void> } | null = null;

  constructor(access: Access, options: UpstreamManagerOptions = {}) {
    this.#access = access;
    this.#options = options;
  }

  /** Begins with empty hands. */
  start(): void {
    if (this.#life) return;
    const end = new AbortController();
    const transport = new HttpTransport(this.#access, upstreamUserAgent);
    this.#starts += 1;
    const { lease: needsLease = true, ...duties } = this.#options;
    const elected = needsLease ? { identity: `control-plane_${this.#starts}` } : {};
    const loop = upstreamLoop({ random: Math.random, ...elected, ...duties });
    const over = drive({ loop, transport, signal: end.signal, onNotice: () => {} }).finally(() =>
      transport.close(),
    );
    this.#life = { end, over };
  }

  /** Forgets every timer, and gives the lease back. */
  async stop(): Promise<void> {
    const life = this.#life;
    this.#life = null;
    life?.end.abort();
    await life?.over;
  }
}
