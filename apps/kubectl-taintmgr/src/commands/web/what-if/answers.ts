// Plays what is asked on the page, one question at a time, and keeps the pages of the last answers.
import type { ServerResponse } from 'node:http';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import { type LivePage, type PageInput, type WhatIfLine, whatIfPage } from '@taintmgr/page';
import { exitCode } from '../../../cli/exit.ts';
import type { Invocation } from '../../../cli/invocation.ts';
import type { Output } from '../../../cli/output.ts';
import { shellWord } from '../../../render/shell-word.ts';
import { plain } from '../../../render/style.ts';
import { UsageError } from '../../../usage-error.ts';
import { type Asked, simulateArguments, whatIfOf } from './question.ts';

/** So many pages are kept, the last ones. */
const keptMax = 8;
const lastsMsMax: Millis = 120_000;

/** What the answers need of the command. */
export interface Surroundings {
  readonly rerun: Invocation<object>['rerun'];
  readonly interrupt: AbortSignal;
  /** The cluster as it was read last. */
  readonly asked: () => Asked;
}

/** The answers of one session. */
export class WhatIfAnswers {
  readonly #surroundings: Surroundings;
  readonly #lastsMsMax: Millis;
  readonly #pages = new Map<string, LivePage>();
  #made = 0;
  #isBusy = false;

  /** `lastsMax`: how long one may take, in milliseconds. */
  constructor(surroundings: Surroundings, lastsMax: Millis = lastsMsMax) {
    this.#surroundings = surroundings;
    this.#lastsMsMax = lastsMax;
  }

  /** The page of an answer; null: it is none of those that are kept. */
  page(name: string): LivePage | null {
    return this.#pages.get(name) ?? null;
  }

  /** Answers a question, line by line; whoever goes away ends it. `headers` go with the answer. */
  async answer(
    query: URLSearchParams,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const begin = (status: number): void => {
      response.writeHead(status, { ...headers, 'content-type': 'application/x-ndjson' });
    };
    const say = (line: WhatIfLine): void => void response.write(`${JSON.stringify(line)}\n`);
    if (this.#isBusy) {
      begin(429);
      say({ kind: 'error', text: 'another question is being played', next: 'Wait until it is.' });
      response.end();
      return;
    }
    let args: readonly string[];
    try {
      args = simulateArguments(whatIfOf(query), this.#surroundings.asked());
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      begin(400);
      say({ kind: 'error', text: error.message, next: 'Change it, and ask again.' });
      response.end();
      return;
    }
    begin(200);
    this.#isBusy = true;
    try {
      say(await this.#play(args, response, say));
    } finally {
      this.#isBusy = false;
      response.end();
    }
  }

  async #play(
    args: readonly string[],
    response: ServerResponse,
    say: (line: WhatIfLine) => void,
  ): Promise<WhatIfLine> {
    const [left, tooLong] = [new AbortController(), AbortSignal.timeout(this.#lastsMsMax)];
    const leave = (): void => left.abort(new Error('the browser went away'));
    response.once('close', leave);
    const interrupt = AbortSignal.any([this.#surroundings.interrupt, left.signal, tooLong]);
    const output = new HeardOutput((text) => say({ kind: 'progress', text }));
    const more = ['--partial', '-o', 'json'];
    const code = await this.#surroundings.rerun([...args, ...more], { output, interrupt });
    response.off('close', leave);
    const command = commandOf(args);
    if (tooLong.aborted) {
      const text = `it takes longer than ${formatDuration(this.#lastsMsMax)}`;
      const next = `Look less far ahead, or run it in a terminal: ${command}`;
      return { kind: 'error', text, next };
    }
    if (code !== exitCode.done) {
      const text = output.said.replace(/^error: /, '') || `exit code ${code}`;
      return { kind: 'error', text, next: `The same in a terminal: ${command}` };
    }
    const input: PageInput = JSON.parse(output.data);
    return this.#keep(await whatIfPage(input, { address: '/', command }));
  }

  #keep(page: LivePage): WhatIfLine {
    const name = String(++this.#made);
    this.#pages.set(name, page);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= keptMax) break;
      this.#pages.delete(oldest);
    }
    return { kind: 'page', address: `what-if/${name}` };
  }
}

/** As it is typed in a shell. */
function commandOf(args: readonly string[]): string {
  return ['kubectl', 'taintmgr', ...args.map(shellWord)].join(' ');
}

/** Takes what a command writes; what it shows live is heard at once. */
class HeardOutput implements Output {
  readonly live: Output['live'];
  readonly screen: Output['screen'] = async () => null;
  readonly flushed: Output['flushed'] = async () => {};
  readonly paintOut: Output['paintOut'] = plain;
  readonly paintErr: Output['paintErr'] = plain;
  readonly #data: string[] = [];
  readonly #said: string[] = [];

  constructor(onProgress: (text: string) => void) {
    const block = { show: onProgress, clear: () => {} };
    this.live = async () => block;
  }

  get data(): string {
    return this.#data.join('');
  }

  get said(): string {
    return this.#said.join('\n');
  }

  readonly out = (text: string): void => void this.#data.push(`${text}\n`);
  readonly write = (text: string): void => void this.#data.push(text);
  readonly err = (text: string): void => void this.#said.push(text);
}
