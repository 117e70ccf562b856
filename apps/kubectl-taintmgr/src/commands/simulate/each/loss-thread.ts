// A thread that plays losses, as the one that started it sees it. The code of the plugin is a module of
// sources, the one file of the package, or a part of the one program. Each starts a thread of itself, which
// reaches `playInThread` by the same entry.
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Loss } from '@taintmgr/page';
import type { Baseline, LossJob } from './loss-player.ts';
import type { PlannedLoss } from './plan.ts';

/** The data passed to a thread. */
export interface ThreadData {
  readonly job: LossJob;
  readonly baseline: Baseline;
}

/** A message from a thread: the cluster of the thread is built, or the results of a loss. */
export type ThreadAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'loss'; readonly loss: Loss };

/** Where this code is: of sources this file, else the file of the package, or the name of a part. */
const here: string = import.meta.url;

/** The package is a function, as bin/kept-code.js runs it. */
const startsPackage = `
const { runInThisContext } = require('node:vm');
const { file, source } = require('node:worker_threads').workerData;
runInThisContext(source, { filename: file })({}, require, { exports: {} }, file);
`;

type Archive = Pick<typeof import('node:sea'), 'getAsset' | 'isSea'>;

function startWorker(data: ThreadData): Worker {
  if (here.endsWith('.ts')) {
    const entry = new URL('../../../main.ts', here);
    return new Worker(entry, { workerData: data });
  }
  // Bun does not have the module.
  const archive: Archive | undefined = process.getBuiltinModule('node:sea');
  const source = archive?.isSea() ? archive.getAsset(here, 'utf8') : readFileSync(here, 'utf8');
  const workerData = { ...data, file: here, source };
  return new Worker(startsPackage, { eval: true, workerData });
}

interface Waiting {
  readonly resolve: (answer: ThreadAnswer) => void;
  readonly reject: (error: Error) => void;
}

export class LossThread {
  readonly #worker: Worker;
  #waiting: Waiting | null = null;
  /** The reason of its end; null: it has not ended. */
  #end: Error | null = null;

  constructor(data: ThreadData) {
    this.#worker = startWorker(data);
    this.#worker.on('message', (answer: ThreadAnswer) => this.#waiting?.resolve(answer));
    this.#worker.on('error', (error) => this.#ended(error));
    this.#worker.on('exit', (code) => this.#ended(new Error(`it ended with ${code}`)));
  }

  /** Resolves when it has built its cluster. Throws why it has ended before. */
  async ready(): Promise<void> {
    const { kind } = await this.#answer();
    if (kind !== 'ready') throw new Error(`it answered with ${kind} at first`);
  }

  /** One at a time. Throws why the thread has ended before. */
  async play(planned: PlannedLoss): Promise<Loss> {
    this.#worker.postMessage(planned);
    const answer = await this.#answer();
    if (answer.kind === 'loss') return answer.loss;
    throw new Error(`it answered with ${answer.kind}`);
  }

  /** Terminates the thread and abandons the loss in play. */
  stop(): void {
    void this.#worker.terminate();
  }

  #answer(): Promise<ThreadAnswer> {
    if (this.#end) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #ended(error: unknown): void {
    this.#end ??= error instanceof Error ? error : new Error(String(error));
    this.#waiting?.reject(this.#end);
  }
}
