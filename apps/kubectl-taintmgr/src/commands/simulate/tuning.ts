// The settings of V8 for a simulation: its memory, and its compilers.
import v8 from 'node:v8';

const flags: readonly string[] = [
  // V8 collects old objects when the heap has grown by this percentage; by default it waits until the heap
  // has doubled or more, for memory that a simulation needs only once.
  '--heap-growing-percent=70',
  // Functions take in less than half of what V8 would put into them: to compile them takes threads of V8
  // nearly a third of a run's time.
  '--max-inlined-bytecode-size-cumulative=400',
];
/** Of both halves. Twice as much would spare a fifteenth of the time and be a sixth of the memory. */
const newSpaceMax = 64 * 2 ** 20;

/** Sets them while the program runs, wherever it was started from. */
export function tuneForSimulation(): void {
  for (const flag of flags) v8.setFlagsFromString(flag);
}

/** Asked now and then during a run: only a command line can say how far the space for new objects grows. */
export function holdNewSpace(): void {
  const space = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  if ((space?.space_size ?? 0) >= newSpaceMax) {
    v8.setFlagsFromString('--semi-space-growth-factor=1');
  }
}
