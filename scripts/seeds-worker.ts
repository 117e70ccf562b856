// One thread of seeds.ts: tells the stories of its seeds and posts what came of each.
import { parentPort, workerData } from 'node:worker_threads';
import { tellSeed } from '../packages/k8s-adapter/test/seeds/telling.ts';

for (const seed of workerData.seeds) parentPort?.postMessage(tellSeed(seed, workerData.story));
