// The history of the exchanges between one client and the API, for the checkers.
import type { ApiRequest, Exchange, ResponseSink } from '@taintmgr/sim-cluster';
import { type Call, type CallKind, callOf } from './call.ts';
import { type Followed, Knowledge, type Period } from './knowledge.ts';

/** A watch under way. */
interface Stream {
  readonly resource: Followed;
  period: Period | null;
  /** When the server ended it while nothing reached the client; null: it did not. */
  endedAt: number | null;
}

/** A process of the client under test; each of its lives is a separate run. */
export interface Replica {
  /** Starts a new run without knowledge; earlier requests are still on their way. */
  beginRun(): void;
  /** From now on nothing reaches it. */
  blind(): void;
  /** Receives the traffic that was held back, and receives normally again. */
  unblind(): void;
  /** Its end of the line: hand this to the client. */
  client(line: Exchange): Exchange;
}

/** The facts about a replica: its current run, and its watches. */
interface Life {
  run: number;
  readonly streams: Set<Stream>;
}

const lists: Readonly<Partial<Record<CallKind, Followed>>> = {
  listNodes: 'nodes',
  listPods: 'pods',
  listLeases: 'leases',
  listPolicies: 'policies',
  listPauses: 'pauses',
  listRules: 'rules',
  listNamespaces: 'namespaces',
};
const watches: Readonly<Partial<Record<CallKind, Followed>>> = {
  watchNodes: 'nodes',
  watchPods: 'pods',
  watchLeases: 'leases',
  watchPolicies: 'policies',
  watchPauses: 'pauses',
  watchRules: 'rules',
  watchNamespaces: 'namespaces',
};

/**
 * Stands at both ends of the line between one client and the server and records the client's
 * requests and their times, its possible knowledge at each time, and the changes that its requests
 * made. Faults of the line belong between the two ends. The client may have several replicas.
 */
export class ApiHistory {
  readonly calls: CallLog = new CallLog();
  readonly known: Knowledge = new Knowledge();
  readonly #now: () => number;
  readonly #byRequest = new WeakMap<ApiRequest, Call>();
  readonly #streamOf = new WeakMap<ApiRequest, Stream>();
  /** The process of a client that is one process. */
  readonly first: Replica = this.replica();
  #runs = 0;
  #actor: Call | null = null;

  constructor(clock: { now(): number }) {
    this.#now = () => clock.now();
  }

  /** The request that is being carried out; null: what changes now is the work of others. */
  get actor(): Call | null {
    return this.#actor;
  }

  /** Another process of the same client, with a separate line. */
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

