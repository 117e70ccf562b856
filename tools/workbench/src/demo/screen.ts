// Where the demo is shown: a board that is drawn in place on a terminal, plain lines otherwise.
import { styleText } from 'node:util';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import { createLogUpdate } from 'log-update';
import { board, type Titled } from './columns.ts';

/** Narrower, or with fewer rows, there is no room for two sides. */
const [columnsMin, columnsMax, rowsMin] = [80, 150, 24];
const linesShown = 4;
/** The longer name of a side. */
const whoWidth = 'kube-controller-manager'.length;

interface Said {
  readonly line: string;
  readonly isScene: boolean;
}

/** Every line that was said stands in the scrollback at the end. */
export class Screen {
  readonly #isLive: boolean;
  readonly #live = createLogUpdate(process.stdout);
  readonly #lines: Said[] = [];
  #isOpen = true;

  constructor() {
    const { isTTY, columns = 0, rows = 0 } = process.stdout;
    this.#isLive = isTTY === true && columns >= columnsMin && rows >= rowsMin;
  }

  /** Whether somebody watches, so that it has to take its time. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** `who`: a side; left out: what happens to both. */
  line(after: Millis, text: string, who?: string): void {
    const time = formatDuration(Math.round(after / 1000) * 1000).padStart(6);
    const line = `${time}  ${who === undefined ? '»' : who.padEnd(whoWidth)}  ${text}`;
    const said = { line, isScene: who === undefined };
    if (this.#isLive) this.#lines.push(said);
    else process.stdout.write(`${styled(said)}\n`);
  }

  /** `scene`: what goes on. */
  draw(after: Millis, until: Millis, scene: string, sides: readonly Titled[]): void {
    if (!this.#isLive) return;
    const columns = Math.min(process.stdout.columns, columnsMax);
    const time = ` ${formatDuration(after)} of ${formatDuration(until)} `;
    const room = Math.max(10, columns - time.length - scene.length - 3);
    const done = Math.round((room * after) / until);
    const progress = `${styleText('cyan', '━'.repeat(done))}${styleText('dim', '─'.repeat(room - done))}`;
    this.#live(
      [
        `${progress}${time} ${styleText('bold', scene)}`,
        '',
        ...board(sides, columns),
        '',
        ...this.#lines.slice(-linesShown).map((said) => styled(said, columns)),
      ].join('\n'),
    );
  }

  /** Leaves all lines behind, without the board. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (!this.#isLive) return;
    this.#live.clear();
    this.#live.done();
    process.stdout.write(`${this.#lines.map((said) => styled(said)).join('\n')}\n`);
  }
}

function styled({ line, isScene }: Said, columns: number = line.length): string {
  const text = line.slice(0, columns);
  return isScene ? styleText('bold', text) : text;
}
