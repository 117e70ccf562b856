// Values that change during a run, as steps in time.

/** One state of something, from that second after the beginning until the next. */
export type Step<State> = State & { readonly at: number };

/** The states that something goes through. Only the last of those of one instant counts. */
export class Steps<State extends object> {
  readonly #steps: Step<State>[] = [];
  #last = '';

  /** `at` in seconds, never before the last one. */
  push(at: number, state: State): void {
    const text = JSON.stringify(state);
    if (this.#steps.at(-1)?.at === at) {
      this.#steps.pop();
      this.#last = textOf(this.#steps.at(-1));
    }
    if (text === this.#last) return;
    this.#steps.push({ at, ...state });
    this.#last = text;
  }

  get all(): readonly Step<State>[] {
    return this.#steps;
  }

  get last(): Step<State> | undefined {
    return this.#steps.at(-1);
  }
}

function textOf(step: (object & { readonly at: number }) | undefined): string {
  if (!step) return '';
  const { at: _, ...state } = step;
  return JSON.stringify(state);
}
