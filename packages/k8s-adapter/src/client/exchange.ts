// A request and its whole answer as a promise.
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { Answer } from '../proto/answer.ts';
import { AnswerCollector, type ExchangeInput, type TextReader } from '../proto/exchange.ts';
import type { ApiRequest } from '../proto/requests.ts';
import { InputSink, type Transport } from '../transport/sink.ts';
import { timerMsMax } from '../transport/timers.ts';

/**
 * Sends a request; rejects only when `signal` is aborted, or `reader` throws. `limit`: the time it
 * may take, 0: any. `reader` gets the text of a 2xx that comes in parts, in the place of the
 * answer; an answer in one piece is in the answer.
 */
export function exchange(
  transport: Transport,
  request: ApiRequest,
  {
    signal,
    limit = 0,
    reader,
  }: {
    readonly signal?: AbortSignal | undefined;
    readonly limit?: Millis;
    readonly reader?: TextReader;
  } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const collector = new AnswerCollector(undefined, reader);
    let hangUp: (() => void) | null = null;
    const finish = (end: () => void): void => {
      if (timer) clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      hangUp?.();
      end();
    };
    const hear = (input: ExchangeInput): void => {
      try {
        const answer = collector.take(input);
        if (answer) finish(() => resolve(answer));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const onAbort = (): void => finish(() => reject(signal?.reason));
    const within = limit < 1000 ? `${limit}ms` : formatDuration(limit);
    const message = `no answer within ${within}`;
    const giveUp = (): void => finish(() => resolve({ kind: 'none', message }));
    const timer = limit > 0 ? setTimeout(giveUp, Math.min(limit, timerMsMax)) : null;
    signal?.addEventListener('abort', onAbort, { once: true });
    hangUp = transport.send(request, new InputSink('', hear));
  });
}
