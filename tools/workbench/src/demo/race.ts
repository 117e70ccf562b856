// Plays the hour on both sides at once, and tells of it.
import type { Millis } from '@taintmgr/core/time';
import type { Summary } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/result/summary.ts';
import { Narrator } from './narrator.ts';
import type { Screen } from './screen.ts';
import type { Side } from './side.ts';
import { chapters, hour, type Scene } from './story.ts';

const frameMs = 50;
/** So much of the hour is played between two looks at what is new, and in one frame. */
const stepMs: Millis = 1_000;
const frameStepMsMax: Millis = 10_000;
const minuteMs = 60_000;

export interface RaceOptions {
  readonly sides: readonly Side[];
  readonly screen: Screen;
  /** How many times faster than a clock; infinite: as fast as it can be computed. */
  readonly speed: number;
  readonly signal: AbortSignal;
}

/** The sums of each side before the first chapter and at the end of each; null: interrupted. */
export async function race(options: RaceOptions): Promise<readonly (readonly Summary[])[] | null> {
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
