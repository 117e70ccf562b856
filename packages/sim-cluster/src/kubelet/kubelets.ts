import type { ControllerContext } from '../controllers/controller.ts';
import type { Change } from '../store/cluster-api.ts';
import { Heartbeats } from './heartbeat-timer.ts';
import {
  Kubelet,
  type KubeletOptions,
  type KubeletProgress,
  type ReportRenewal,
} from './kubelet.ts';
import type { NodeDescription } from './node-status.ts';

const followed = new Set(['pods', 'nodes', 'leases']);

/** All kubelets of the cluster; a change goes to the kubelet that it concerns, and to no other. */
export class Kubelets {
  readonly #context: ControllerContext;
  readonly #seed: number;
  readonly #common: Pick<KubeletOptions, 'timing' | 'isBrief'>;
  readonly #heartbeats: Heartbeats;
  readonly #kubelets = new Map<string, Kubelet>();
  #count = 0;
  #reportRenewal: ReportRenewal = () => false;
  #unsubscribe: (() => void) | null = null;

  constructor(
    context: ControllerContext,
    seed: number,
    common: Pick<KubeletOptions, 'timing' | 'isBrief'>,
  ) {
    this.#context = context;
    this.#seed = seed;
    this.#common = common;
    this.#heartbeats = new Heartbeats(context.api.clock, common.timing.heartbeatMs);
  }

  start(): void {
    this.#unsubscribe ??= this.#context.api.subscribe((change) => this.#notice(change), followed);
    for (const kubelet of this.#kubelets.values()) kubelet.start();
  }

  #notice({ resource, object, key }: Change): void {
    if (resource === 'pods') {
      if (object.spec.nodeName) this.#kubelets.get(object.spec.nodeName)?.noticePod(key, object);
    } else this.#kubelets.get(object.metadata.name)?.noticeOwn();
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    for (const kubelet of this.#kubelets.values()) kubelet.stop();
  }

  /** From now on renewals that change nothing else are reported; those that are not taken are written. */
  reportRenewals(report: ReportRenewal): void {
    this.#reportRenewal = report;
  }

  /** Writes the renewals that were only reported. */
  writeRenewals(): void {
    for (const kubelet of this.#kubelets.values()) kubelet.writeRenewal();
  }

  /** The kubelet of that node, or null. */
  get(nodeName: string): Kubelet | null {
    return this.#kubelets.get(nodeName) ?? null;
  }

  /** The kubelets of a zone, in the order in which they were added. */
  inZone(zone: string): readonly Kubelet[] {
    return [...this.#kubelets.values()].filter((kubelet) => kubelet.zone === zone);
  }

  /**
   * Adds a machine; its kubelet starts with the others, or now when they run already. `progress`: it has been
   * at work before.
   */
  add(node: NodeDescription, progress: KubeletProgress | null = null): Kubelet {
    const present = this.#kubelets.get(node.name);
    if (present) return present;
    const index = ++this.#count;
    const kubelet = new Kubelet(this.#context, {
      ...{ node, progress, seed: this.#seed, index, heartbeats: this.#heartbeats, ...this.#common },
      reportRenewal: (nodeName, renewedAt) => this.#reportRenewal(nodeName, renewedAt),
    });
    this.#kubelets.set(node.name, kubelet);
    if (this.#unsubscribe) kubelet.start();
    return kubelet;
  }

  /** True if every machine has its Node. */
  areRegistered(): boolean {
    const { api } = this.#context;
    return [...this.#kubelets.keys()].every((name) => api.get('nodes', '', name) !== null);
  }

  /** Takes the machine away; its objects stay. */
  remove(nodeName: string): void {
    this.#kubelets.get(nodeName)?.stop();
    this.#kubelets.delete(nodeName);
  }
}
