import type { ApiRequest, Exchange, ResponseSink } from '../wire/exchange.ts';
import { type Call, type CallKind, callOf } from './call.ts';

/** The collections a client follows. */
export type Followed = 'nodes' | 'pods' | 'leases';

/** A time in which the client heard at once of every change; `to` null: it still does. */
interface Sight {
  readonly run: number;
  readonly resource: Followed;
  readonly from: number;
  to: number | null;
}

/** A watch under way. */
interface Stream {
  readonly resource: Followed;
  sight: Sight | null;
  /** When the server ended it while nothing reached the client; null: it did not. */
  endedAt: number | null;
}

/** One process of the client under watch; each of its lives is a run of its own. */
export interface Replica {
  /** It starts anew and knows nothing; what it asked before is on its way still. */
  beginRun(): void;
  /** From now on nothing reaches it. */
  blind(): void;
  /** It has heard what was held back, and hears again. */
  unblind(): void;
  /** Its end of the line: hand this to the client. */
  client(line: Exchange): Exchange;
}

/** What is known of a replica: which run it is in, and what it watches. */
interface Life {
  run: number;
  readonly streams: Set<Stream>;
}

const lists: Readonly<Record<string, Followed>> = {
  listNodes: 'nodes',
  listPods: 'pods',
  listLeases: 'leases',
};
const watches: Readonly<Record<string, Followed>> = {
  watchNodes: 'nodes',
  watchPods: 'pods',
  watchLeases: 'leases',
};
/** What is sent to change an object, and what may have been sent before for the same purpose. */
const attempts: Readonly<Record<string, readonly CallKind[]>> = {
  changeNode: ['readNode', 'changeNode'],
  changeNodeStatus: ['readNode', 'readLease', 'changeNodeStatus'],
  changePodStatus: ['readPod', 'readNode', 'changePodStatus'],
};

/** No chain of requests takes longer: three that run out of time, and one more. */
const chainMsMax = 120_000;
/** The longest pause before another attempt at the same change. */
const pauseMsMax = 300;
/** Within this time after a gap the changes that were missed have all come. */
const catchUpMs = 1000;

/**
 * Checks a client against the history of the API: what the client asked and when, what it could
 * know by then, and which changes its requests made. Whatever may go wrong on the line goes between
 * the two ends. The client may be of several replicas; the witness itself stands for the first of
 * them.
 */
export class Witness implements Replica {
  readonly #now: () => number;
  readonly #calls: Call[] = [];
  readonly #byRequest = new WeakMap<ApiRequest, Call>();
  readonly #streamOf = new WeakMap<ApiRequest, Stream>();
  readonly #sights: Sight[] = [];
  readonly #first: Replica = this.replica();
  #runs = 0;
  #actor: Call | null = null;

  constructor(clock: { now(): number }) {
    this.#now = () => clock.now();
  }

  /** The request that is being carried out; null: what changes now is the work of others. */
  get actor(): Call | null {
    return this.#actor;
  }

  /** Everything the client ever asked, in order. */
  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Another process of the same client, with a line of its own. */
  replica(): Replica {
    const life: Life = { run: 0, streams: new Set() };
    return {
      beginRun: () => {
        this.#blind(life);
        life.streams.clear();
        this.#runs += 1;
        life.run = this.#runs;
      },
      blind: () => this.#blind(life),
      unblind: () => this.#unblind(life),
      client: (line) => this.#client(life, line),
    };
  }

  beginRun(): void {
    this.#first.beginRun();
  }

  blind(): void {
    this.#first.blind();
  }

  unblind(): void {
    this.#first.unblind();
  }

  client(line: Exchange): Exchange {
    return this.#first.client(line);
  }

  /** The server's end: the line hands requests to this one. */
  server(exchange: Exchange): Exchange {
    return (request, sink) => {
      const call = this.#byRequest.get(request) ?? null;
      if (call) call.servedAt ??= this.#now();
      const stream = this.#streamOf.get(request);
      const told = stream ? this.#endingSink(stream, sink) : sink;
      return this.#as(call, () => exchange(request, told));
    };
  }

  /** The line of somebody else: what changes by that one's requests is not the work of the client. */
  bystander(exchange: Exchange): Exchange {
    return (request, sink) => this.#as(null, () => exchange(request, sink));
  }

