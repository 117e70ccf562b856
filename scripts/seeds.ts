// Runs the whole stack through stories drawn from seeds: npm run seeds -- --count N [--seed S]
// Each seed tells two stories, one of evictions and one of nodes; --story tells only one of them.
// Last line `N seeds, M failed`; exit 1 when any failed. With --verbose the story is printed.
import { parseArgs } from 'node:util';
import { runNodeSeed } from '../packages/k8s-adapter/test/seeds/node-story.ts';
import { runSeed } from '../packages/k8s-adapter/test/seeds/world.ts';

const stories = { evictions: runSeed, nodes: runNodeSeed } as const;
type Story = keyof typeof stories;

const progressEvery = 50;
const seedMax = 2 ** 31 - 1;

interface Flags {
  readonly count: number;
  readonly seed: number;
  readonly verbose: boolean;
  readonly told: readonly Story[];
}

let flags: Flags = { count: 0, seed: 0, verbose: false, told: [] };
try {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      story: { type: 'string', default: '' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const seed = wholeNumber('--seed', values.seed, 0);
  const { verbose } = values;
  flags = {
    seed,
    count: wholeNumber('--count', values.count, 1),
    verbose,
    told: told(values.story),
  };
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    `error: ${message} (allowed: --count N, --seed S, --story evictions|nodes, --verbose)\n`,
  );
  process.exit(2);
}

let failed = 0;
for (let done = 0; done < flags.count; done++) {
  const seed = flags.seed + done;
  const isBroken = flags.told.map((story) => tell(story, seed)).includes(true);
  if (isBroken) failed += 1;
  tellProgress(done + 1);
}
process.stdout.write(`${flags.count} seeds, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

/** Whether something was violated. */
function tell(story: Story, seed: number): boolean {
  const { violations, transcript } = stories[story](seed);
  if (flags.verbose) process.stdout.write(`${transcript.join('\n')}\n`);
  for (const { invariant, evidence } of violations) {
    process.stdout.write(`seed ${seed}, ${story}: violated "${invariant}": ${evidence}\n`);
  }
  if (violations.length > 0) {
    process.stdout.write(
      `  replay: npm run seeds -- --seed ${seed} --count 1 --story ${story} --verbose\n`,
    );
  }
  return violations.length > 0;
}

function told(name: string): readonly Story[] {
  if (name === '') return ['evictions', 'nodes'];
  if (name === 'evictions' || name === 'nodes') return [name];
  throw new Error(`--story: got "${name}", want evictions or nodes`);
}

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
