// Answers what would happen if, for the live page.
import type { ServerResponse } from 'node:http';
import { formatTaint, parseTaint } from '@taintmgr/core';
import { formatDuration, type Millis, parseDuration } from '@taintmgr/core/time';
import { shellWord, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { zoneOf } from '@taintmgr/k8s-adapter/explain';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import type { Evictor, NodeFacts } from '@taintmgr/k8s-adapter/survey';
import {
  type EachDocument,
  type LivePage,
  lossesInWords,
  type SimulationDocument,
  type WhatIf,
  type WhatIfEvent,
  type WhatIfLine,
  whatIfEvents,
  whatIfPage,
} from '@taintmgr/page';
import { exitCode } from '../../cli/exit.ts';
import type { Output } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { version } from '../../cli/version.ts';
import { plain } from '../../render/style.ts';
import { yamlLineOf } from '../../render/yaml.ts';

/** The number of pages that are kept, the last ones. */
const keptMax = 8;
const lastsMsMax: Millis = 120_000;
/** The page's own questions are answered from memory for this time. */
const keptMsMax: Millis = 300_000;

/** The parts of the command that the answers need. */
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
  /** Answers with losses, by the words that played them. */
  readonly #kept = new Map<string, LossesAnswer>();
  #made = 0;
  /** Null: nothing is being played. */
  #playing: Playing | null = null;

  /** `lastsMax`: how long one may take, in milliseconds. */
  constructor(surroundings: Surroundings, lastsMax: Millis = lastsMsMax) {
    this.#surroundings = surroundings;
    this.#lastsMsMax = lastsMax;
  }

  /** The page of an answer; null: it is none of those that are kept. */
  page(name: string): LivePage | null {
    return this.#pages.get(name) ?? null;
  }

  /**
   * Answers a question, line by line; the answer ends when the client disconnects. `headers` go with the
   * answer. With `kept=on` the page asks by itself: an answer of the last minutes is good enough, and a
   * person's question goes first.
   */
  async answer(
    query: URLSearchParams,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const begin = (status: number): void => {
      response.writeHead(status, { ...headers, 'content-type': 'application/x-ndjson' });
    };
    const say = (line: WhatIfLine): void => void response.write(`${JSON.stringify(line)}\n`);
    const isByPage = query.get('kept') === 'on';
    const isFree = await this.#turn(isByPage);
    if (!isFree) {
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
    const known = isByPage ? this.#known(args) : null;
    const playing = newPlaying(isByPage);
    this.#playing = known ? null : playing;
    try {
      say(known ?? (await this.#play({ question, args }, playing, response, say)));
    } finally {
      if (!known) this.#playing = null;
      playing.end();
      response.end();
    }
  }

  /** Waits until nothing is being played; false: a person's question is, and this one is a person's too. */
  async #turn(isByPage: boolean): Promise<boolean> {
    for (let playing = this.#playing; playing; playing = this.#playing) {
      if (!isByPage && !playing.isByPage) return false;
      if (!isByPage) playing.stop.abort(new Error('another question came first'));
      await playing.ended;
    }
    return true;
  }

  /** The answer that was given a short time ago and has its page still; null: there is none. */
  #known(args: readonly string[]): WhatIfLine | null {
    const known = this.#kept.get(commandOf(args));
    const isFresh = known && Date.now() - known.losses.playedAt < keptMsMax;
    return isFresh && this.#pages.has(known.address.replace('what-if/', '')) ? known : null;
  }

  /** Ends the simulation under way; of many losses the finished ones have a page. */
  stop(): void {
    this.#playing?.stop.abort(new Error('it was stopped'));
  }

  async #play(
    { question, args }: Played,
    { stop }: Playing,
    response: ServerResponse,
    say: (line: WhatIfLine) => void,
  ): Promise<WhatIfLine> {
    const tooLong = AbortSignal.timeout(this.#lastsMsMax);
    const leave = (): void => stop.abort(new Error('the browser went away'));
    response.once('close', leave);
    const ends = [this.#surroundings.interrupt, tooLong, stop.signal];
    const output = new HeardOutput((text) => say({ kind: 'progress', text }));
    const more = ['--partial', '-o', 'json'];
    const surroundings = { output, interrupt: AbortSignal.any(ends) };
    const code = await this.#surroundings.rerun([...args, ...more], surroundings);
    response.off('close', leave);
    const command = commandOf(args);
    const asked = { address: '/', command, question };
    const made = { command, version };
    const losses = lossesIn(question, output.data);
    if (losses) {
      const address = this.#keep(await whatIfPage(losses, asked, made));
      const line = { kind: 'page', address, losses: lossesInWords(losses, Date.now()) } as const;
      // Of one that was stopped others may want the rest.
      if (losses.unplayed.length === 0) this.#kept.set(command, line);
      return line;
    }
    if (tooLong.aborted) {
      const text = `it takes longer than ${formatDuration(this.#lastsMsMax)}`;
      const next = `Look less far ahead, or run it in a terminal: ${command}`;
      return { kind: 'error', text, next };
    }
    if (code !== exitCode.done) {
      const text = output.said.replace(/^error: /, '') || `exit code ${code}`;
      return { kind: 'error', text, next: `The same in a terminal: ${command}` };
    }
    const input: SimulationDocument = JSON.parse(output.data);
    return { kind: 'page', address: this.#keep(await whatIfPage(input, asked, made)) };
  }

  /** Returns its address. */
  #keep(page: LivePage): string {
    const name = String(++this.#made);
    this.#pages.set(name, page);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= keptMax) break;
      this.#pages.delete(oldest);
    }
    return `what-if/${name}`;
  }
}

type LossesAnswer = Required<Extract<WhatIfLine, { readonly kind: 'page' }>>;

/** The simulation under way. */
interface Playing {
  /** True where the page asked by itself. */
  readonly isByPage: boolean;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

function newPlaying(isByPage: boolean): Playing {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { isByPage, stop: new AbortController(), ended, end };
}

/** A question, and the words that play it. */
interface Played {
  readonly question: WhatIf;
  readonly args: readonly string[];
}

/** The losses that were played, all or as many as were done; null: none were, or it is about one alone. */
function lossesIn(question: WhatIf, data: string): EachDocument | null {
  if (eachOf(question) === null || data === '') return null;
  const document: EachDocument = JSON.parse(data);
  return document.losses.length > 0 ? document : null;
}

/** As it is typed in a shell. */
function commandOf(args: readonly string[]): string {
  return ['kubectl', 'taintmgr', ...args.map(shellWord)].join(' ');
}

/** Takes the output of a command; its live block is passed on at once. */
class HeardOutput implements Output {
  readonly live: Output['live'];
  readonly screen: Output['screen'] = async () => null;
  readonly flushed: Output['flushed'] = async () => {};
  readonly paintOut: Output['paintOut'] = plain;
  readonly paintErr: Output['paintErr'] = plain;
  readonly widthOut: null = null;
  readonly widthErr: null = null;
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

/** The subject of a question. */
export interface Asked {
  readonly nodes: readonly NodeFacts[];
  /** By whose rules pods go there. */
  readonly rules: Evictor['rules'];
  /** The paths of --policy. */
  readonly policies: readonly string[];
}

/** The question in an address; a part that is missing is ''. */
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
  const until = durationOf('until', question.until, '24h');
  const each = eachOf(question);
  if (each !== null) return eachArguments(each, question, asked, until);
  return [
    'simulate',
    ...['--event', eventOf(question, asked, until)],
    ...['--until', until],
    ...asked.policies.flatMap((path) => ['--policy', path]),
    ...variantsOf(question, asked),
  ];
}

const minuteMs: Millis = 60_000;
const upstream = 'kube-controller-manager';

function variantsOf({ both }: WhatIf, { rules }: Asked): readonly string[] {
  if (both !== '' && both !== 'on') throw wrong('both', both, 'on, or nothing');
  const isUpstream = rules === upstream;
  if (!isUpstream) return both === '' ? [] : ['--compare'];
  const ours = both === '' ? [] : ['--variant', 'taintmgr-controller=unchanged'];
  return ['--variant', `${upstream}=${upstream}`, ...ours];
}

/** The places that are lost one after the other; null: the question is about one place, or none. */
function eachOf({ event, where }: WhatIf): 'zone' | 'node' | null {
  const [, each] = /^each +(zone|node)$/.exec(where) ?? [];
  const isOfPlace = eventNamed(event).hasPlace;
  return isOfPlace && (each === 'zone' || each === 'node') ? each : null;
}

function eachArguments(
  each: 'zone' | 'node',
  question: WhatIf,
  { policies, rules }: Asked,
  until: string,
): readonly string[] {
  const { event, lasts, both } = question;
  if (lasts !== '') throw wrong('lasts', lasts, `nothing: with each ${each} it is for good`);
  if (both !== '') throw wrong('both', both, `nothing: each ${each} is not compared`);
  // Policies are nothing to kube-controller-manager, and with them it is not played.
  const inForce = rules === upstream ? [] : policies;
  return [
    ...['simulate', '--each', each],
    ...['--by', event === 'taint' ? byTaint(question) : event],
    ...['--until', until],
    ...inForce.flatMap((path) => ['--policy', path]),
  ];
}

function byTaint(question: WhatIf): string {
  if (question.taint === '') return 'taint';
  const taint = taintOf(question);
  if (!taint.endsWith(':NoExecute')) throw wrong('taint', question.taint, 'key=value:NoExecute');
  return `taint=${taint}`;
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
function eventOf(question: WhatIf, asked: Asked, until: string): string {
  const known = eventNamed(question.event);
  const targets = known.hasPlace ? targetsOf(question.where, asked) : {};
  const lasts =
    known.hasEnd && question.lasts !== ''
      ? { lasts: durationOf('lasts', question.lasts, until) }
      : {};
  return yamlLineOf({ at: '1m', ...actions[question.event]?.(targets, question), ...lasts });
}

function eventNamed(event: string): WhatIfEvent {
  const known = whatIfEvents.find(({ name }) => name === event);
  if (known) return known;
  throw wrong('event', event, `one of ${whatIfEvents.map(({ name }) => name).join(', ')}`);
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

/** The number of names that are listed. */
const namesMax = 12;

function listed(kind: string, name: string, names: readonly string[]): string {
  const shown = names.slice(0, namesMax).map((one) => `${kind} ${one}`);
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  return `one of ${shown.join(', ')}${more}${didYouMean(name, names)}`;
}

/** As it is given, which the command reads as well. */
function durationOf(field: 'lasts' | 'until', text: string, most: string): string {
  const [millis, millisMax] = [parseDuration(text), parseDuration(most)];
  if (millis !== null && millis >= minuteMs && millis <= (millisMax ?? 0)) return text;
  throw wrong(field, text, `a time from 1m to ${most}`);
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
