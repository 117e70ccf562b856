import { exitCode } from './exit.ts';
import { interruptSignal } from './interrupt-signal.ts';
import { processOutput } from './output.ts';
import { runProgram } from './program.ts';

// Whoever read our data has gone, as `head` does.
process.stdout.on('error', () => process.exit(exitCode.error));

// Not awaited here: the module format of the one program has no place for that.
void runProgram(process.argv.slice(2), {
  output: processOutput(),
  interrupt: interruptSignal(),
}).then((code) => {
  process.exitCode = code;
});
