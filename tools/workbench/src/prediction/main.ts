// Prints how good the predictions of `explain` are under each evictor: npm run prediction [-- --seed NUMBER]
import { parseArgs } from 'node:util';
import { formatTime } from '@taintmgr/core/time';
import type { PodStory } from './run.ts';
import { isRight, judge, playCase, predictionCases, type Score, scoreOf } from './runs.ts';
import { drawScenario } from './scenario.ts';

const heads = [
  'EVICTED BY',
  'PODS',
  'WITHIN 1.5s',
  'AT FIRST',
  'KEPT',
  'HELD',
  'KEEP WRONG',
  'MEDIAN',
];

/** `41 of 42` */
function share({ right, counted }: Score): string {
  return `${right} of ${counted}`;
}

function rowOf(name: string, stories: readonly PodStory[]): readonly string[] {
  const [last, first] = [scoreOf(stories, 'last'), scoreOf(stories, 'first')];
  const { kept, held, keepWrong, medianErrorMs } = last;
  const median = `${(medianErrorMs / 1000).toFixed(1)}s`;
  return [
    name,
    String(stories.length),
    share(last),
    share(first),
    String(kept),
    String(held),
    String(keepWrong),
    median,
  ];
}

/** The pods with a wrong recent prediction, a line for each. */
function wrongLines(stories: readonly PodStory[]): readonly string[] {
  return stories.flatMap((story) => {
    const verdict = judge(story, 'last');
    if (isRight(verdict) !== false) return [];
    const { pod, removedAt } = story;
    const went = removedAt === null ? 'stayed' : `went at ${formatTime(removedAt)}`;
    return [`  ${pod.node}/${pod.name} (${pod.kind}) ${went}: ${JSON.stringify(verdict)}`];
  });
}

const { seed } = parseArgs({ options: { seed: { type: 'string' } } }).values;
if (seed !== undefined && !/^\d{1,9}$/.test(seed)) {
  process.stderr.write(`error: --seed: Invalid value: "${seed}": want a whole number\n`);
  process.exit(1);
}
const drawn = seed === undefined ? undefined : drawScenario(Number(seed));

const rows: (readonly string[])[] = [heads];
const wrong: string[] = [];
for (const one of predictionCases) {
  const { stories } = await playCase(one, one.scenario ? undefined : drawn);
  rows.push(rowOf(one.name, stories));
  const lines = wrongLines(stories);
  if (lines.length > 0) wrong.push(`${one.name}:`, ...lines);
}
const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
for (const row of rows) {
  process.stdout.write(
    `${row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('   ')
      .trimEnd()}\n`,
  );
}
if (wrong.length > 0) process.stdout.write(`\n${wrong.join('\n')}\n`);
