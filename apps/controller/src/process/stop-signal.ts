// Ends the process in order at the first signal, and at once at the second.

/**
 * A wrapper such as npm passes on the Ctrl-C that the terminal has sent to us as well: a second signal within
 * this time is the same one.
 */
const echoMsMax = 500;

/**
 * Aborted by the first SIGINT or SIGTERM, whose name is the reason. A second one ends the process at
 * once, with this exit code.
 */
export function stopSignal(exitCode: number): AbortSignal {
  const stop = new AbortController();
  let stoppedAt = 0;
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (!stop.signal.aborted) {
        stoppedAt = performance.now();
        stop.abort(name);
      } else if (performance.now() - stoppedAt > echoMsMax) {
        process.exit(exitCode);
      }
    });
  }
  return stop.signal;
}
