// Runs the whole stack through stories drawn from seeds: npm run seeds -- --count N [--seed S]
// Last line `N seeds, M failed`; exit 1 when any failed. With --verbose the story is printed.
import { parseArgs } from 'node:util';
import { runSeed } from '../packages/k8s-adapter/test/seeds/world.ts';

const progressEvery = 50;
const seedMax = 2 ** 31 - 1;

interface Flags {
  readonly count: number;
  readonly seed: number;
  readonly verbose: boolean;
}

let flags: Flags = { count: 0, seed: 0, verbose: false };
try {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const seed = wholeNumber('--seed', values.seed, 0);
  flags = { seed, count: wholeNumber('--count', values.count, 1), verbose: values.verbose };
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`error: ${message} (allowed: --count N, --seed S, --verbose)\n`);
  process.exit(2);
}

let failed = 0;
for (let done = 0; done < flags.count; done++) {
  const seed = flags.seed + done;
  const { violations, transcript } = runSeed(seed);
  if (flags.verbose) process.stdout.write(`${transcript.join('\n')}\n`);
  if (violations.length > 0) {
    failed += 1;
    for (const { invariant, evidence } of violations) {
      process.stdout.write(`seed ${seed}: violated "${invariant}": ${evidence}\n`);
    }
    process.stdout.write(`  replay: npm run seeds -- --seed ${seed} --count 1 --verbose\n`);
  }
  tellProgress(done + 1);
}
process.stdout.write(`${flags.count} seeds, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

function tellProgress(done: number): void {
  const text = `${done} of ${flags.count} seeds, ${failed} failed`;
  if (process.stderr.isTTY) {
    process.stderr.write(done === flags.count ? '\r\x1b[K' : `\r${text}`);
  } else if (done % progressEvery === 0 && done < flags.count) {
    process.stderr.write(`${text}\n`);
  }
}

function wholeNumber(flag: string, value: string, min: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= seedMax) return number;
  throw new Error(`${flag}: got "${value}", want a whole number from ${min} to ${seedMax}`);
}
