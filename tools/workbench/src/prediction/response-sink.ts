// The sink of a client, as the simulated API server calls it.
import type { Sink } from '@taintmgr/k8s-adapter';
import type { ResponseSink } from '@taintmgr/sim-cluster';

/** Hands on what a client is to hear, call by call: a sink may be an instance of a class. */
export function responseSink(sink: Sink): ResponseSink {
  return {
    head: (status, headers) => sink.head(status, headers),
    data: (chunk) => sink.data(chunk),
    end: () => sink.end(),
    reset: () => sink.failed('connection reset'),
  };
}
