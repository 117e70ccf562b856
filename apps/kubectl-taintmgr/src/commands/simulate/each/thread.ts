// The thread that plays losses, as it sees itself: one after the other, as they come.
import { parentPort, workerData } from 'node:worker_threads';
import { LossPlayer } from './loss-player.ts';
import type { ThreadAnswer, ThreadData } from './loss-thread.ts';
import type { PlannedLoss } from './plan.ts';

/** Builds the cluster, and answers each loss with what came of it. */
export function playInThread(): void {
  const { job, baseline }: ThreadData = workerData;
  const player = new LossPlayer(job);
  // The starter of the thread ends it at Ctrl-C.
  const { signal } = new AbortController();
  const answer = (given: ThreadAnswer): void => parentPort?.postMessage(given);
  parentPort?.on('message', async (planned: PlannedLoss) => {
    answer({ kind: 'loss', loss: await player.play(planned, baseline, signal) });
  });
  answer({ kind: 'ready' });
}
