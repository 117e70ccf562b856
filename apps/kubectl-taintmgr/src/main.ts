import { exitCode } from './exit.ts';
import { interruptSignal } from './interrupt-signal.ts';
import { processOutput } from './output.ts';
import { runProgram } from './program.ts';

// Whoever read our data has gone, as `head` does.
process.stdout.on('error', () => process.exit(exitCode.error));

process.exitCode = await runProgram(process.argv.slice(2), {
  output: processOutput(),
  interrupt: interruptSignal(),
});
