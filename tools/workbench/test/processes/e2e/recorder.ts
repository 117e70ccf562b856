// The calls of a client as the audit log of the recorded run shows them.

/** One line of the log; polls are folded. */
export interface LoggedCall {
  /** `get /api/v1/nodes/NODE -> 200`. */
  readonly call: string;
  readonly times: number;
}

/** Notes calls, with the names that a run makes up replaced as in the recording. */
export class Recorder {
  readonly #names = new Map<string, string>();
  #calls: LoggedCall[] = [];
  #poll: Map<string, number> | null = null;

  /** Writes `shown` wherever a path says `name` from now on. */
  name(name: string, shown: string): void {
    this.#names.set(name, shown);
  }

  note(verb: string, path: string, query: Readonly<Record<string, string>>, status: number): void {
    const parts = path.split('/').map((part) => this.#names.get(part) ?? part);
    const parameters = Object.entries(query)
      .map(([key, value]) => `${key}=${key.startsWith('timeout') ? '…' : value}`)
      .sort();
    const search = parameters.length > 0 ? `?${parameters.join('&')}` : '';
    const call = `${verb} ${parts.join('/')}${search} -> ${status}`;
    if (this.#poll) this.#poll.set(call, (this.#poll.get(call) ?? 0) + 1);
    else this.#calls.push({ call, times: 1 });
  }

  /** What is asked again and again in here becomes one line for each question. */
  async poll<T>(ask: () => Promise<T>): Promise<T> {
    this.#poll = new Map();
    try {
      return await ask();
    } finally {
      for (const [call, times] of this.#poll) this.#calls.push({ call, times });
      this.#poll = null;
    }
  }

  /** The calls since the last time. */
  take(): readonly LoggedCall[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }
}
