// `npm run demo`: the same hour under kube-controller-manager's rules and under ours, in one minute.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { stopSignal } from '@taintmgr/controller/src/process/stop-signal.ts';
import type { Millis } from '@taintmgr/core/time';
import { version } from '@taintmgr/kubectl-taintmgr/src/cli/version.ts';
import { simulationDocument } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/result/documents.ts';
import { renderTable } from '@taintmgr/kubectl-taintmgr/src/render/table.ts';
import type { Summary } from '@taintmgr/page';
import { keep } from './keep.ts';
import { Play } from './narrator.ts';
import { type Score, scoresOf } from './scoreboard.ts';
import { Screen } from './screen.ts';
import { files, root, type Side, startSides } from './side.ts';
import { hour } from './story.ts';

const frameMs = 50;
/** The longest stretch of the hour that is played in one frame. */
const frameStepMsMax: Millis = 10_000;

interface RaceOptions {
  readonly sides: readonly Side[];
  readonly screen: Screen;
  /** Times faster than a clock; infinite: as fast as the machine computes. */
  readonly speed: number;
  readonly signal: AbortSignal;
}

/** The sums of each side before the first chapter and at the end of each; null: interrupted. */
async function race(options: RaceOptions): Promise<readonly (readonly Summary[])[] | null> {
  const { sides, screen, speed, signal } = options;
  const play = new Play(sides);
  let after: Millis = 0;
  let lookedAt = performance.now();
  while (after < hour) {
    await nextFrame(Number.isFinite(speed) ? frameMs : 0);
    if (signal.aborted) return null;
    const now = performance.now();
    // On a slow machine the hour takes longer; nothing is left out.
    after = Math.min(hour, after + Math.min(frameStepMsMax, (now - lookedAt) * speed));
    lookedAt = now;
    play.runUntil(after);
    screen.draw(after, play);
  }
  const sums = play.end();
  screen.draw(hour, play);
  return sums;
}

function nextFrame(ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms > 0) setTimeout(resolve, ms);
    else setImmediate(resolve);
  });
}

const usage = `Plays the same hour on two simulated clusters, in one minute: left by
kube-controller-manager's rules, right with taintmgr. Ends with a checked
scoreboard and an HTML report.

Usage: npm run demo [-- flags]

  --keep          in place of the hour, run a cluster for your own kubectl
  --speed NUMBER  times faster than a clock, or max;
                  default 60 on a terminal, else max
  --seed NUMBER   seed of the clusters; default 1
  -h, --help      print this help and exit
`;

const page = 'reports/demo.html';
/** Exit code after Ctrl-C. */
const interrupted = 130;
const speedUsual = 60;

interface Flags {
  readonly keep: boolean;
  readonly seed: number;
  /** Null: as suits the audience. */
  readonly speed: number | null;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const flags = readFlags();
  if (typeof flags === 'number') return flags;
  const signal = stopSignal(interrupted);
  if (flags.keep) {
    await keep(flags.seed, signal);
    return 0;
  }
  const isKept = await play(flags, signal);
  if (isKept === null) return interrupted;
  return isKept ? 0 : 1;
}

/** Returns whether all figures are as expected; null: interrupted. */
async function play({ seed, speed }: Flags, signal: AbortSignal): Promise<boolean | null> {
  const { source, left, right } = await startSides(seed);
  const screen = new Screen();
  const sides = [left, right];
  const usual = screen.isLive ? speedUsual : Number.POSITIVE_INFINITY;
  const sums = await race({ sides, screen, speed: speed ?? usual, signal });
  screen.close();
  const [ofLeft, ofRight] = sums ?? [];
  if (!ofLeft || !ofRight) return null;
  const scores = scoresOf(
    { summaries: ofLeft, deadlines: left.recording.deadlines },
    { summaries: ofRight, deadlines: right.recording.deadlines },
  );
  const runs = sides.map((side) => side.result());
  const result = {
    source,
    script: files.script,
    seed,
    seeds: 1,
    until: hour,
    runs,
    limits: [],
    manager: null,
  };
  const { pageHtml } = await import('@taintmgr/page');
  const made = { command: `npm run demo -- --seed ${seed}`, version };
  await write(join(root, page), await pageHtml(simulationDocument(result), made));
  return conclude(scores);
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Prints the scoreboard and the next command. Returns whether all figures are as expected. */
function conclude(scores: readonly Score[]): boolean {
  const head = ['', 'KUBE-CONTROLLER-MANAGER', 'TAINTMGR', ''];
  const rows = scores.map(({ what, left, right, isKept }) => [
    ...[what, left, right],
    isKept ? 'ok' : 'WRONG',
  ]);
  const isKept = scores.every((score) => score.isKept);
  const figures = isKept ? 'All figures as expected.' : 'NOT all figures as expected.';
  process.stdout.write(`
${renderTable(head, rows)}

${figures} Report: ${relative(process.cwd(), join(root, page))}
Press the buttons yourself: npm run -s kubectl-taintmgr -- web --demo
`);
  return isKept;
}

/** The exit code instead where there is nothing to play. */
function readFlags(): Flags | number {
  const options = {
    keep: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    speed: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { keep: isKept, seed, speed, help } = parseArgs({ options }).values;
    if (help) {
      process.stdout.write(usage);
      return 0;
    }
    if (!/^\d{1,9}$/.test(seed)) throw new Error(`--seed: got "${seed}", want a whole number`);
    return { keep: isKept, seed: Number(seed), speed: speed === undefined ? null : speedOf(speed) };
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
}

function speedOf(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const speed = Number(text);
  if (speed >= 1 && speed <= 10_000) return speed;
  throw new Error(`--speed: got "${text}", want a number from 1 to 10000, or max`);
}