  /** A stream that has gone silent without an end: what it does not tell is not known. */
  stall(request: ApiRequest): void {
    const stream = this.#streamOf.get(request);
    if (!stream?.sight) return;
    stream.sight.to ??= this.#now();
    stream.sight = null;
  }

  /** The latest instant up to `at` as of which that run knew everything; -Infinity: never. */
  knownUpTo(run: number, resource: Followed, at: number): number {
    return latest(this.#sightsOf(run, resource, at), at);
  }

  /**
   * The same for a client that acts on each change as it comes: what it missed comes one by one, so
   * right after a gap it may not know the end of the story. How long ago is for others to judge.
   */
  knownInTurnUpTo(run: number, resource: Followed, at: number): number {
    const sights = this.#sightsOf(run, resource, at).sort((a, b) => a.from - b.from);
    const settled = sights.findLastIndex(({ from }) => at - from >= catchUpMs);
    return latest(settled < 0 ? sights.slice(0, 1) : sights.slice(0, settled + 1), at);
  }

  /** When that run had first seen all that it follows; -Infinity: it has seen nothing. */
  firstSightAt(run: number): number {
    const sights = this.#sights.filter((sight) => sight.run === run);
    const firsts = (['nodes', 'pods', 'leases'] as const).flatMap(
      (resource) => sights.find((sight) => sight.resource === resource)?.from ?? [],
    );
    return Math.max(Number.NEGATIVE_INFINITY, ...firsts);
  }

  /** Whether that run knew everything as of some instant in [from, to). */
  saw(run: number, resource: Followed, from: number, to: number): boolean {
    return this.#sights.some(
      (sight) =>
        sight.run === run &&
        sight.resource === resource &&
        sight.from < to &&
        (sight.to ?? Number.POSITIVE_INFINITY) >= from,
    );
  }

  /** The calls that led to this one without a pause, earliest first, with itself at the end. */
  chainOf(call: Call): readonly Call[] {
    const { kind, sentAt, target } = call;
    if (kind === 'deletePod') {
      const mark = this.#before(call, 'markPod', sentAt, target);
      return mark ? [...this.chainOf(mark), call] : [...this.#look(call), call];
    }
    return kind === 'markPod' || kind === 'evictPod' ? [...this.#look(call), call] : [call];
  }

  /** When the first attempt was made at the change that this call asks for. */
  begunAt(call: Call): number {
    const before = this.#recent(call);
    // The node is read for each of its pods: the look for this one is that which began with it.
    const [look = call] = call.kind === 'changePodStatus' ? this.#look(call) : [];
    let first = look;
    for (const one of before.slice(0, before.indexOf(look)).reverse()) {
      if (one.run !== call.run || one.endedAt === null || !isAbout(one, call)) continue;
      if (!attempts[call.kind]?.includes(one.kind)) continue;
      // What succeeded was another change, and what led to it led to that.
      if (one.kind === call.kind && one.succeeded) break;
      // One look leads to an attempt; the look before it led to another one.
      if (one.kind !== call.kind && one.kind === first.kind) continue;
      const pause = first.sentAt - one.endedAt;
      if (pause >= 0 && pause <= pauseMsMax) first = one;
    }
    return first.sentAt;
  }

  /** The reads of pod and node right before, if there were any. */
  #look(call: Call): readonly Call[] {
    const reads = this.#recent(call).filter(
      ({ run, kind, endedAt }) =>
        run === call.run && kind === 'readNode' && endedAt === call.sentAt,
    );
    for (const node of reads) {
      const pod = this.#before(call, 'readPod', node.sentAt, call.target);
      if (pod) return [pod, node];
    }
    return [];
  }

