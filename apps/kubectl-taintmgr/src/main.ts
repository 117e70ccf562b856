// The entry: runs the command line and ends with its exit code; in a thread, what a command has started that for.
import { inspect } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import { type ExitCode, exitCode } from './cli/exit.ts';
import { processOutput } from './cli/output.ts';
import { codeOfError, runProgram } from './program.ts';

const argv = process.argv.slice(2);
const output = processOutput();

/** True while a command changes the cluster: a reader that leaves must not stop that half-way. */
let isChanging = false;
let isUnwritten = false;

// Not awaited here: the module format of the one program has no place for that.
if (isMainThread) void runCommandLine();
else void import('./commands/simulate/each/thread.ts').then(({ playInThread }) => playInThread());

async function runCommandLine(): Promise<void> {
  watchProcess();
  const onChanging = (): void => {
    isChanging = true;
  };
  const code = await runProgram(argv, { output, interrupt: interruptSignal(), onChanging });
  // Work that is still under way is of no use to anybody, once all output is written.
  // A failure to write shows a little later than the attempt.
  process.stdout.write('', () => process.stderr.write('', () => setImmediate(finish, code)));
}

/** Ends the process where it can say no more, or has crashed. */
function watchProcess(): void {
  // The reader of our output has seen enough and closed the pipe, as `head` does: nothing went wrong. Where
  // data could not be written, something did.
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    const isGone = code === 'EPIPE';
    if (isGone && !isChanging) process.exit(exitCode.done);
    if (isGone || isUnwritten) return;
    isUnwritten = true;
    output.err(`error: cannot write to standard output: ${message}`);
    if (!isChanging) process.exit(exitCode.error);
  });

  // Messages to a person who has gone are of no use to anybody, and no reason to end.
  process.stderr.on('error', () => {});

  // Node itself would also print the line of the bundle, which is as long as the bundle.
  process.on('uncaughtException', (error) => {
    const lines = inspect(error).split('\n').map(printable);
    output.err(`error: crashed, which is a bug: ${lines.join('\n')}`);
    process.exit(codeOfError(argv));
  });
}

/** Output that could not be written is no success. */
function finish(code: ExitCode): never {
  process.exit(code === exitCode.done && isUnwritten ? exitCode.error : code);
}

/**
 * A wrapper such as npm passes on the Ctrl-C that the terminal has sent to us as well: a second signal within
 * this time is the same one.
 */
const echoMsMax = 500;

/**
 * The first Ctrl-C (SIGINT or SIGTERM) as an abort signal. A second one ends the process at once.
 */
function interruptSignal(): AbortSignal {
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