  /** The server's end: the line hands requests to this one. */
  server(exchange: Exchange): Exchange {
    return (request, sink) => {
      const call = this.#byRequest.get(request) ?? null;
      if (call) call.servedAt ??= this.#now();
      const stream = this.#streamOf.get(request);
      const watched = stream ? tapped(sink, { ended: () => this.#noteEnd(stream) }) : sink;
      return this.#as(call, () => exchange(request, watched));
    };
  }

  /** The line of another program: changes by its requests are not the client's work. */
  bystander(exchange: Exchange): Exchange {
    return (request, sink) => this.#as(null, () => exchange(request, sink));
  }

  /**
   * Stalls the request's stream, which continues without an end and without an event: the client
   * does not learn its changes.
   */
  stall(request: ApiRequest): void {
    const stream = this.#streamOf.get(request);
    if (!stream?.period) return;
    stream.period.to ??= this.#now();
    stream.period = null;
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
    for (const { period } of streams) if (period) period.to ??= this.#now();
  }

  #unblind({ run, streams }: Life): void {
    for (const stream of streams) {
      if (stream.period?.to == null) continue;
      // Changes that it receives only now may be from long ago.
      stream.period = this.known.begin(run, stream.resource, this.#now(), stream.endedAt);
    }
  }

  /**
   * The client receives the changes sent before the end once its traffic is let through, and
   * nothing after that.
   */
  #noteEnd(stream: Stream): void {
    if (stream.period?.to != null) stream.endedAt = this.#now();
  }

  #client(life: Life, line: Exchange): Exchange {
    return (request, sink) => {
      const call = callOf(request, life.run, this.#now());
      this.calls.add(call);
      this.#byRequest.set(request, call);
      const watched = watches[call.kind];
      if (!watched) return line(request, this.#answerSink(call, sink));
      const stream: Stream = { resource: watched, period: null, endedAt: null };
      this.#streamOf.set(request, stream);
      life.streams.add(stream);
      return this.#watch(line, request, call, sink, { stream, streams: life.streams });
    };
  }

  #answerSink(call: Call, sink: ResponseSink): ResponseSink {
    return tapped(sink, {
      head: (status) => {
        call.succeeded = status >= 200 && status < 300;
      },
      ended: (isWhole) => {
        call.endedAt ??= this.#now();
        const listed = lists[call.kind];
        const at = call.servedAt ?? call.sentAt;
        if (isWhole && listed && call.succeeded) this.known.begin(call.run, listed, at, at);
      },
    });
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
      if (stream.period) stream.period.to ??= this.#now();
      streams.delete(stream);
    };
    const tap = tapped(sink, {
      head: (status) => {
        if (status !== 200) return;
        stream.period = this.known.begin(call.run, stream.resource, this.#now(), null);
      },
      data: (chunk) => {
        if (!stream.period || !beginsWithError(chunk)) return;
        this.known.retract(stream.period);
        stream.period = null;
      },
      ended: close,
    });
    const hangUp = line(request, tap);
    return () => {
      close();
      hangUp();
    };
  }
}

interface Taps {
  head?(status: number): void;
  data?(chunk: string | Uint8Array): void;
  /** Once, at the end; `isWhole`: the answer has not been cut off. */
  ended(isWhole: boolean): void;
}

/** The sink with taps that see everything first. */
function tapped(sink: ResponseSink, taps: Taps): ResponseSink {
  return {
    head: (status, headers) => {
      taps.head?.(status);
      sink.head(status, headers);
    },
    data: (chunk) => {
      taps.data?.(chunk);
      sink.data(chunk);
    },
    end: () => {
      taps.ended(true);
      sink.end();
    },
    alive: (age) => sink.alive?.(age),
    reset: () => {
      taps.ended(false);
      sink.reset();
    },
  };
}

/** True if an event of a watch, in either format, is an error. */
function beginsWithError(event: string | Uint8Array): boolean {
  const head =
    typeof event === 'string' ? event : Buffer.from(event.subarray(0, 16)).toString('latin1');
  return head.startsWith('{"type":"ERROR"') || head.startsWith('\n\u0005ERROR', 4);
}

/**
 * The requests that change an object, each with the earlier requests that may have served the same
 * purpose.
 */
const attempts: Readonly<Record<string, readonly CallKind[]>> = {
  changeNode: ['readNode', 'changeNode'],
  changeNodeStatus: ['readNode', 'readLease', 'changeNodeStatus'],
  changePodStatus: ['readPod', 'readNode', 'changePodStatus'],
};
/** No chain of requests takes longer: three that run out of time, and one more. */
const chainMsMax = 120_000;
/** The longest pause before another attempt at the same change. */
const pauseMsMax = 300;

class CallLog {
  readonly #calls: Call[] = [];

  /** Everything the client ever asked, in order. */
  get all(): readonly Call[] {
    return this.#calls;
  }

  add(call: Call): void {
    this.#calls.push(call);
  }

  /** The calls that led to this one without a pause, earliest first, with itself at the end. */
  chainOf(call: Call): readonly Call[] {
    const { kind, sentAt, target } = call;
    if (kind === 'deletePod') {
      const mark = this.#before(call, 'markPod', sentAt, target);
      return mark ? [...this.chainOf(mark), call] : [...this.#reads(call), call];
    }
    return kind === 'markPod' || kind === 'evictPod' ? [...this.#reads(call), call] : [call];
  }

  /** When the first attempt was made at the change that this call asks for. */
  begunAt(call: Call): number {
    const before = this.#recent(call);
    // The node is read for each of its pods: the read for this one is that which began with it.
    const [read = call] = call.kind === 'changePodStatus' ? this.#reads(call) : [];
    let first = read;
    for (const one of before.slice(0, before.indexOf(read)).reverse()) {
      if (one.run !== call.run || one.endedAt === null || !isAbout(one, call)) continue;
      if (!attempts[call.kind]?.includes(one.kind)) continue;
      // A success completed another change, and the calls before it led to that one.
      if (one.kind === call.kind && one.succeeded) break;
      // One read leads to an attempt; an earlier read led to another one.
      if (one.kind !== call.kind && one.kind === first.kind) continue;
      const pause = first.sentAt - one.endedAt;
      if (pause >= 0 && pause <= pauseMsMax) first = one;
    }
    return first.sentAt;
  }

  /** The reads of pod and node right before, if there were any. */
  #reads(call: Call): readonly Call[] {
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
}

/** A pod is marked because of its node, which may be read in between. */
function isAbout(one: Call, { kind, target }: Call): boolean {
  return one.target === target || (kind === 'changePodStatus' && one.kind === 'readNode');
}