  #before(call: Call, kind: CallKind, endedAt: number, target: string): Call | undefined {
    return this.#recent(call).find(
      (one) =>
        one.run === call.run &&
        one.kind === kind &&
        one.endedAt === endedAt &&
        one.target === target &&
        (one.uid === null || one.uid === call.uid),
    );
  }

  /** The calls sent so shortly before that one that they may have led to it. */
  #recent(call: Call): readonly Call[] {
    const from = this.#calls.findLastIndex(({ sentAt }) => sentAt < call.sentAt - chainMsMax);
    return this.#calls.slice(from + 1);
  }

  #as<T>(actor: Call | null, act: () => T): T {
    const before = this.#actor;
    this.#actor = actor;
    try {
      return act();
    } finally {
      this.#actor = before;
    }
  }

  #blind({ streams }: Life): void {
    for (const { sight } of streams) if (sight) sight.to ??= this.#now();
  }

  #unblind({ run, streams }: Life): void {
    for (const stream of streams) {
      if (stream.sight?.to == null) continue;
      stream.sight = this.#see(run, stream.resource, null);
      // What it hears only now may be from long ago.
      stream.sight.to = stream.endedAt;
    }
  }

  #client(life: Life, line: Exchange): Exchange {
    return (request, sink) => {
      const call = callOf(request, life.run, this.#now());
      this.#calls.push(call);
      this.#byRequest.set(request, call);
      const watched = watches[call.kind];
      if (!watched) return line(request, this.#answerSink(call, sink));
      const stream: Stream = { resource: watched, sight: null, endedAt: null };
      this.#streamOf.set(request, stream);
      life.streams.add(stream);
      return this.#watch(line, request, call, sink, { stream, streams: life.streams });
    };
  }

  #sightsOf(run: number, resource: Followed, at: number): Sight[] {
    return this.#sights.filter(
      (sight) => sight.run === run && sight.resource === resource && sight.from <= at,
    );
  }

  #answerSink(call: Call, sink: ResponseSink): ResponseSink {
    const end = (): void => {
      call.endedAt ??= this.#now();
    };
    return {
      head: (status, headers) => {
        call.succeeded = status >= 200 && status < 300;
        sink.head(status, headers);
      },
      data: (chunk) => sink.data(chunk),
      end: () => {
        end();
        const listed = lists[call.kind];
        if (listed && call.succeeded) this.#see(call.run, listed, call.servedAt ?? call.sentAt);
        sink.end();
      },
      reset: () => {
        end();
        sink.reset();
      },
    };
  }

  /** What was told before the end is heard when it is let through, and nothing after that. */
  #endingSink(stream: Stream, sink: ResponseSink): ResponseSink {
    const note = (): void => {
      if (stream.sight?.to != null) stream.endedAt = this.#now();
    };
    return {
      head: (status, headers) => sink.head(status, headers),
      data: (chunk) => sink.data(chunk),
      end: () => {
        note();
        sink.end();
      },
      reset: () => {
        note();
        sink.reset();
      },
    };
  }

  #watch(
    line: Exchange,
    request: ApiRequest,
    call: Call,
    sink: ResponseSink,
    { stream, streams }: { readonly stream: Stream; readonly streams: Set<Stream> },
  ): () => void {
    const close = (): void => {
      call.endedAt ??= this.#now();
      if (stream.sight) stream.sight.to ??= this.#now();
      streams.delete(stream);
    };
    const hangUp = line(request, {
      head: (status, headers) => {
        if (status === 200) stream.sight = this.#see(call.run, stream.resource, null);
        sink.head(status, headers);
      },
      data: (chunk) => {
        if (beginsWithError(chunk)) this.#unsee(stream);
        sink.data(chunk);
      },
      end: () => {
        close();
        sink.end();
      },
      reset: () => {
        close();
        sink.reset();
      },
    });
    return () => {
      close();
      hangUp();
    };
  }

  /** A list shows one instant, a watch everything from now on. */
  #see(run: number, resource: Followed, at: number | null): Sight {
    const sight = { run, resource, from: at ?? this.#now(), to: at };
    this.#sights.push(sight);
    return sight;
  }

  /** The watch was refused in its stream: opening it has told nothing. */
  #unsee(stream: Stream): void {
    const at = stream.sight ? this.#sights.indexOf(stream.sight) : -1;
    if (at >= 0) this.#sights.splice(at, 1);
    stream.sight = null;
  }
}

/** A pod is marked for its node's sake, which may be read in between. */
function isAbout(one: Call, { kind, target }: Call): boolean {
  return one.target === target || (kind === 'changePodStatus' && one.kind === 'readNode');
}

function latest(sights: readonly Sight[], at: number): number {
  return Math.max(Number.NEGATIVE_INFINITY, ...sights.map(({ to }) => Math.min(to ?? at, at)));
}

/** Whether an event of a watch, in either format, is an error. */
function beginsWithError(event: string | Uint8Array): boolean {
  const head =
    typeof event === 'string' ? event : Buffer.from(event.subarray(0, 16)).toString('latin1');
  return head.startsWith('{"type":"ERROR"') || head.startsWith('\n\u0005ERROR', 4);
}
