import type { ApiServer, Fault } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import type { Network } from './network.ts';

const writes = ['patch', 'delete', 'create', 'update'];

/** Trouble that begins and ends by itself. */
export class Troubles {
  readonly #api: ApiServer;
  readonly #network: Network;
  readonly #draw: Draw;
  readonly #ends = new Set<() => void>();

  constructor(api: ApiServer, network: Network, draw: Draw) {
    this.#api = api;
    this.#network = network;
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
    ]);
    const verbs = draw.of([undefined, writes, ['list', 'watch'], ['get'], ['create']]);
    const probability = draw.of([0.2, 0.5, 1]);
    const rule = { fault, probability, ...(verbs && fault.kind !== 'cut' && { verbs }) };
    this.#for(ms, this.#api.faults.add(rule));
    return `${JSON.stringify(rule)} for ${ms} ms`;
  }

  #slowLine(ms: number): string {
    const trouble = this.#draw.of([0.1, 0.4, 0.9]);
    this.#network.trouble = trouble;
    this.#for(ms, () => {
      this.#network.trouble = this.#network.quietTrouble;
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
