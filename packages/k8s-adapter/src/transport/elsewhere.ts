// A GET to a server that is not the cluster's: no credentials, no redirects, a time limit.
import { formatDuration } from '@taintmgr/core/time';
import type { ApiRequest, Elsewhere } from '../proto/api-request.ts';
import { describeError } from './errors.ts';
import type { Sink } from './sink.ts';
import { timerMsMax } from './timer-limit.ts';

/** Of its headers nothing is handed on: the API server's clock is read from those. */
export function askElsewhere(
  request: ApiRequest,
  { url, timeoutMs }: Elsewhere,
  sink: Sink,
): () => void {
  const ended = new AbortController();
  let isWanted = true;
  const fail = (message: string): void => {
    if (!isWanted) return;
    isWanted = false;
    sink.failed(message);
  };
  const timeOver = (): void => {
    fail(`no answer within ${formatDuration(timeoutMs)}`);
    ended.abort();
  };
  const timer = setTimeout(timeOver, Math.min(timeoutMs, timerMsMax));
  const target = `${url.replace(/\/$/, '')}${request.path}`;
  const { headers } = request;
  const ask = async (): Promise<void> => {
    const options = { headers, redirect: 'error', signal: ended.signal } as const;
    const { status, body } = await fetch(target, options);
    if (isWanted) sink.head(status, {});
    for await (const chunk of body ?? []) if (isWanted) sink.data(chunk);
    if (isWanted) sink.end();
    isWanted = false;
  };
  ask()
    .catch((error: unknown) => fail(describeError(causeOf(error))))
    .finally(() => clearTimeout(timer));
  return () => {
    isWanted = false;
    clearTimeout(timer);
    ended.abort();
  };
}

/** fetch says no more than that it failed; why is in the cause. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}
