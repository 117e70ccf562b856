import v8 from 'node:v8';

/**
 * How much the heap may grow before the garbage collector works: a little more work for half of the
 * memory. These can be set while it runs, wherever the program was started from.
 */
export function keepHeapSmall(): void {
  // The space for new objects stays as large as it begins: 1 MiB, and not 16 in each half.
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  // The rest is looked through when it has grown by half, and not to four times its size.
  v8.setFlagsFromString('--heap-growing-percent=50');
}
