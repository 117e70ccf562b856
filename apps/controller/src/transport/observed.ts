import { type ApiRequest, giveAnswer, type Transport } from '@taintmgr/k8s-adapter';

/** Notified of requests to the API server. Times are in seconds. */
export interface RequestObserver {
  /** A request waited for its turn. */
  readonly waited: (method: string, seconds: number) => void;
  /** A request goes out with a body of so many bytes. */
  readonly sent: (method: string, bytes: number) => void;
  /** An answer began: an HTTP status, or `<error>` where none came. */
  readonly answered: (method: string, code: string, seconds: number) => void;
  /** An answer is complete, with a body of so many bytes. Not called for watches. */
  readonly received: (method: string, bytes: number) => void;
}

/** The transport with an observer, for metrics. */
export function observed(transport: Transport, observer: RequestObserver): Transport {
  return {
    send: (request, sink) => {
      const { method, body } = request;
      const sentAt = performance.now();
      let isAnswered = false;
      let bytes = 0;
      const answered = (code: string): void => {
        if (!isAnswered) observer.answered(method, code, (performance.now() - sentAt) / 1000);
        isAnswered = true;
      };
      observer.sent(method, Buffer.byteLength(body ?? ''));
      return transport.send(request, {
        head: (status, headers) => {
          answered(String(status));
          sink.head(status, headers);
        },
        data: (chunk) => {
          bytes += Buffer.byteLength(chunk);
          sink.data(chunk);
        },
        end: () => {
          if (!isWatch(request)) observer.received(method, bytes);
          sink.end();
        },
        answer: (status, headers, body) => {
          answered(String(status));
          if (!isWatch(request)) observer.received(method, body.length);
          giveAnswer(sink, status, headers, body);
        },
        alive: (age) => sink.alive(age),
        failed: (message, stage) => {
          answered('<error>');
          sink.failed(message, stage);
        },
      });
    },
  };
}

/** A watch ends when it is cut off, so that its size says nothing. */
function isWatch({ path }: ApiRequest): boolean {
  return /[?&]watch=(true|1)(&|$)/.test(path);
}
