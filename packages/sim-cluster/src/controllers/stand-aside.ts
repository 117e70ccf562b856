// The cluster's controllers beside a real kube-controller-manager.
import type { Watchers } from '../handlers/watchers.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Controller } from './controller.ts';

const program = 'kube-controller-manager';
/** Between the end of a watch and the next one of the same client. */
const goneMs = 15_000;

/**
 * Stops controllers while a kube-controller-manager does their work, so that two do not write the same
 * status, and starts them again when it is gone.
 */
export class StandAside {
  readonly #clock: Clock;
  readonly #watchers: Watchers;
  readonly #controllers: readonly Controller[];
  readonly #followed: string;
  #unsubscribe: (() => void) | null = null;
  #isAside = false;
  #gone: Timer | null = null;

  /** `followed` is what it opens when it does the work of these. */
  constructor(
    clock: Clock,
    watchers: Watchers,
    controllers: readonly Controller[],
    followed: string,
  ) {
    this.#followed = followed;
    this.#clock = clock;
    this.#watchers = watchers;
    this.#controllers = controllers;
  }

  /** True if this controller leaves its work to others at present. */
  holds(controller: Controller): boolean {
    return this.#isAside && this.#controllers.includes(controller);
  }

  start(): void {
    this.#unsubscribe ??= this.#watchers.subscribe(() => this.#look());
    this.#look();
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#gone?.cancel();
    this.#gone = null;
  }

  #look(): void {
    if (this.#watchers.hasWhole(program, this.#followed)) {
      this.#gone?.cancel();
      this.#gone = null;
      if (this.#isAside) return;
      this.#isAside = true;
      for (const controller of this.#controllers) controller.stop();
    } else if (this.#isAside) {
      this.#gone ??= this.#clock.after(goneMs, () => this.#takeOver());
    }
  }

  #takeOver(): void {
    this.#gone = null;
    this.#isAside = false;
    for (const controller of this.#controllers) controller.start();
  }
}
