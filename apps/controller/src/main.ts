// The entry: hears signals first of all, then loads the program and runs it.
import { stopSignal } from './process/stop-signal.ts';

// The reader of our output may close the pipe, as `head` does.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// By default, the signal opens a debugger through which any client can run code. The one program is made
// without it; this is for those who start us otherwise.
process.on('SIGUSR1', () => {});

const signal = stopSignal(1);

// Not awaited here: the binary's module format has no place for that. To load it takes a while.
void import('./process/program.ts').then(({ runProgram }) => runProgram(signal));
