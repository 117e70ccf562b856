// What goes on in the feeder's cluster: kubelets renew leases and report, pods change.
import type { Collections } from './collections.ts';
import type { Kind, World } from './world.ts';

/** Changes each second. */
export type Rates = Readonly<Record<Kind, number>>;

const beatMs = 20;
/** More than a client may leave unread: then nothing changes, until it has caught up. */
const unreadMax = 8 * 1024 * 1024;

/** Changes objects of each kind evenly, one after the other. */
export class Heart {
  readonly #world: World;
  readonly #collections: Collections;
  #rates: Rates = { nodes: 0, pods: 0, leases: 0 };
  readonly #next: Record<Kind, number> = { nodes: 0, pods: 0, leases: 0 };
  readonly #due: Record<Kind, number> = { nodes: 0, pods: 0, leases: 0 };
  #changes = 0;
  #failed = false;
  #beatAt: number = performance.now();

  constructor(world: World, collections: Collections) {
    this.#world = world;
    this.#collections = collections;
    setInterval(() => this.#once(), beatMs);
  }

  beat(rates: Rates): void {
    this.#rates = rates;
  }

  /** The first zone is heard of no more. */
  fail(): void {
    this.#failed = true;
  }

  takeChanges(): number {
    const changes = this.#changes;
    this.#changes = 0;
    return changes;
  }

  #once(): void {
    const now = performance.now();
    const seconds = (now - this.#beatAt) / 1000;
    this.#beatAt = now;
    if (this.#collections.unread > unreadMax) return;
    for (const kind of ['leases', 'nodes', 'pods'] as const) this.#change(kind, seconds);
  }

  #change(kind: Kind, seconds: number): void {
    this.#due[kind] += this.#rates[kind] * seconds;
    for (; this.#due[kind] >= 1; this.#due[kind] -= 1) {
      const index = this.#next[kind] % this.#world.count(kind);
      // A prime: pods that change do not all stand on neighbouring nodes.
      this.#next[kind] += kind === 'pods' ? 7919 : 1;
      const ref = { kind, index };
      if (!this.#world.exists(ref) || this.#isLost(kind, index)) continue;
      this.#world.change(ref);
      this.#collections.emit(ref);
      this.#changes += 1;
    }
  }

  #isLost(kind: Kind, index: number): boolean {
    const node = kind === 'pods' ? this.#world.nodeOf(index) : index;
    return this.#failed && node < this.#world.size.failing;
  }
}
