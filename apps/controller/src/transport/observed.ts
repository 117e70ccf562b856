import type { Transport } from '@taintmgr/k8s-adapter';

/** Told about requests to the API server. Times are in seconds. */
export interface RequestObserver {
  /** A request waited for its turn. */
  readonly waited: (method: string, seconds: number) => void;
  /** An answer began: an HTTP status, or `<error>` where none came. */
  readonly answered: (method: string, code: string, seconds: number) => void;
}

/** The transport, watched by an observer. */
export function observed(transport: Transport, observer: RequestObserver): Transport {
  return {
    send: (request, sink) => {
      const sentAt = performance.now();
      let told = false;
      const tell = (code: string): void => {
        if (!told) observer.answered(request.method, code, (performance.now() - sentAt) / 1000);
        told = true;
      };
      return transport.send(request, {
        head: (status, headers) => {
          tell(String(status));
          sink.head(status, headers);
        },
        data: (chunk) => sink.data(chunk),
        end: () => sink.end(),
        failed: (message) => {
          tell('<error>');
          sink.failed(message);
        },
      });
    },
  };
}
