// Taint eviction, node lifecycle and device taint eviction of kube-controller-manager 1.36.2 as a
// separate client: for tests, the demo, and users who try something against it beside a cluster.
import { setTimeout as wait } from 'node:timers/promises';
import { createEngine } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import type { Millis } from '@taintmgr/core/time';
import type { DeviceSight } from '../controller/device-sources.ts';
import { Loop, type Notice } from '../controller/engine-loop.ts';
import {
  deviceTaintEviction,
  type UpstreamDeviceHeard,
  UpstreamDeviceLoop,
  type UpstreamDeviceNotice,
} from '../controller/upstream-devices.ts';
import { drive } from '../driver/driver.ts';
import type { Random } from '../proto/backoff.ts';
import type { Access } from '../transport/access.ts';
import { HttpTransport } from '../transport/http-transport.ts';
import { accessOf, type KubeConfigLike } from '../transport/kube-config.ts';
import { ApiClient } from './client.ts';
import { lookForDevices } from './devices.ts';

/** The word of its requests for who sends them. */
const program = 'kube-controller-manager/v1.36.2 (linux/amd64) kubernetes';
/** The User-Agent of its requests, by which API servers name their writer. */
export const upstreamUserAgent: string = `${program}/node-controller`;

const retryMs: Millis = 1_000;
const lease = { namespace: 'kube-system', name: 'kube-controller-manager' };

/** The choices of a loop that acts as kube-controller-manager 1.36.2 does. */
export interface UpstreamLoopOptions {
  /** Randomness for waits, e.g. Math.random. */
  readonly random: Random;
  /** Its name in the lease that it acts by, another one with each start; left out: it needs none. */
  readonly identity?: string;
  /** The way it watches over nodes, as the node-lifecycle-controller does; left out: not at all. */
  readonly nodes?: Partial<LifecycleConfig>;
  /**
   * False: it evicts no pods, as with --controllers=*,-taint-eviction-controller. Left out: it
   * evicts.
   */
  readonly taintEviction?: boolean;
}

/**
 * A loop that acts exactly as the taint-eviction-controller, defects included: the machine of core
 * with those semantics, with its own requests and Events. The loop marks a pod before it deletes
 * it; where it may not mark the pod, it tries five times and forgets the pod. Its timers are in its
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

/** The choices of an UpstreamManager. */
export interface UpstreamManagerOptions extends Omit<UpstreamLoopOptions, 'identity' | 'random'> {
  /** False: it acts without the lease, as with --leader-elect=false. Left out: by the lease. */
  readonly lease?: boolean;
  /**
   * Evict for taints of devices too (gate DRADeviceTaints), where the cluster serves these; `rules`: for those of
   * DeviceTaintRules as well (gate DRADeviceTaintRules, off by default in 1.36). Left out: not at all.
   */
  readonly devices?: { readonly rules: boolean };
}

/** The loop waits for its API server as the program does. */
const patienceMs: Millis = Number.POSITIVE_INFINITY;

/** Runs `upstreamLoop` against a cluster, as a program does, in real time. */
export class UpstreamManager {
  readonly #access: Access;
  readonly #options: UpstreamManagerOptions;
  #starts = 0;
  #life: { readonly end: AbortController; readonly over: Promise<void> } | null = null;

  /** `way`: as for HttpTransport. */
  constructor(way: Access | KubeConfigLike, options: UpstreamManagerOptions = {}) {
    this.#access = accessOf(way);
    this.#options = options;
  }

  /** Begins with empty hands. */
  start(): void {
    if (this.#life) return;
    const end = new AbortController();
    const transport = new HttpTransport(this.#access, upstreamUserAgent);
    this.#starts += 1;
    const { lease: needsLease = true, devices, ...duties } = this.#options;
    const elected = needsLease ? { identity: `control-plane_${this.#starts}` } : {};
    const loop = upstreamLoop({ random: Math.random, ...elected, ...duties });
    const term = new Term(!needsLease);
    const { signal } = end;
    const onNotice = (notice: Notice): void => term.hear(notice);
    const ofNodes = drive({ loop, transport, signal, patienceMs, onNotice });
    const ofDevices = devices && evictForDevices(this.#access, devices.rules, term, signal);
    const over = Promise.all([ofNodes, ofDevices]).then(() => {});
    this.#life = { end, over: over.finally(() => transport.close()) };
  }

  /** Forgets every timer, and gives the lease back. */
  async stop(): Promise<void> {
    const life = this.#life;
    this.#life = null;
    life?.end.abort();
    await life?.over;
  }
}

/** The leadership: when one of its loops is elected, the other acts too. */
class Term {
  #held: boolean;
  #tell: (held: boolean) => void = () => {};

  constructor(held: boolean) {
    this.#held = held;
  }

  hear(notice: Notice): void {
    if (notice.kind !== 'elected') return;
    this.#held = notice.held;
    this.#tell(this.#held);
  }

  follow(tell: (held: boolean) => void): void {
    this.#tell = tell;
    tell(this.#held);
  }
}

/** Ends at once where the cluster serves no devices. */
async function evictForDevices(
  access: Access,
  withRules: boolean,
  term: Term,
  signal: AbortSignal,
): Promise<void> {
  const transport = new HttpTransport(access, `${program}/${deviceTaintEviction}`);
  try {
    const client = new ApiClient({ transport, server: access.server, signal });
    const sight = await seenDevices(client, signal);
    if (!sight) return;
    const paths = { ...sight.paths, ...(!withRules && { devicetaintrules: null }) };
    await drive<UpstreamDeviceHeard, UpstreamDeviceNotice>({
      loop: new UpstreamDeviceLoop({ random: Math.random, paths }),
      ...{ transport, signal, patienceMs, onNotice: () => {} },
      onStart: (send) => term.follow((held) => send({ kind: 'leadership', held })),
    });
  } finally {
    transport.close();
  }
}

/** Asks until there is an answer; null: the cluster serves no devices, or it is over. */
async function seenDevices(client: ApiClient, signal: AbortSignal): Promise<DeviceSight | null> {
  while (!signal.aborted) {
    try {
      return await lookForDevices(client);
    } catch {
      await wait(retryMs, undefined, { signal }).catch(() => {});
    }
  }
  return null;
}
