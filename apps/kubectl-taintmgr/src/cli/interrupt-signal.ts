import { exitCode } from './exit.ts';

/**
 * A wrapper such as npm passes on the Ctrl-C that the terminal has sent to us as well: what comes so
 * soon after the first is the same one.
 */
const echoMsMax = 500;

/**
 * The first Ctrl-C (SIGINT or SIGTERM) as an abort signal. A second one ends the process at once.
 */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  let interruptedAt = 0;
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (!interrupt.signal.aborted) {
        interruptedAt = performance.now();
        interrupt.abort();
      } else if (performance.now() - interruptedAt > echoMsMax) {
        process.exit(exitCode.interrupted);
      }
    });
  }
  return interrupt.signal;
}
