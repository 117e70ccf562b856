// Asks another controller over HTTP if it is ready: `helm test` runs this, in the same image.
import { setTimeout as wait } from 'node:timers/promises';

/** The server is not ready, or cannot be reached. */
export class CheckError extends Error {
  override readonly name = 'CheckError';
}

export interface CheckOptions {
  /** The URL is asked again for this time. */
  readonly patienceMs?: number;
  readonly pauseMs?: number;
}

/** Asks until the answer is 200, and resolves with it: `200 ok`. Throws CheckError. */
export async function checkUrl(
  url: string,
  { patienceMs = 60_000, pauseMs = 1000 }: CheckOptions = {},
): Promise<string> {
  const begun = performance.now();
  for (;;) {
    const { isReady, said } = await ask(url);
    if (isReady) return said;
    if (performance.now() - begun >= patienceMs) {
      throw new CheckError(`${url}: ${said}, want 200; the log of the controller says why`);
    }
    await wait(pauseMs);
  }
}

async function ask(url: string): Promise<{ readonly isReady: boolean; readonly said: string }> {
  try {
    const signal = AbortSignal.timeout(5000);
    const response = await fetch(url, { signal, redirect: 'error' });
    const [line = ''] = (await response.text()).split('\n');
    return { isReady: response.status === 200, said: `${response.status} ${line}`.trim() };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { isReady: false, said: cause instanceof Error ? cause.message : String(cause) };
  }
}
