import { CommanderError } from '@commander-js/extra-typings';
import { errorLines, exitCode } from './exit.ts';
import { processOutput } from './output.ts';
import { runProgram } from './program.ts';

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
process.once('SIGTERM', () => interrupt.abort());

try {
  const output = processOutput();
  process.exitCode = await runProgram(process.argv.slice(2), {
    output,
    interrupt: interrupt.signal,
  });
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode;
  } else {
    const lines = errorLines(error);
    if (lines === null) throw error;
    process.stderr.write(`${lines}\n`);
    process.exitCode = exitCode.error;
  }
}
