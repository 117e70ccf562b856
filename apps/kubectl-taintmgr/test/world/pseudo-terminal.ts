import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { execute, withoutKubectl } from './plugin.ts';

// A terminal that nobody looks at, by `script` of util-linux.

// Another program of this name, on BSD and macOS, knows other flags.
const hasTerminal = /util-linux/.test((await execute('script', ['--version'])).out);

/** Why tests with a terminal are left out, or false. */
export const withoutTerminal: string | false =
  withoutKubectl || (!hasTerminal && 'there is no script of util-linux on PATH');

/** Ends what hangs. */
const timeout = 240_000;

/** The character that begins every escape sequence. */
export const escapeCharacter: string = '\u001b';

/** A command on a terminal. */
export class PseudoTerminal {
  readonly #child: ReturnType<typeof spawn>;
  readonly #ended: Promise<number>;
  #shown = '';
  #wake: () => void = () => {};
  #isOver = false;

  /** `size` is an argument of stty, e.g. `cols 100 rows 30`. */
  constructor(line: string, env: NodeJS.ProcessEnv, size: string = 'cols 200 rows 40') {
    const args = ['-qefc', `stty ${size}; exec ${line}`, '/dev/null'];
    const full = { TERM: 'xterm', ...env };
    this.#child = spawn('script', args, { env: full, timeout });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#shown += text;
      this.#wake();
    });
    this.#ended = once(this.#child, 'close').then(([code]) => {
      this.#isOver = true;
      this.#wake();
      return typeof code === 'number' ? code : -1;
    });
  }

  /** Everything that was shown so far. */
  get shown(): string {
    return this.#shown;
  }

  /** Resolves when what is shown matches; rejects when it will not. */
  async saw(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#shown)) {
      assert.ok(!this.#isOver, `ended without ${pattern}:\n${JSON.stringify(this.#shown)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Types, e.g. `\u0003` for Ctrl-C. */
  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** The exit code, when it has ended. */
  ended(): Promise<number> {
    return this.#ended;
  }
}
