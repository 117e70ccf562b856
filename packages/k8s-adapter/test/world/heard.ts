import type { ApiRequest } from '../../src/proto/requests.ts';
import type { Sink } from '../../src/transport/sink.ts';

/** What a sink was told, in order; resolves at the end. */
export interface Heard {
  readonly lines: string[];
  readonly over: Promise<void>;
}

/** A sink that notes what it is told, and tells of the first chunk. */
export function sink(onData: () => void = () => {}): Sink & Heard {
  const lines: string[] = [];
  const { promise: over, resolve: finish } = deferred();
  return {
    lines,
    over,
    head: (status) => void lines.push(`head ${status}`),
    data: (chunk) => {
      lines.push(typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk));
      onData();
    },
    alive: () => {},
    end: () => {
      lines.push('end');
      finish();
    },
    failed: (message) => {
      lines.push(`failed ${message}`);
      finish();
    },
  };
}

/** GET of a path. */
export function get(path: string): ApiRequest {
  return { method: 'GET', path, headers: {}, body: null };
}

/** A promise and the way to resolve it. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
