// Metrics of requests to the API server, under client-go's names, in seconds and in bytes.
import type { RequestObserver } from '../transport/observed.ts';
import type { Meter, Tallies, Tally } from './meter.ts';

/** client-go's, in seconds and in bytes. */
const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizeBuckets = [
  64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
];

/** What client-go counts of requests to the API server at this address (`host:port`). */
export function restClientMetrics(meter: Meter, host: string): RequestObserver {
  const requests = meter.counter(
    'rest_client_requests_total',
    '[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.',
    'code',
    'method',
    'host',
  );
  const durations = meter.histogram(
    'rest_client_request_duration_seconds',
    '[ALPHA] Request latency in seconds. Broken down by verb, and host.',
    buckets,
    'verb',
    'host',
  );
  const waits = meter.histogram(
    'rest_client_rate_limiter_duration_seconds',
    '[ALPHA] Client side rate limiter latency in seconds. Broken down by verb, and host.',
    buckets,
    'verb',
    'host',
  );
  const requestSizes = meter.histogram(
    'rest_client_request_size_bytes',
    '[ALPHA] Request size in bytes. Broken down by verb and host.',
    sizeBuckets,
    'verb',
    'host',
  );
  const responseSizes = meter.histogram(
    'rest_client_response_size_bytes',
    '[ALPHA] Response size in bytes. Broken down by verb and host.',
    sizeBuckets,
    'verb',
    'host',
  );
  const by = (tallies: Tallies<'verb' | 'host'>): ((method: string) => Tally) =>
    remembered((verb) => tallies.of({ verb, host }));
  const [sizeSent, sizeReceived] = [by(requestSizes), by(responseSizes)];
  const [waitOf, durationOf] = [by(waits), by(durations)];
  return {
    sent: (method, bytes) => sizeSent(method).observe(bytes),
    received: (method, bytes) => sizeReceived(method).observe(bytes),
    waited: (method, seconds) => waitOf(method).observe(seconds),
    answered: (method, code, seconds) => {
      requests.inc({ code, method, host });
      durationOf(method).observe(seconds);
    },
  };
}

/** Made once for each key. */
function remembered<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const one = make(key);
    made.set(key, one);
    return one;
  };
}
