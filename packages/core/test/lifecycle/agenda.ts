// What is to happen, and when.

/** Something that is to happen at an instant. */
export interface Plan {
  readonly at: number;
  readonly run: () => void;
}

/** What is to happen: the earliest first, and at one instant in the order in which it was added. */
export class Agenda {
  #plans: Plan[] = [];

  add(at: number, run: () => void): void {
    this.#plans.push({ at, run });
  }

  /** Null: nothing is to happen. */
  next(): Plan | null {
    let first: Plan | null = null;
    for (const plan of this.#plans) if (!first || plan.at < first.at) first = plan;
    return first;
  }

  /** It is over, and happens. */
  run(plan: Plan): void {
    this.#plans.splice(this.#plans.indexOf(plan), 1);
    plan.run();
  }

  /** Forgets the others. */
  keep(isKept: (run: () => void) => boolean): void {
    this.#plans = this.#plans.filter(({ run }) => isKept(run));
  }
}
