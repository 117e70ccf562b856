import { gzipSync } from 'node:zlib';
import { encodeFrame } from '@taintmgr/api-server';
import type { ExchangeSink, VirtualTime } from '../../../src/driver/virtual.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';

// What may happen to answers between an API server and a reflector, in either format, on virtual
// lines and on real ones.

/** What answers requests. */
export type Server = (request: ApiRequest, sink: ExchangeSink) => () => void;

/** What lies between a reflector and the API server. */
export type Line = (server: Server) => Server;

type Bytes = string | Uint8Array;
type Clock = Pick<VirtualTime, 'now'> & { after(ms: number, callback: () => void): unknown };

/** A part of an answer, head included. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: readonly Bytes[];
}

const json = 'application/json';
const protobuf = 'application/vnd.kubernetes.protobuf;stream=watch';

/** A watch that tells this, in the format that is spoken. */
export function watchReply(inProtobuf: boolean, type: string, object: object): Reply {
  const event = { kind: 'Status', ...object };
  const body = inProtobuf ? encodeFrame(type, event) : `${JSON.stringify({ type, object })}\n`;
  return { status: 200, headers: { 'content-type': inProtobuf ? protobuf : json }, body: [body] };
}

/** The first answers to requests with `part` in their paths are this one instead. */
export function answering(part: string, times: number, reply: Reply): Line {
  return first(part, times, () => (_, sink) => {
    sink.head(reply.status, reply.headers ?? {});
    for (const chunk of reply.body) sink.data(chunk);
    sink.end();
    return () => {};
  });
}

/** The first answers to such requests break off after so many bytes, in one way or the other. */
export function cutOff(part: string, times: number, length: number, how: 'end' | 'reset'): Line {
  return first(part, times, (server) => (request, sink) => {
    let left = length;
    const ended = (end: () => void) => () => {
      if (left > 0) end();
    };
    return server(request, {
      head: (status, headers) => sink.head(status, headers),
      data: (chunk) => {
        if (left <= 0) return;
        sink.data(chunk.slice(0, left));
        left -= chunk.length;
        if (left <= 0) sink[how]();
      },
      end: ended(() => sink.end()),
      reset: ended(() => sink.reset()),
    });
  });
}

/** To the first such requests comes no answer, or no more than its head. */
export function silent(part: string, times: number, afterHead: boolean): Line {
  return first(part, times, (server) => (request, sink) => {
    if (!afterHead) return () => {};
    const nothing = (): void => {};
    return server(request, { ...passing(sink), data: nothing, end: nothing, reset: nothing });
  });
}

/** The first answers to such requests claim to be something else than they are. */
export function mislabelled(part: string, times: number): Line {
  return first(
    part,
    times,
    (server) => (request, sink) =>
      server(request, {
        ...passing(sink),
        head: (status, headers) => {
          const other = headers['content-type'] === json ? protobuf : json;
          sink.head(status, { ...headers, 'content-type': other });
        },
      }),
  );
}

/** The first such answers are compressed, though nobody asked for that. */
export function compressed(part: string, times: number): Line {
  return first(
    part,
    times,
    (server) => (request, sink) =>
      server(request, {
        ...passing(sink),
        head: (status, headers) => sink.head(status, { ...headers, 'content-encoding': 'gzip' }),
        data: (chunk) => sink.data(gzipSync(chunk)),
      }),
  );
}

/** Answers come in small pieces. */
export function chopped(length: number): Line {
  return (server) => (request, sink) =>
    server(request, {
      ...passing(sink),
      data: (chunk) => {
        for (const piece of pieces(chunk, length)) sink.data(piece);
      },
    });
}

/** Answers come in small pieces, one after each pause. */
export function trickling(clock: Clock, length: number, ms: number): Line {
  return (server) => (request, sink) => {
    const queue = new Queue(clock, ms);
    const hangUp = server(request, {
      ...passing(sink),
      data: (chunk) => {
        for (const piece of pieces(chunk, length)) queue.add(() => sink.data(piece));
      },
      end: () => queue.add(() => sink.end()),
      reset: () => queue.add(() => sink.reset()),
    });
    return () => {
      queue.clear();
      hangUp();
    };
  };
}

/** After each event of a watch come those before it once more, the last of them first. */
export function repeating(): Line {
  return first('watch=true', Number.POSITIVE_INFINITY, (server) => (request, sink) => {
    const past: Bytes[] = [];
    return server(request, {
      ...passing(sink),
      data: (chunk) => {
        sink.data(chunk);
        for (const old of past) sink.data(old);
        past.unshift(chunk);
        past.length = Math.min(past.length, 10);
      },
    });
  });
}

/** Everything takes a while. */
export function delayed(clock: Clock, ms: number): Line {
  return (server) => (request, sink) => {
    const later = (tell: () => void): void => void clock.after(ms, tell);
    return server(request, {
      head: (status, headers) => later(() => sink.head(status, headers)),
      data: (chunk) => later(() => sink.data(chunk)),
      end: () => later(() => sink.end()),
      reset: () => later(() => sink.reset()),
    });
  };
}

/** Strikes the first requests with `part` in their paths; the others pass. */
function first(part: string, times: number, line: Line): Line {
  let left = times;
  return (server) => (request, sink) => {
    if (!request.path.includes(part) || left === 0) return server(request, sink);
    left -= 1;
    return line(server)(request, sink);
  };
}

function passing(sink: ExchangeSink): ExchangeSink {
  return {
    head: (status, headers) => sink.head(status, headers),
    data: (chunk) => sink.data(chunk),
    end: () => sink.end(),
    reset: () => sink.reset(),
  };
}

function* pieces(chunk: Bytes, length: number): Generator<Bytes> {
  for (let from = 0; from < chunk.length; from += length) yield chunk.slice(from, from + length);
}

/** Does one thing after each pause. */
class Queue {
  readonly #clock: Clock;
  readonly #ms: number;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  add(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length === 1) this.#wait();
  }

  clear(): void {
    this.#waiting = [];
  }

  #wait(): void {
    this.#clock.after(this.#ms, () => {
      this.#waiting[0]?.();
      this.#waiting.shift();
      if (this.#waiting.length > 0) this.#wait();
    });
  }
}
