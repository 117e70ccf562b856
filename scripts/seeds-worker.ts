// One thread of seeds.ts: plays the scenario of each seed it gets, posts the result, and ends at
// null.
import { parentPort, workerData } from 'node:worker_threads';
import { playSeed } from '../packages/k8s-adapter/test/seeds/play.ts';

parentPort?.on('message', (seed: number | null) => {
  if (seed === null) parentPort?.close();
  else parentPort?.postMessage(playSeed(seed, workerData));
});
