import type { ApiRequest, Exchange, ResponseSink } from '../exchange.ts';
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

/** A request under way: what hangs up, and what has to be noted when it ends. */
interface Stream {
  readonly resource: Followed;
  sight: Sight | null;
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
 * Stands at both ends of the line between one client and the server and notes what the client asked
 * and when, what it could know by then, and which changes its requests made. Whatever may go wrong
 * on the line goes between the two ends.
 */
export class Witness {
  readonly #now: () => number;
  readonly #calls: Call[] = [];
  readonly #byRequest = new WeakMap<ApiRequest, Call>();
  readonly #sights: Sight[] = [];
  readonly #streams = new Set<Stream>();
  #run = 0;
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

  /** The client starts anew and knows nothing; what it asked before is on its way still. */
  beginRun(): void {
    this.blind();
    this.#streams.clear();
    this.#run += 1;
  }

  /** From now on nothing reaches the client. */
  blind(): void {
    for (const { sight } of this.#streams) if (sight) sight.to ??= this.#now();
  }

  /** It has heard what was held back, and hears again. */
  unblind(): void {
    for (const stream of this.#streams) {
      if (stream.sight?.to != null) stream.sight = this.#see(stream.resource, null);
    }
  }

  /** The client's end: hand this to the client. */
  client(line: Exchange): Exchange {
    return (request, sink) => {
      const call = callOf(request, this.#run, this.#now());
      this.#calls.push(call);
      this.#byRequest.set(request, call);
      const watched = watches[call.kind];
      if (watched) return this.#watch(line, request, call, sink, watched);
      return line(request, this.#answerSink(call, sink));
    };
  }

  /** The server's end: the line hands requests to this one. */
  server(exchange: Exchange): Exchange {
    return (request, sink) => {
      const call = this.#byRequest.get(request) ?? null;
      if (call) call.servedAt ??= this.#now();
      const before = this.#actor;
      this.#actor = call;
      try {
        return exchange(request, sink);
      } finally {
        this.#actor = before;
      }
    };
  }

  /** A stream that has gone silent without an end: what it does not tell is not known. */
  stall(request: ApiRequest): void {
    for (const stream of this.#streams) {
      if (stream.sight && this.#requestOf.get(stream) === request) {
        stream.sight.to ??= this.#now();
        stream.sight = null;
      }
    }
  }

  readonly #requestOf = new WeakMap<Stream, ApiRequest>();

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
    let first = call;
    for (const one of before.slice(0, before.indexOf(call)).reverse()) {
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
        if (listed && call.succeeded) this.#see(listed, call.servedAt ?? call.sentAt);
        sink.end();
      },
      reset: () => {
        end();
        sink.reset();
      },
    };
  }

  #watch(
    line: Exchange,
    request: ApiRequest,
    call: Call,
    sink: ResponseSink,
    resource: Followed,
  ): () => void {
    const stream: Stream = { resource, sight: null };
    this.#streams.add(stream);
    this.#requestOf.set(stream, request);
    const close = (): void => {
      call.endedAt ??= this.#now();
      if (stream.sight) stream.sight.to ??= this.#now();
      this.#streams.delete(stream);
    };
    const hangUp = line(request, {
      head: (status, headers) => {
        if (status === 200) stream.sight = this.#see(resource, null);
        sink.head(status, headers);
      },
      data: (chunk) => {
        if (String(chunk).startsWith('{"type":"ERROR"')) this.#unsee(stream);
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
  #see(resource: Followed, at: number | null): Sight {
    const sight = { run: this.#run, resource, from: at ?? this.#now(), to: at };
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
