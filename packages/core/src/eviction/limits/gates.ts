// The gates of all limits, by the limit and the name of the scope.
import type { Instant } from '../../kernel/time.ts';
import type { BoundLimit } from './bound-limit.ts';
import { Gate } from './scope-limit.ts';

/** The gates there are: each is made when it is first needed. */
export class Gates {
  readonly #gates = new Map<string, Gate>();
  /** Since when we lead, as far as anybody told; null: all along. */
  #leadsSince: Instant | null = null;

  /** We lead. Nobody knows what another has let go a moment ago: rates begin anew. */
  lead(now: Instant): void {
    this.#leadsSince = now;
    for (const gate of this.#gates.values()) gate.begin(now);
  }

  of(limit: BoundLimit, name: string): Gate {
    const key = gateKey(limit, name);
    const known = this.#gates.get(key);
    if (known) return known;
    const gate = new Gate(limit, name);
    if (this.#leadsSince !== null) gate.begin(this.#leadsSince);
    this.#gates.set(key, gate);
    return gate;
  }

  all(): readonly Gate[] {
    return [...this.#gates.values()];
  }

  /** Whether any is shut until evictions are resumed. */
  get isTripped(): boolean {
    for (const { tripped } of this.#gates.values()) if (tripped) return true;
    return false;
  }

  /** Its limit is no more. */
  drop({ limit, name }: Gate): void {
    this.#gates.delete(gateKey(limit, name));
  }

  /** Forgets the gate if nothing is lost with it; without `now` one with a rate stays. */
  tidy(gate: Gate, now: Instant | null): void {
    const key = gateKey(gate.limit, gate.name);
    if (gate.isIdle(now) && this.#gates.get(key) === gate) this.#gates.delete(key);
  }
}

function gateKey({ key }: BoundLimit, name: string): string {
  return `${key}/${name}`;
}
