// Prints the program's help as bin/ keeps it ready: each item on one line.
//
//   node -C @taintmgr/source apps/kubectl-taintmgr/scripts/print-help.mjs
import { processOutput } from '../src/cli/output.ts';
import { programHelp } from '../src/program.ts';

const interrupt = new AbortController().signal;
const surroundings = { output: processOutput(), interrupt };
process.stdout.write(await programHelp(surroundings, Number.MAX_SAFE_INTEGER));
