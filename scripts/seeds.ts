// Runs the whole stack through stories drawn from seeds: npm run seeds -- --count N [--seed S]
// Each seed plays one scenario, the kinds in turn; --story plays that kind for every seed. Last
// lines `R requests to delete or evict pods` and `N seeds, M failed`; exit 1 when any failed.
// --verbose prints the stories, --jobs J shares the seeds among J threads, as many as there are
// processors if it is left out. --sabotage NAME plants that fault and looks for the first seed that
// shows it; `all` does so for each.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { playSeed, type SeedResult } from '../packages/k8s-adapter/test/seeds/play.ts';
import { plots, type StoryName } from '../packages/k8s-adapter/test/seeds/plots.ts';
import { hunt, sabotages } from '../packages/k8s-adapter/test/seeds/sabotages.ts';

const progressEvery = 50;
/** The number of last actions shown for a failure. */
const actionsShown = 12;
const seedMax = 2 ** 31 - 1;
const jobsMax = 64;
const usage =
  'allowed: --count N, --seed S, --jobs J, --story evictions|nodes|whole|clocks|policies|takeover|drains|strangers, --sabotage NAME|all, --verbose';

interface Flags {
  readonly count: number;
  readonly seed: number;
  readonly jobs: number;
  readonly verbose: boolean;
  /** Null: the kinds in turn. */
  readonly story: StoryName | null;
  /** The faults to plant. */
  readonly planted: readonly string[];
}

try {
  const flags = readFlags();
  if (flags.planted.length > 0) huntAll(flags);
  else await playAll(flags);
} catch (error) {
  if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
  process.stderr.write(`error: ${error.message} (${usage})\n`);
  process.exitCode = 2;
}

function readFlags(): Flags {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      jobs: { type: 'string' },
      story: { type: 'string' },
      sabotage: { type: 'string' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const { story, sabotage, verbose } = values;
  const count = wholeNumber('--count', values.count, 1, seedMax);
  const jobs = values.jobs ?? String(Math.min(availableParallelism(), count, jobsMax));
  if (story !== undefined && !isStory(story)) throw new RangeError(`--story: no such "${story}"`);
  return {
    verbose,
    count,
    seed: wholeNumber('--seed', values.seed, 0, seedMax),
    jobs: wholeNumber('--jobs', jobs, 1, jobsMax),
    story: story ?? null,
    planted: sabotage === undefined ? [] : plantedBy(sabotage),
  };
}

function plantedBy(name: string): readonly string[] {
  if (name === 'all') return Object.keys(sabotages);
  if (Object.hasOwn(sabotages, name)) return [name];
  const known = Object.keys(sabotages).join(', ');
  throw new RangeError(`--sabotage: no such "${name}", want all or one of ${known}`);
}

function isStory(name: string): name is StoryName {
  return Object.hasOwn(plots, name);
}

/** Plays each seed's scenario, here or in threads, in no particular order. */
async function playAll({ count, seed, jobs, story, verbose }: Flags): Promise<void> {
  let done = 0;
  let failed = 0;
  let requests = 0;
  const heed = (result: SeedResult): void => {
    done += 1;
    if (verbose) process.stdout.write(`${result.transcript.join('\n')}\n`);
    if (result.violations.length > 0) failed += 1;
    requests += result.removals;
    report(result);
    printProgress(done, count, failed);
  };
  const seeds = Array.from({ length: count }, (_, index) => seed + index);
  if (jobs === 1) for (const one of seeds) heed(playSeed(one, story));
  else {
    const left = seeds.values();
    await Promise.all(Array.from({ length: jobs }, () => inThread(left, story, heed)));
  }
  process.stdout.write(`${requests} requests to delete or evict pods\n`);
  process.stdout.write(`${count} seeds, ${failed} failed\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}

/**
 * Plays the remaining seeds in a thread, one after the other: some kinds of story take twice as
 * long.
 */
function inThread(
  left: Iterator<number>,
  story: StoryName | null,
  heed: (result: SeedResult) => void,
): Promise<void> {
  const worker = new Worker(new URL('seeds-worker.ts', import.meta.url), { workerData: story });
  const playNext = (): void => {
    const { value, done } = left.next();
    worker.postMessage(done ? null : value);
  };
  worker.on('message', (result: SeedResult) => {
    heed(result);
    playNext();
  });
  playNext();
  return new Promise((resolve, reject) => {
    worker.on('error', reject);
    worker.on('exit', () => resolve());
  });
}

/** The actions on the world, without their results, which are indented. */
function actionsOf(transcript: readonly string[]): readonly string[] {
  return transcript.filter((line) => /^\S+ +\S+ {2}(?! |VIOLATED|config)/.test(line));
}

function report({ seed, story, violations, transcript }: SeedResult): void {
  for (const { invariant, evidence } of violations) {
    process.stdout.write(`seed ${seed}, ${story}: violated "${invariant}": ${evidence}\n`);
  }
  if (violations.length === 0) return;
  for (const line of actionsOf(transcript).slice(-actionsShown))
    process.stdout.write(`  ${line}\n`);
  process.stdout.write(
    `  replay: npm run seeds -- --seed ${seed} --count 1 --story ${story} --verbose\n`,
  );
}

/** Plants one fault after the other; exit 1 when one is not found. */
function huntAll({ planted, seed, count }: Flags): void {
  for (const name of planted) {
    const found = hunt(name, seed, count);
    if (!found) process.exitCode = 1;
    const text = found
      ? `caught by "${found.invariant}" in seed ${found.seed}: ${found.evidence}`
      : `not caught in ${count} seeds`;
    process.stdout.write(`${name}: ${text}\n`);
  }
}

function printProgress(done: number, count: number, failed: number): void {
  const text = `${done} of ${count} seeds, ${failed} failed`;
  if (process.stderr.isTTY) {
    process.stderr.write(done === count ? '\r\x1b[K' : `\r${text}`);
  } else if (done % progressEvery === 0 && done < count) {
    process.stderr.write(`${text}\n`);
  }
}

function wholeNumber(flag: string, value: string, min: number, max: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  throw new RangeError(`${flag}: got "${value}", want a whole number from ${min} to ${max}`);
}
