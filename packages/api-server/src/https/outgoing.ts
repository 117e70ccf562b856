import { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';

/** One answer on its way out, over HTTP/1.1 or HTTP/2. */
export interface Outgoing {
  /** Sends status and headers at once. */
  head(status: number, headers: Readonly<Record<string, string>>): void;
  data(chunk: string | Uint8Array): void;
  end(): void;
  /** The client sees a break: of its connection, or with HTTP/2 of this one exchange. */
  drop(): void;
  /** Bytes that the client has not read yet. */
  readonly unread: () => number;
  /** Whether the rest of a request can only be got rid of with its connection. */
  readonly closesConnection: boolean;
  onClose(listener: () => void): void;
}

/** The answer to a request of HTTP/1.1 or HTTP/2. */
export function outgoing(response: ServerResponse | Http2ServerResponse): Outgoing {
  return response instanceof ServerResponse ? overHttp1(response) : overHttp2(response);
}

function overHttp1(response: ServerResponse): Outgoing {
  return {
    head: (status, headers) => {
      response.writeHead(status, headers);
      // Before the first event of a watch, but together with an answer that is there already.
      queueMicrotask(() => {
        if (!response.writableEnded) response.flushHeaders();
      });
    },
    data: (chunk) => void response.write(chunk),
    end: () => void response.end(),
    drop: () => void response.destroy(),
    unread: () => response.writableLength,
    closesConnection: true,
    onClose: (listener) => void response.on('close', listener),
  };
}

function overHttp2(response: Http2ServerResponse): Outgoing {
  const { stream } = response;
  return {
    head: (status, headers) => void response.writeHead(status, headers),
    // An answer to HEAD is over with its head.
    data: (chunk) => {
      if (response.req.method !== 'HEAD') response.write(chunk);
    },
    end: () => void response.end(),
    drop: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    unread: () => stream.writableLength,
    closesConnection: false,
    onClose: (listener) => void response.on('close', listener),
  };
}
