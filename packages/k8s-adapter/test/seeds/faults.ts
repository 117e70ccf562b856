import type { ApiServer } from '@taintmgr/api-server';
import type { Fault, FaultRule } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import type { Network } from './network.ts';

const writes = ['patch', 'delete', 'create', 'update'];

/** What some faults may strike; the others may strike anything. */
const verbsOf: Partial<Record<Fault['kind'], readonly (readonly string[])[]>> = {
  cut: [['watch']],
  duplicate: [['watch']],
  halfOpen: [['get'], ['list'], writes],
  // What is written late is not seen to be the work of who asked for it.
  delay: [['get'], ['list']],
};

/** Trouble that begins and ends by itself. */
export class Troubles {
  readonly #api: ApiServer;
  readonly #networks: readonly Network[];
  readonly #draw: Draw;
  readonly #ends = new Set<() => void>();

  constructor(api: ApiServer, networks: readonly Network[], draw: Draw) {
    this.#api = api;
    this.#networks = networks;
    this.#draw = draw;
  }

  /** Begins one kind of trouble for a while; answers what it is. */
  begin(): string {
    const draw = this.#draw;
    const ms = draw.of([100, 2000, 9000, 11_000, 40_000, 100_000, 400_000]);
    const text = draw.weighted<() => string>([
      [3, () => this.#outage(ms)],
      [4, () => this.#fault(ms)],
      [3, () => this.#slowLine(ms)],
      [2, () => this.#brokenStreams()],
      [2, () => this.#forgottenHistory()],
    ])();
    return text;
  }

  /** Such requests go wrong for a while; answers what it is. */
  strike(rule: FaultRule, ms: number): string {
    this.#for(ms, this.#api.faults.add(rule));
    return `${JSON.stringify(rule)} for ${ms} ms`;
  }

  /** The API server is down for a moment, and knows nothing of the past when it is up again. */
  restart(ms: number): string {
    this.#api.compact();
    return `the API server restarts: ${this.#outage(ms)}`;
  }

  /** Ends all of it. */
  end(): void {
    for (const end of [...this.#ends]) end();
  }

  #outage(ms: number): string {
    this.#api.faults.down = true;
    this.#for(ms, () => {
      this.#api.faults.down = false;
    });
    return `outage for ${ms} ms`;
  }

  #fault(ms: number): string {
    const draw = this.#draw;
    const fault = draw.of<Fault>([
      { kind: 'refuse' },
      { kind: 'lose' },
      { kind: 'answer', code: 409 },
      { kind: 'answer', code: 410 },
      { kind: 'answer', code: 429 },
      { kind: 'answer', code: 500 },
      { kind: 'cut', afterMs: draw.of([0, 300, 5000]), how: draw.of(['end', 'reset']) },
      { kind: 'duplicate', chance: draw.of([0.3, 1]) },
      // Of watches the line takes care: there the apiHistory has to know who hears nothing.
      { kind: 'halfOpen', afterMs: 0 },
      { kind: 'delay', ms: draw.of([1, 900, 31_000]) },
    ]);
    const verbs = draw.of(verbsOf[fault.kind] ?? [undefined, writes, ['list', 'watch'], ['get']]);
    const probability = draw.of([0.2, 0.5, 1]);
    const rule = { fault, probability, ...(verbs && { verbs }) };
    return this.strike(rule, ms);
  }

  #slowLine(ms: number): string {
    const trouble = this.#draw.of([0.1, 0.4, 0.9]);
    const network = this.#draw.of(this.#networks);
    network.trouble = trouble;
    this.#for(ms, () => {
      network.trouble = network.quietTrouble;
    });
    return `slow line ${trouble} for ${ms} ms`;
  }

  #brokenStreams(): string {
    this.#api.faults.breakStreams();
    return 'all streams break';
  }

  /** With the streams broken the clients find out that they have to list. */
  #forgottenHistory(): string {
    this.#api.faults.breakStreams();
    this.#api.compact();
    return 'all streams break, past changes are forgotten';
  }

  #for(ms: number, stop: () => void): void {
    const end = (): void => {
      if (this.#ends.delete(end)) stop();
    };
    this.#ends.add(end);
    this.#api.clock.after(ms, end);
  }
}
