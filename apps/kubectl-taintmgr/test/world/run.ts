import { runProgram } from '../../src/program.ts';
import { CapturedOutput } from './captured-output.ts';

/** How a command ended and what it wrote. */
export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A command under way in this process. */
export interface Running {
  readonly output: CapturedOutput;
  /** What Ctrl-C does. */
  interrupt(): void;
  readonly result: Promise<Result>;
}

/** Starts `kubectl taintmgr ARGS` in this process; `isWatched`: on a terminal, of `width` columns. */
export function start(
  args: readonly string[],
  isWatched: boolean = false,
  width: number | null = null,
): Running {
  const output = new CapturedOutput(isWatched, width);
  const interrupt = new AbortController();
  const finish = async (): Promise<Result> => {
    const surroundings = { output, interrupt: interrupt.signal };
    const code = await runProgram(args, surroundings).finally(() => output.end());
    return { code, out: output.outText, err: output.errText };
  };
  return { output, interrupt: () => interrupt.abort(), result: finish() };
}

/** Runs `kubectl taintmgr ARGS` in this process to its end. */
export function run(...args: readonly string[]): Promise<Result> {
  return start(args).result;
}

/** Runs `kubectl taintmgr ARGS` on a terminal of so many columns. */
export function runAt(width: number, ...args: readonly string[]): Promise<Result> {
  return start(args, false, width).result;
}

/** A result without what is different each time: how long it took, and the name of the drain. */
export function steady({ code, out, err }: Result): Result {
  const plain = (text: string): string =>
    text
      .replace(/ drained \((\d+ pods?), \d+s\)/g, ' drained ($1)')
      .replace(/ in (\d+m)?\d+s$/gm, ' in Xs')
      .replace(/, \d+\.\ds\)/g, ', 0.Xs)')
      .replace(/drain-\d{8}-\d{6}-[0-9a-f]{4}/g, '<drain>');
  return { code, out: plain(out), err: plain(err) };
}
