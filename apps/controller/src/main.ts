// The entry: hears signals first of all, then loads the program and runs it.
import { stopSignal } from './process/stop-signal.ts';

// Whoever reads us may go away, as `head` does.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// Left alone, the signal opens a debugger that lets whoever connects run anything. The one program is
// made without it; this is for those who start us otherwise.
process.on('SIGUSR1', () => {});

const signal = stopSignal(1);

// Not awaited here: the binary's module format has no place for that. To load it takes a while.
void import('./process/program.ts').then(({ runProgram }) => runProgram(signal));
