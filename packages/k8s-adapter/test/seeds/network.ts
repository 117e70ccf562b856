import type { ApiHistory, Replica } from '@taintmgr/oracle';
import type { ApiRequest, Exchange, ResponseSink, VirtualClock } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';

/** What the line does to one request. */
type Fate =
  | { readonly kind: 'pass' }
  /** It arrives late, even when the client has given up by then. */
  | { readonly kind: 'late'; readonly ms: number }
  /** It is carried out at once, and its answer comes late. */
  | { readonly kind: 'slowAnswer'; readonly ms: number }
  /** It never arrives, and nobody says so. */
  | { readonly kind: 'vanish' }
  /** A stream falls silent after a while without an end. */
  | { readonly kind: 'stall'; readonly ms: number };

/** One exchange under way as the client's end of the line has it. */
interface Line {
  open: boolean;
  hangUp: () => void;
}

const pingMs = 5000;

export interface NetworkOptions {
  readonly api: Exchange;
  readonly clock: VirtualClock;
  readonly apiHistory: ApiHistory;
  /** Whose line it is. */
  readonly replica: Replica;
  readonly draw: Draw;
  /** How likely a request does not simply pass in quiet times. */
  readonly quiet: number;
}

/**
 * The line between the controller and the API server. It can be slow, lose requests, and hold
 * everything back while the controller's process stands still.
 */
export class Network {
  /** How likely a request does not simply pass. */
  trouble: number;
  /** The same in quiet times. */
  readonly quietTrouble: number;
  readonly #clock: VirtualClock;
  readonly #apiHistory: ApiHistory;
  readonly #replica: Replica;
  readonly #draw: Draw;
  readonly #server: Exchange;
  readonly #lines = new Set<Line>();
  /** Whether connections are asked for signs of life, as HTTP/2 does it and HTTP/1.1 cannot. */
  readonly #pings: boolean;
  #heldBack: (() => void)[] | null = null;

  constructor({ api, clock, apiHistory, replica, draw, quiet }: NetworkOptions) {
    this.trouble = quiet;
    this.quietTrouble = quiet;
    this.#clock = clock;
    this.#apiHistory = apiHistory;
    this.#replica = replica;
    this.#draw = draw;
    this.#server = apiHistory.server(api);
    this.#pings = draw.chance(0.5);
  }

  /** The controller's end. */
  get exchange(): Exchange {
    return this.#replica.client((request, sink) => this.#send(request, sink));
  }

  /** The controller is gone: nothing it asked for is heard any more; what is on its way arrives. */
  disconnect(): void {
    for (const line of [...this.#lines]) close(line, this.#lines);
    this.#heldBack = null;
  }

  /** From now on nothing reaches the controller. */
  holdBack(): void {
    this.#heldBack ??= [];
    this.#replica.blind();
  }

  /** It hears what was held back, in order, and hears again. */
  letThrough(): void {
    this.#replica.unblind();
    const held = this.#heldBack ?? [];
    // What comes meanwhile comes after what was held back.
    for (let deliver = held.shift(); deliver; deliver = held.shift()) deliver();
    this.#heldBack = null;
  }

  #send(request: ApiRequest, sink: ResponseSink): () => void {
    const line: Line = { open: true, hangUp: () => {} };
    this.#lines.add(line);
    const fate = this.#fateOf(request);
    const heard = this.#sinkOf(line, request, sink, fate);
    if (fate.kind === 'late') {
      // Hung up or not, what was sent arrives.
      this.#clock.after(fate.ms, () => this.#arrive(line, request, heard));
    } else if (fate.kind !== 'vanish') this.#arrive(line, request, heard);
    return () => close(line, this.#lines);
  }

  #arrive(line: Line, request: ApiRequest, heard: ResponseSink): void {
    if (!line.open && request.method === 'GET') return;
    const hangUp = this.#server(request, heard);
    if (line.open) line.hangUp = hangUp;
  }

  #fateOf({ method, path }: ApiRequest): Fate {
    const draw = this.#draw;
    if (!draw.chance(this.trouble)) return { kind: 'pass' };
    const ms = draw.of([1, 50, 700, 3000, 12_000, 29_999, 30_000, 40_000, 75_000]);
    if (isWatch({ method, path })) {
      return draw.weighted<Fate>([
        [2, { kind: 'stall', ms }],
        [1, { kind: 'late', ms }],
        [1, { kind: 'vanish' }],
      ]);
    }
    return draw.weighted<Fate>([
      [3, { kind: 'late', ms }],
      [3, { kind: 'slowAnswer', ms }],
      [1, { kind: 'vanish' }],
    ]);
  }

  #sinkOf(line: Line, request: ApiRequest, sink: ResponseSink, fate: Fate): ResponseSink {
    let stalled = false;
    if (fate.kind === 'stall') {
      this.#clock.after(fate.ms, () => {
        stalled = true;
        this.#apiHistory.stall(request);
      });
    }
    const deliver = (part: () => void): void => {
      if (stalled) return;
      const tell = (): void => {
        if (!line.open) return;
        if (this.#heldBack) this.#heldBack.push(() => line.open && part());
        else part();
      };
      if (fate.kind === 'slowAnswer') this.#clock.after(fate.ms, tell);
      else tell();
    };
    const done = (): void => void this.#lines.delete(line);
    const ping = (): void => {
      if (!line.open) return;
      const askedAt = this.#clock.now();
      deliver(() => sink.alive?.(this.#clock.now() - askedAt));
      this.#clock.after(pingMs, ping);
    };
    return {
      head: (status, headers) => {
        deliver(() => sink.head(status, headers));
        if (this.#pings && isWatch(request)) this.#clock.after(pingMs, ping);
      },
      data: (chunk) => deliver(() => sink.data(chunk)),
      end: () =>
        deliver(() => {
          done();
          sink.end();
        }),
      reset: () =>
        deliver(() => {
          done();
          sink.reset();
        }),
    };
  }
}

function isWatch({ method, path }: Pick<ApiRequest, 'method' | 'path'>): boolean {
  return method === 'GET' && path.includes('watch=true');
}

function close(line: Line, lines: Set<Line>): void {
  line.open = false;
  line.hangUp();
  lines.delete(line);
}
