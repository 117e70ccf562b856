import { exitCode } from './exit.ts';
import { interruptSignal } from './interrupt-signal.ts';
import { processOutput } from './output.ts';
import { codeOfError, runProgram } from './program.ts';

const argv = process.argv.slice(2);
const output = processOutput();

// Whoever read our data has gone, as `head` does.
process.stdout.on('error', () => process.exit(exitCode.error));

// Node itself would also print the line of the bundle, which is as long as the bundle.
process.on('uncaughtException', (error) => {
  output.err(`error: crashed, which is a mistake of ours: ${error.stack ?? String(error)}`);
  process.exit(codeOfError(argv));
});

// Not awaited here: the module format of the one program has no place for that.
void runProgram(argv, { output, interrupt: interruptSignal() }).then((code) => {
  process.exitCode = code;
});
