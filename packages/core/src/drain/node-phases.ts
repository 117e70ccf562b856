// The target nodes of a drain in their order, and how far each is.
import type { Instant, Millis } from '../kernel/time.ts';
import type { DrainTarget } from './config.ts';
import { type DrainNode, type DrainNodePhase, isBegun, isEnded } from './state.ts';
import type { Wave } from './wave.ts';

const oneWave: Wave = { name: '', nodesAtOnceMax: null };

/** Which nodes there are, whose turn is when, and the phase of each. */
export class NodePhases {
  /** Of each target, in their order. */
  readonly #places = new Map<string, Pick<DrainNode, 'zone' | 'wave'>>();
  readonly #phases = new Map<string, DrainNodePhase>();

  /** One more node, or another by the name of one. */
  add({ name, zone, wave = oneWave, phase = { kind: 'pending' } }: DrainTarget): void {
    this.#places.set(name, { zone, wave });
    this.#phases.set(name, phase);
  }

  /** Turns come in this order; those of nodes that are not named last. */
  order(names: readonly string[]): void {
    const before = new Map(this.#places);
    this.#places.clear();
    for (const name of [...names, ...before.keys()]) {
      const place = before.get(name);
      if (place) this.#places.set(name, place);
    }
  }

  remove(name: string): void {
    this.#places.delete(name);
    this.#phases.delete(name);
  }

  set(name: string, phase: DrainNodePhase): void {
    this.#phases.set(name, phase);
  }

  list(): readonly DrainNode[] {
    return Array.from(this.#places, ([name, at]) => ({ name, ...at, phase: this.of(name) }));
  }

  /** In the order in which they were added. */
  names(): Iterable<string> {
    return this.#phases.keys();
  }

  of(name: string): DrainNodePhase {
    return this.#phases.get(name) ?? { kind: 'pending' };
  }

  has(name: string): boolean {
    return this.#phases.has(name);
  }

  get allEnded(): boolean {
    return [...this.#phases.values()].every(isEnded);
  }

  isEnded(name: string): boolean {
    return isEnded(this.of(name));
  }

  isPending(name: string): boolean {
    return this.of(name).kind === 'pending';
  }

  isBegun(name: string): boolean {
    return isBegun(this.of(name));
  }

  isDraining(name: string): boolean {
    return this.of(name).kind === 'draining';
  }

  /** When a node's turn came; null: it has not come. */
  begunAt(name: string): Instant | null {
    const phase = this.of(name);
    return phase.kind === 'draining' ? phase.since : null;
  }

  /** When the time of each node that has begun is over, if it may take so long; null: it never is. */
  timeouts(
    nodeTimeoutMs: Millis | null,
  ): readonly { readonly name: string; readonly at: Instant }[] {
    if (nodeTimeoutMs === null) return [];
    return [...this.#phases].flatMap(([name, phase]) =>
      phase.kind === 'tainting' || phase.kind === 'draining'
        ? [{ name, at: phase.since + nodeTimeoutMs }]
        : [],
    );
  }
}

/** Who does not change them. */
export type NodePhasesView = Omit<NodePhases, 'add' | 'order' | 'remove' | 'set'>;
