// The entry: runs the command line and ends with its exit code.
import { inspect } from 'node:util';
import { exitCode } from './cli/exit.ts';
import { interruptSignal } from './cli/interrupt-signal.ts';
import { processOutput } from './cli/output.ts';
import { codeOfError, runProgram } from './program.ts';

const argv = process.argv.slice(2);
const output = processOutput();

// Whoever read our data has seen enough and gone, as `head` does: nothing went wrong. Where data
// could not be written, something did.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(exitCode.done);
  output.err(`error: cannot write to standard output: ${message}`);
  process.exit(exitCode.error);
});

// Node itself would also print the line of the bundle, which is as long as the bundle.
process.on('uncaughtException', (error) => {
  output.err(`error: crashed, which is a bug: ${inspect(error)}`);
  process.exit(codeOfError(argv));
});

// Not awaited here: the module format of the one program has no place for that.
void runProgram(argv, { output, interrupt: interruptSignal() }).then((code) => {
  // What is still under way is of no use to anybody, once all that was said is out.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
