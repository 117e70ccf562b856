import type { Node } from '../../model/node.ts';
import type { Pod } from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import { isWindowed } from '../../policy/limit.ts';
import type { StoreView } from '../../store.ts';
import {
  type Availability,
  type BoundLimit,
  type LimitGate,
  type LimitGates,
  namesOf,
} from './limit-gate.ts';

interface GateCount {
  readonly availability: Availability;
  readonly labels: Labels | undefined;
  readonly gates: readonly LimitGate[];
  /** The state of the limits by which it was counted. */
  readonly version: number;
}

/**
 * Counts each pod in the limits that have a window: as available, as unavailable, or not at all.
 * Each pod is kept with the gates it was counted in, so that what is taken out of a count is what was
 * put in, whatever has become of its node, its labels or the limits.
 */
export class PodCounts {
  readonly #store: StoreView;
  readonly #gates: LimitGates;
  #windowed: readonly BoundLimit[] = [];
  #version = 0;
  readonly #nodes = new Map<string, string>();
  readonly #counted = new Map<string, GateCount>();

  constructor(store: StoreView, gates: LimitGates) {
    this.#store = store;
    this.#gates = gates;
  }

  /** True when any limit has a window; nothing is counted otherwise. */
  get isNeeded(): boolean {
    return this.#windowed.length > 0;
  }

  /** The limits have changed, or match other pods: every pod has to be put again. */
  setLimits(limits: readonly BoundLimit[]): void {
    this.#windowed = limits.filter(({ rule }) => isWindowed(rule));
    this.#version += 1;
    if (!this.isNeeded) this.#counted.clear();
  }

  /** The way a pod counts in a gate; null: it does not. */
  in(gate: LimitGate, uid: string): Availability | null {
    const counted = this.#counted.get(uid);
    return counted?.gates.includes(gate) ? counted.availability : null;
  }

  /** Takes in how a pod counts now (null: it does not); true when that may have made room. */
  put(pod: Pod, availability: Availability | null): boolean {
    const before = this.#counted.get(pod.uid);
    const isCurrent = before?.version === this.#version && before.labels === pod.labels;
    if (before?.availability === availability && isCurrent) return false;
    if (!before && !availability) return false;
    this.#replace(pod, before, availability);
    return before?.availability !== 'available' || !isCurrent;
  }

  /** Takes in a node as it is now; its pods move to where they count now. */
  move(name: string, node: Node | null): void {
    const looks = node && looksOf(node);
    if (looks === (this.#nodes.get(name) ?? null)) return;
    if (looks === null) this.#nodes.delete(name);
    else this.#nodes.set(name, looks);
    for (const pod of this.#store.podsOn(name)) {
      const counted = this.#counted.get(pod.uid);
      if (counted) this.#replace(pod, counted, counted.availability);
    }
  }

  #replace(pod: Pod, before: GateCount | undefined, availability: Availability | null): void {
    const { uid, labels } = pod;
    if (before) for (const gate of before.gates) gate.adjust(uid, before.availability, -1);
    if (availability === null) this.#counted.delete(uid);
    else {
      const node = this.#store.node(pod.nodeName);
      const gates = this.#windowed.flatMap((limit) =>
        namesOf(limit, pod, node, this.#store).map((name) => this.#gates.of(limit, name)),
      );
      for (const gate of gates) gate.adjust(uid, availability, 1);
      this.#counted.set(uid, { availability, labels, gates, version: this.#version });
    }
    if (before) for (const gate of before.gates) this.#gates.tidy(gate, null);
  }
}

/** The way a pod counts, wherever it does. A pod without reported readiness counts as available. */
export function availabilityOf(pod: Pod, late: boolean): Availability | null {
  const isFinished = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  if (pod.nodeName === '' || isFinished || late) return null;
  const isDown = pod.ready === 'False' || pod.ready === 'Unknown';
  return pod.deletionTimestamp !== null || isDown ? 'unavailable' : 'available';
}

/** All of a node that decides where its pods count. */
function looksOf({ uid, zone, labels, taints }: Node): string {
  const keys = taints
    .filter(({ effect }) => effect === 'NoExecute')
    .map(({ key, value }) => [key, value]);
  return JSON.stringify([uid, zone, labels, keys]);
}
