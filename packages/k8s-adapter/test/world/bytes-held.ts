// How much memory is held, garbage not counted.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const collect = ((): (() => void) => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();

export function bytesHeld(): number {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
