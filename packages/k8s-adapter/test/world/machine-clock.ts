import type { MachineClocks } from '../../src/driver/runner.ts';

/** The clocks of one machine in a world of virtual time. */
export class MachineClock implements MachineClocks {
  readonly #world: { now(): number };
  /** How far its wall clock is off. */
  #off = 0;
  /** For how long it has been suspended. */
  #suspendedFor = 0;
  #suspendedAt: number | null = null;

  constructor(world: { now(): number }) {
    this.#world = world;
  }

  get isSuspended(): boolean {
    return this.#suspendedAt !== null;
  }

  /** Does not count the time in which the machine is suspended. */
  monotonic(): number {
    return (this.#suspendedAt ?? this.#world.now()) - this.#suspendedFor;
  }

  wall(): number {
    return this.#world.now() + this.#off;
  }

  /** Somebody sets its wall clock. */
  set(by: number): void {
    this.#off += by;
  }

  suspend(): void {
    this.#suspendedAt ??= this.#world.now();
  }

  resume(): void {
    if (this.#suspendedAt === null) return;
    this.#suspendedFor += this.#world.now() - this.#suspendedAt;
    this.#suspendedAt = null;
  }
}
