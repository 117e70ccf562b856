// Answers what would happen if, for the live page.
import type { ServerResponse } from 'node:http';
import { formatTaint, parseTaint } from '@taintmgr/core';
import { formatDuration, type Millis, parseDuration } from '@taintmgr/core/time';
import { shellWord, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { zoneOf } from '@taintmgr/k8s-adapter/explain';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import type { Evictor, NodeFacts } from '@taintmgr/k8s-adapter/survey';
import {
  type LivePage,
  type PageInput,
  type WhatIf,
  type WhatIfLine,
  whatIfEvents,
  whatIfPage,
} from '@taintmgr/page';
import { exitCode } from '../../cli/exit.ts';
import type { Output } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { plain } from '../../render/style.ts';
import { yamlLineOf } from '../../render/yaml.ts';

/** So many pages are kept, the last ones. */
const keptMax = 8;
const lastsMsMax: Millis = 120_000;

/** What the answers need of the command. */
interface Surroundings {
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
    const question = whatIfOf(query);
    let args: readonly string[];
    try {
      args = simulateArguments(question, this.#surroundings.asked());
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
      say(await this.#play({ question, args }, response, say));
    } finally {
      this.#isBusy = false;
      response.end();
    }
  }

  async #play(
    { question, args }: Played,
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
    return this.#keep(await whatIfPage(input, { address: '/', command, question }));
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

/** A question, and the words that play it. */
interface Played {
  readonly question: WhatIf;
  readonly args: readonly string[];
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

/** What a question is asked of. */
export interface Asked {
  readonly nodes: readonly NodeFacts[];
  /** By whose rules pods go there. */
  readonly rules: Evictor['rules'];
  /** The paths of --policy. */
  readonly policies: readonly string[];
}

/** What was asked by an address; what is not in it is ''. */
export function whatIfOf(query: URLSearchParams): WhatIf {
  const given = (name: keyof WhatIf): string => query.get(name)?.trim() ?? '';
  return {
    event: given('event'),
    where: given('where'),
    taint: given('taint'),
    lasts: given('lasts'),
    until: given('until'),
    both: given('both'),
  };
}

/** The words after `kubectl taintmgr` that answer it. Throws UsageError. */
export function simulateArguments(question: WhatIf, asked: Asked): readonly string[] {
  const until = durationOf('until', question.until, 24 * hourMs);
  return [
    'simulate',
    ...['--event', eventOf(question, asked, until)],
    ...['--until', formatDuration(until)],
    ...asked.policies.flatMap((path) => ['--policy', path]),
    ...variantsOf(question, asked),
  ];
}

const minuteMs: Millis = 60_000;
const hourMs: Millis = 60 * minuteMs;
const upstream = 'kube-controller-manager';

function variantsOf({ both }: WhatIf, { rules }: Asked): readonly string[] {
  if (both !== '' && both !== 'on') throw wrong('both', both, 'on, or nothing');
  const isUpstream = rules === upstream;
  if (!isUpstream) return both === '' ? [] : ['--compare'];
  const ours = both === '' ? [] : ['--variant', 'taintmgr-controller=unchanged'];
  return ['--variant', `${upstream}=${upstream}`, ...ours];
}

/** Where it happens, as scripts name nodes. */
type Targets = Readonly<Record<string, string>>;

const actions: Readonly<Record<string, (targets: Targets, question: WhatIf) => object>> = {
  down: (targets) => ({ stopKubelet: targets }),
  'cut-off': (targets) => ({ loseNetwork: targets }),
  taint: (targets, question) => ({ taint: { ...targets, taint: taintOf(question) } }),
  drain: (targets) => ({ drain: targets }),
  restart: () => ({ restartController: {} }),
  failover: () => ({ failover: {} }),
};

/** `{at: 1m, stopKubelet: {zone: zone-b}, lasts: 10m}` */
function eventOf(question: WhatIf, asked: Asked, until: Millis): string {
  const known = whatIfEvents.find(({ name }) => name === question.event);
  const action = actions[question.event];
  if (!known || !action) {
    throw wrong(
      'event',
      question.event,
      `one of ${whatIfEvents.map(({ name }) => name).join(', ')}`,
    );
  }
  const targets = known.hasPlace ? targetsOf(question.where, asked) : {};
  const lasts =
    known.hasEnd && question.lasts !== ''
      ? { lasts: formatDuration(durationOf('lasts', question.lasts, until)) }
      : {};
  return yamlLineOf({ at: '1m', ...action(targets, question), ...lasts });
}

function taintOf({ taint }: WhatIf): string {
  try {
    return formatTaint(parseTaint(taint));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw wrong('taint', taint, 'key=value:NoExecute, :NoSchedule or :PreferNoSchedule');
  }
}

function targetsOf(where: string, { nodes }: Asked): Targets {
  const [, kind, name = ''] = /^(zone|node) +(\S+)$/.exec(where) ?? [];
  if (kind === 'node') {
    const names = nodes.map(({ node }) => node.name);
    if (!names.includes(name)) throw wrong('where', where, listed('node', name, names));
    return { node: name };
  }
  const zones = [...new Set(nodes.map(zoneOf))];
  if (kind !== 'zone' || !zones.includes(name)) {
    throw wrong('where', where, listed('zone', name, zones));
  }
  return { zone: name };
}

/** So many names are listed. */
const namesMax = 12;

function listed(kind: string, name: string, names: readonly string[]): string {
  const shown = names.slice(0, namesMax).map((one) => `${kind} ${one}`);
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  return `one of ${shown.join(', ')}${more}${didYouMean(name, names)}`;
}

function durationOf(field: 'lasts' | 'until', text: string, most: Millis): Millis {
  const millis = parseDuration(text);
  if (millis !== null && millis >= minuteMs && millis <= most) return millis;
  throw wrong(field, text, `a time from 1m to ${formatDuration(most)}`);
}

/** As the form calls its fields. */
const labels: Readonly<Record<keyof WhatIf, string>> = {
  event: 'what happens',
  where: 'zone or node',
  taint: 'taint',
  lasts: 'for',
  until: 'look ahead',
  both: 'compare',
};

function wrong(field: keyof WhatIf, value: string, want: string): UsageError {
  return new UsageError(`${labels[field]}: got ${JSON.stringify(value)}, want ${want}`);
}
