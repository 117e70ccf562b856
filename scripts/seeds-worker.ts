// One thread of seeds.ts: plays the scenarios of its seeds and posts what came of each.
import { parentPort, workerData } from 'node:worker_threads';
import { playSeed } from '../packages/k8s-adapter/test/seeds/play.ts';

for (const seed of workerData.seeds) parentPort?.postMessage(playSeed(seed, workerData.story));
