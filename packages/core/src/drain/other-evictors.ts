// Records which other programs remove pods of a drain; it stops for one that asks no budgets.
import type { Instant } from '../kernel/time.ts';
import { type Pod, podRef } from '../model/pod.ts';
import type { DrainConfig } from './config.ts';
import { taintDeletionOf } from './departure.ts';
import type { DrainNodes } from './nodes.ts';
import type { DrainPods } from './pods.ts';
import type { DrainNote, DrainStop } from './state.ts';

/** What they are seen at. */
interface EvictorSite {
  readonly nodes: DrainNodes;
  readonly pods: DrainPods;
  readonly note: (note: DrainNote) => void;
}

/** Other evictors, by the marks that they leave on pods. */
export class OtherEvictors {
  readonly #config: DrainConfig;
  readonly #site: EvictorSite;
  #stop: DrainStop | null = null;

  constructor(config: DrainConfig, site: EvictorSite) {
    this.#config = config;
    this.#site = site;
  }

  /** Why the drain was stopped; null: it was not. */
  get stop(): DrainStop | null {
    return this.#stop;
  }

  /** A pod as it is now. */
  follow(now: Instant, pod: Pod): void {
    const { nodes, pods } = this.#site;
    const { disruption, nodeName } = pod;
    if (!disruption || !nodes.phases.has(nodeName)) return;
    const known = pods.get(pod.uid);
    const by = taintDeletionOf(disruption, known?.deleted === true, this.#config);
    // What was marked before the taint came is of another taint.
    const isNews = by !== null && !known?.taken && !nodes.phases.isPending(nodeName);
    if (known) pods.put(pod, known.state, { disruption, taken: known.taken ?? by });
    if (!isNews || !this.#matters || this.#stop !== null) return;
    this.#stop = { pod: podRef(pod), by };
    this.#site.note({ kind: 'stopped', stop: this.#stop });
    nodes.stop(now, 'ForeignEviction');
  }

  /** Whether it matters that another controller deletes pods: for our taint, without asking budgets. */
  get #matters(): boolean {
    const { taint, budgets } = this.#config;
    return taint.effect === 'NoExecute' && budgets.kind !== 'ignore';
  }
}
