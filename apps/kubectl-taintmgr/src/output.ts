import { createLogUpdate } from 'log-update';

/** A line that is rewritten in place, for a person who watches. */
interface LiveLine {
  show(text: string): void;
  /** Takes it away, so that what is written next starts on an empty line. */
  clear(): void;
}

/** Where a command writes, and what it may assume about who reads it. */
export interface Output {
  /** Data: what a script reads. One call, one line or block without its line end. */
  out(text: string): void;
  /** Everything said to a person: progress, warnings, errors. */
  err(text: string): void;
  /** Null where nobody watches `err`: no escape sequence is ever written there. */
  readonly live: LiveLine | null;
}

/** The output of this process. */
export function processOutput(): Output {
  const { stdout, stderr, env } = process;
  return {
    out: (text) => void stdout.write(`${text}\n`),
    err: (text) => void stderr.write(`${text}\n`),
    live: canRewrite(stderr, env) ? terminalLine(stderr) : null,
  };
}

/** Whether a line can be rewritten: not every terminal knows how, or says how large it is. */
export function canRewrite(
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  { TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
  return isTTY === true && columns > 0 && TERM !== 'dumb';
}

function terminalLine(stream: NodeJS.WriteStream): LiveLine {
  const line = createLogUpdate(stream, { showCursor: true });
  return { show: (text) => line(text), clear: () => line.clear() };
}
