import { onTerminal, printable } from '@taintmgr/k8s-adapter/command-line';
import { broken } from '../render/lines.ts';
import { type ColorChoice, type Paint, paintFor } from '../render/style.ts';

/** A block of lines that is rewritten in place, for a person who watches. */
export interface LiveBlock {
  show(text: string): void;
  /** Clears the block, so that the next output starts on an empty line. */
  clear(): void;
}

/** The output of a command, and the assumptions about its reader. */
export interface Output {
  /** Data: what a script reads. A call writes one line or block without its line end. */
  out(text: string): void;
  /** Data exactly as it is, unless a terminal shows it. */
  write(text: string): void;
  /** Resolves when all data so far has been taken; never where it could not be written. */
  flushed(): Promise<void>;
  /** Everything said to a person: progress, warnings, errors. */
  err(text: string): void;
  /** Null where `err` is no terminal: no escape sequence that moves is ever written there. */
  live(): Promise<LiveBlock | null>;
  /** The same for `out`. */
  screen(): Promise<LiveBlock | null>;
  /** Colours for `out` and `err`, where there are any. */
  readonly paintOut: Paint;
  readonly paintErr: Paint;
  /** The columns of the terminals of `out` and `err`; null: no terminal, and lines of any length. */
  readonly widthOut: number | null;
  readonly widthErr: number | null;
}

/** A line that begins with `Warning:`, as kubectl writes one; what in it came from the cluster steers no terminal. */
export function warn(output: Output, text: string): void {
  output.err(`${output.paintErr('warning', 'Warning:')} ${printable(text)}`);
}

/** Warnings and notes beside an answer, as they are meant for a person. */
export function writeNotes(
  output: Output,
  { warnings, notes }: { readonly warnings: readonly string[]; readonly notes: readonly string[] },
): void {
  for (const text of warnings) warn(output, text);
  for (const text of notes) output.err(`Note: ${printable(text)}`);
}

/** Notes that say how to read a table stand below it, where `> file` keeps them; a document has its own. */
export function writeTableNotes(output: Output, isTable: boolean, notes: readonly string[]): void {
  for (const note of notes) {
    const text = `Note: ${printable(note)}`;
    if (isTable) output.out(text);
    else output.err(text);
  }
}

/** Warns of temporary objects that could not be removed, each with the command that removes it. */
export function warnOfLeft(
  output: Output,
  left: readonly { readonly why: string; readonly command: string }[],
): void {
  for (const { why, command } of left) {
    warn(output, `it could not be cleaned up: ${why}; to do it: ${command}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The output of this process. */
export function processOutput(env: Environment = process.env): Output {
  const { stdout, stderr } = process;
  return {
    out: (text) => void stdout.write(`${broken(onTerminal(text), widthOf(stdout))}\n`),
    write: (text) => void stdout.write(stdout.isTTY ? onTerminal(text) : text),
    flushed: () =>
      new Promise((resolve) => void stdout.write('', (error) => void (error ?? resolve()))),
    err: (text) => void stderr.write(`${broken(onTerminal(text), widthOf(stderr))}\n`),
    live: () => liveBlock(stderr, env),
    screen: () => liveBlock(stdout, env),
    paintOut: paintFor('auto', stdout.isTTY === true, env),
    paintErr: paintFor('auto', stderr.isTTY === true, env),
    get widthOut() {
      return widthOf(stdout);
    },
    get widthErr() {
      return widthOf(stderr);
    },
  };
}

/** A terminal may be resized while a command runs; some do not say how wide they are. */
function widthOf({ isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): number | null {
  return isTTY === true && columns > 0 ? columns : null;
}

/** The same output with the colours that --color asks for. */
export function colored(output: Output, choice: ColorChoice): Output {
  if (choice === 'auto') return output;
  const paint = paintFor(choice, false, {});
  return {
    ...output,
    paintOut: paint,
    paintErr: paint,
    get widthOut() {
      return output.widthOut;
    },
    get widthErr() {
      return output.widthErr;
    },
  };
}

/** True where lines can be rewritten: some terminals cannot, or do not report their size. */
export function canRewrite(
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  { TERM }: Environment,
): boolean {
  return isTTY === true && columns > 0 && TERM !== 'dumb';
}

/** The library that rewrites lines takes time to load: only who shows something loads it. */
async function liveBlock(stream: NodeJS.WriteStream, env: Environment): Promise<LiveBlock | null> {
  if (!canRewrite(stream, env)) return null;
  const [{ createLogUpdate }, { screenful }] = await Promise.all([
    import('log-update'),
    import('../render/table.ts'),
  ]);
  const block = createLogUpdate(stream, { showCursor: true });
  return { show: (text) => block(screenful(onTerminal(text), stream)), clear: () => block.clear() };
}
