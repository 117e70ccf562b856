// `npm run demo`: the same hour under kube-controller-manager's rules and under ours, in one minute.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { stopSignal } from '@taintmgr/controller/src/process/stop-signal.ts';
import type { Millis } from '@taintmgr/core/time';
import { simulationDocument } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/result/documents.ts';
import { renderTable } from '@taintmgr/kubectl-taintmgr/src/render/table.ts';
import type { Summary } from '@taintmgr/page';
import { keep } from './keep.ts';
import { Narrator } from './narrator.ts';
import { type Score, scoresOf } from './scoreboard.ts';
import { Screen } from './screen.ts';
import { files, root, type Side, startSides } from './side.ts';
import { chapters, hour, type Scene } from './story.ts';

const frameMs = 50;
/** So much of the hour is played between two looks at what is new, and in one frame. */
const stepMs: Millis = 1_000;
const frameStepMsMax: Millis = 10_000;
const minuteMs = 60_000;

interface RaceOptions {
  readonly sides: readonly Side[];
  readonly screen: Screen;
  /** How many times faster than a clock; infinite: as fast as it can be computed. */
  readonly speed: number;
  readonly signal: AbortSignal;
}

/** The sums of each side before the first chapter and at the end of each; null: interrupted. */
async function race(options: RaceOptions): Promise<readonly (readonly Summary[])[] | null> {
  const { sides, screen, speed, signal } = options;
  const commentary = new Commentary(sides, screen);
  let after: Millis = 0;
  let lookedAt = performance.now();
  while (after < hour) {
    await nextFrame(Number.isFinite(speed) ? frameMs : 0);
    if (signal.aborted) return null;
    const now = performance.now();
    // Where the machine is too slow the hour takes longer; nothing is left out.
    const frameEnd = Math.min(hour, after + Math.min(frameStepMsMax, (now - lookedAt) * speed));
    lookedAt = now;
    while (after < frameEnd) {
      after = Math.min(frameEnd, after + stepMs, commentary.nextAt);
      for (const side of sides) side.runUntil(after);
      commentary.upTo(after);
    }
    const shown = sides.map((side) => ({ title: side.title, view: side.view() }));
    screen.draw(after, hour, commentary.scene, shown);
  }
  return commentary.end();
}

/** What is said when. */
class Commentary {
  scene = 'all is well';
  readonly #sides: readonly { readonly side: Side; readonly narrator: Narrator }[];
  readonly #screen: Screen;
  readonly #summaries: Summary[][];
  #coming: readonly Scene[] = chapters.flatMap(({ scenes }) => scenes);

  constructor(sides: readonly Side[], screen: Screen) {
    this.#sides = sides.map((side) => ({ side, narrator: new Narrator(side) }));
    this.#screen = screen;
    this.#summaries = sides.map((side) => [side.summary()]);
  }

  /** When the next scene is announced: right before it begins. */
  get nextAt(): Millis {
    const [next] = this.#coming;
    return next ? next.minute * minuteMs - 1 : hour;
  }

  upTo(after: Millis): void {
    for (const { side, narrator } of this.#sides) {
      for (const text of narrator.news()) this.#screen.line(after, text, side.title);
    }
    const [next, ...others] = this.#coming;
    if (!next || after < this.nextAt) return;
    const isFirst = next === chapters[0]?.scenes[0];
    if (!isFirst && chapters.some(({ scenes }) => scenes[0] === next)) this.#endChapter(after);
    this.#coming = others;
    this.scene = next.text;
    this.#screen.line(after, next.text);
  }

  end(): readonly (readonly Summary[])[] {
    this.#endChapter(hour);
    return this.#summaries;
  }

  #endChapter(after: Millis): void {
    for (const [index, { side, narrator }] of this.#sides.entries()) {
      this.#screen.line(after, `in all: ${narrator.endChapter()}`, side.title);
      this.#summaries[index]?.push(side.summary());
    }
  }
}

function nextFrame(ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms > 0) setTimeout(resolve, ms);
    else setImmediate(resolve);
  });
}

const usage = `The same hour twice, in one minute: on the left a cluster under kube-controller-manager's rules, on the
right one with taintmgr. A zone loses its power, the controllers are restarted, a health checker taints every
node, and a new kernel comes to each node. Ends with a scoreboard that is checked, and a page of both.

Usage: npm run demo [-- flags]

  --keep          then start a cluster with the controller, for your own kubectl
  --speed NUMBER  how many times faster than a clock, or max; default 60 on a terminal, else max
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
  /** Null: as suits who looks at it. */
  readonly speed: number | null;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const flags = readFlags();
  if (typeof flags === 'number') return flags;
  const signal = stopSignal(interrupted);
  const isKept = await play(flags, signal);
  if (isKept === null) return interrupted;
  if (flags.keep) await keep(flags.seed, signal);
  return isKept ? 0 : 1;
}

/** Whether all promises were kept; null: interrupted. */
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
  await write(join(root, page), await pageHtml(simulationDocument(result)));
  return conclude(scores);
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Prints the scoreboard and what to do next; whether all is as promised. */
function conclude(scores: readonly Score[]): boolean {
  const head = ['', 'KUBE-CONTROLLER-MANAGER', 'TAINTMGR', ''];
  const rows = scores.map(({ what, left, right, isKept }) => [
    ...[what, left, right],
    isKept ? 'ok' : 'WRONG',
  ]);
  const isKept = scores.every((score) => score.isKept);
  const play = `simulate -f ${files.topology} --script ${files.script} --until 1h`;
  process.stdout.write(`
${renderTable(head, rows)}

${isKept ? 'as promised' : 'NOT as promised'}; the hour, pod by pod, for a browser: ${relative(process.cwd(), join(root, page))}

Try:
  npm run -s kubectl-taintmgr -- ${play} --compare
  npm run -s kubectl-taintmgr -- ${play} -o wide
  npm run demo -- --keep
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
