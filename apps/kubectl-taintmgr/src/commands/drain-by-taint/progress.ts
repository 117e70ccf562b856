// Reports the progress of a drain: events of nodes and pods, and their counts in one line.
import type { Blocker, PodRef } from '@taintmgr/core';
import {
  type Departure,
  type DrainNote,
  type DrainPod,
  type DrainPodState,
  drainFaultsText,
  stayingText,
} from '@taintmgr/core/drain';
import { formatDeadline, formatDuration, type Instant } from '@taintmgr/core/time';
import { count, printable } from '@taintmgr/k8s-adapter/command-line';
import { type LiveBlock, type Output, warn } from '../../cli/output.ts';
import type { Paint, Tone } from '../../render/style.ts';
import { wrapped } from '../../render/table.ts';
import { nameOf } from './drain.ts';
import { type DrainSight, deleterText, stopText } from './outcome.ts';

const periodMs = 30_000;

/** The audience of the progress. */
export interface Audience {
  readonly output: Output;
  /** Prints a line of kubectl's kind. */
  readonly say: (line: string) => void;
  /** Null where `err` is no terminal. */
  readonly live: LiveBlock | null;
}

/** The state of a drain, as it is shown while it runs. */
export interface DrainState {
  /** The part of the pods that are gone, from 0 to 1; where no pod has to go, of the nodes that are drained. */
  readonly share: number;
  /** `2 of 6 nodes, 41 of 120 pods gone` */
  readonly counts: string;
  /** The nodes that are drained now: `on n1 (3 of 9 pods)`. */
  readonly on: string;
  /** Pods by the cause of their wait: `1 blocked by PDB web (for 42s)`. */
  readonly parts: readonly (readonly [text: string, tone: Tone | null])[];
  /** `done in about 12m: ...` or `end unknown: ...`; '': nothing is known yet. */
  readonly end: string;
}

const columnsUsual = 80;
const barColumns = 24;

/** One line, for a log. */
export function stateLine({ counts, on, parts, end }: DrainState): string {
  return [counts, on, ...parts.map(([text]) => text), end].filter((text) => text !== '').join('; ');
}

/** A bar and the counts, and below them a line for each thing that pods wait for. */
export function stateBlock(state: DrainState, width: number, paint: Paint): string {
  const { share, counts, on, parts, end } = state;
  const filled = Math.floor(barColumns * share);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barColumns - filled)}]`;
  const lines: readonly (readonly [text: string, tone: Tone | null])[] = [
    [`${bar} ${counts}`, null],
    [on, null],
    ...parts,
    [end, end.startsWith('end unknown') ? 'soon' : null],
  ];
  return lines
    .filter(([text]) => text !== '')
    .flatMap(([text, tone], index) =>
      wrapped(index === 0 ? text : `  ${text}`, '    ', width)
        .split('\n')
        .map((line) => (tone === null ? line : paint(tone, line))),
    )
    .join('\n');
}

/** Prints the events of a drain, above a line of counts that is rewritten on a terminal. */
export class Announcer {
  readonly #audience: Audience;
  /** The last words about each subject: the same is not said twice. */
  readonly #said = new Map<string, string>();
  #shownAt: Instant;

  constructor(audience: Audience, now: Instant) {
    this.#audience = audience;
    this.#shownAt = now;
  }

  say(line: string): void {
    this.close();
    this.#audience.say(line);
  }

  warn(text: string): void {
    this.close();
    warn(this.#audience.output, text);
  }

  err(line: string): void {
    this.close();
    this.#audience.output.err(line);
  }

  /** Notes the words about a subject; false: they are the last ones about it. */
  isNews(subject: string, words: string): boolean {
    const before = this.#said.get(subject);
    this.#said.set(subject, words);
    return before !== words;
  }

  /** The last words about a subject; null: none were said. */
  lastWords(subject: string): string | null {
    return this.#said.get(subject) ?? null;
  }

  /** Says where things stand; call it whenever something may have changed. */
  count(now: Instant, stateOf: () => DrainState): void {
    const { live, output } = this.#audience;
    if (live) {
      live.show(stateBlock(stateOf(), output.widthErr ?? columnsUsual, output.paintErr));
    } else if (now - this.#shownAt >= periodMs) {
      this.#shownAt = now;
      output.err(stateLine(stateOf()));
    }
  }

  /** Takes the line that is rewritten away. */
  close(): void {
    this.#audience.live?.clear();
  }
}

/**
 * Reports the progress of a drain: a line for each pod that left and for each finished node, a warning for
 * each newly held pod, and the counts.
 */
export class Progress extends Announcer {
  /** The last words about the connection to the API server; null while it works. */
  #disconnection: string | null = null;
  #policiesRefused: string | null = null;
  readonly #stuck: Stuck;

  /**
   * `alreadySaid`: by uid, what has been said already of what holds a pod; `stuck`: the budgets that
   * need action.
   */
  constructor(
    audience: Audience,
    now: Instant,
    alreadySaid: ReadonlyMap<string, string> = new Map(),
    stuck: Stuck = new Map(),
  ) {
    super(audience, now);
    this.#stuck = stuck;
    for (const [uid, message] of alreadySaid) this.isNews(uid, message);
  }

  /** Something that happened. */
  note(note: DrainNote, machine: DrainSight): void {
    switch (note.kind) {
      case 'nodeBegun':
        this.say(`node/${note.node} ${note.wasTainted ? 'already ' : ''}tainted`);
        break;
      case 'nodeSetBack': {
        const about = `node ${note.node} could not be tainted, retrying`;
        this.#setBack(`node/${note.node}`, note.blocker, about);
        break;
      }
      case 'nodeEnded':
        this.#nodeEnded(note, machine);
        break;
      case 'podGone':
        this.say(goneLine(note.pod, note.departure, note.took));
        break;
      case 'stopped':
        this.warn(stopText(note.stop));
        break;
      case 'podSkipped':
        this.say(
          `pod/${note.pod.pod.name} skipped (${placeOf(note.pod.pod)}, terminating for too long)`,
        );
        break;
      case 'podSetBack':
      case 'podGivenUp': {
        if (!this.#isBudgetNews(note.pod.pod, note.blocker)) break;
        const about = `${whereOf(note.pod.pod)} ${heldText(note.blocker)}`;
        this.#setBack(note.pod.pod.uid, note.blocker, about);
        break;
      }
      case 'podEscalated': {
        const waited = formatDuration(note.waitedMs);
        this.warn(`deleting ${whereOf(note.pod.pod)}: PDB wait (${waited}) exceeded`);
        break;
      }
      case 'podLeft':
        this.warn(
          `${whereOf(note.pod.pod)} arrived after the drain started and stays: ${drainFaultsText(note.faults)}`,
        );
        break;
    }
  }

  /** Warns of what nodes and pods wait for, beside their turn; '' stands for all nodes. */
  holds(nodes: ReadonlyMap<string, string>, machine: DrainSight): void {
    const pods = machine.pods().flatMap((one) => {
      const { pod, hold, state } = one;
      const isQueued = state.kind === 'queued' || state.kind === 'waiting';
      // Pauses hold many at once: the line of counts names them.
      const isHeld = hold !== null && isQueued && pauseOf(one) === null;
      return isHeld ? [[`hold/${pod.uid}`, `${whereOf(pod)} stays for now`, hold.message]] : [];
    });
    const all = Array.from(nodes, ([name, message]) => {
      return [`hold/node/${name}`, name === '' ? 'the drain' : `node ${name}`, message];
    });
    for (const [subject = '', who, message = ''] of [...all, ...pods]) {
      if (!this.isNews(subject, message)) continue;
      const about = message.startsWith('waits for') ? `${who} ` : `${who}: `;
      this.warn(`${about}${printable(message)}`);
    }
  }

  /** The API server did not answer, or refused. */
  disconnected(message: string): void {
    if (this.#disconnection === message) return;
    this.#disconnection = message;
    this.warn(`lost connection to the API server, retrying: ${printable(message)}`);
  }

  reconnected(): void {
    if (this.#disconnection === null) return;
    this.#disconnection = null;
    this.err('reconnected to the API server');
  }

  /** Policies and pauses may not be read any more; null: they may. */
  policiesRefused(why: string | null): void {
    const isNews = why !== null && this.#policiesRefused === null;
    this.#policiesRefused = why;
    if (isNews)
      this.warn(
        `cannot read policies and pauses any more, those that were known count: ${printable(why)}`,
      );
  }

  showCounts(now: Instant, machine: DrainSight): void {
    this.count(now, () => stateOf(now, machine, this.#stuck));
  }

  /** False for a pod whose budget the plan or an earlier warning has named: the counts and the end name it. */
  #isBudgetNews({ uid, namespace }: PodRef, { code, message }: Blocker): boolean {
    const budget = code === 'Budget' ? budgetIn(message) : null;
    if (budget === null) return true;
    const isPlanned = budgetIn(this.lastWords(uid) ?? '') === budget;
    return this.isNews(`budget/${namespace}/${budget}`, '') && !isPlanned;
  }

  /** The same is not said twice about a subject, nor once for each that an outage concerns. */
  #setBack(subject: string, { code, message }: Blocker, about: string): void {
    if (!this.isNews(subject, message)) return;
    if (code === 'Unreachable') this.disconnected(message);
    else this.warn(`${about}: ${printable(message)}`);
  }

  #nodeEnded(
    { node, phase }: Extract<DrainNote, { kind: 'nodeEnded' }>,
    machine: DrainSight,
  ): void {
    if (phase.kind === 'vanished') {
      this.warn(`node ${node} was deleted`);
    } else if (phase.kind === 'drained') {
      const here = tallyOf(machine.pods().filter(({ pod }) => pod.nodeName === node));
      const took = formatDuration(phase.at - phase.since);
      const staying = stayingText(machine.staying().filter(({ pod }) => pod.nodeName === node));
      const stay = staying === '' ? '' : `; ${printable(staying)}`;
      this.say(`node/${node} drained (${goneText(here)}, ${took})${stay}`);
    }
  }
}

/** `shop/web-0 on n1` */
function whereOf(pod: PodRef): string {
  return `${nameOf(pod)} on ${pod.nodeName}`;
}

function goneLine({ pod, deleted }: DrainPod, departure: Departure, took: number | null): string {
  const place = placeOf(pod);
  if (departure.kind === 'foreign') {
    return `pod/${pod.name} gone (deleted by ${deleterText(departure)}; ${place})`;
  }
  if (departure.kind === 'replaced') {
    return `pod/${pod.name} gone (another pod was started in its place; ${place})`;
  }
  if (departure.kind === 'earlier' || took === null) return `pod/${pod.name} gone (${place})`;
  const verb = deleted ? 'deleted' : 'evicted';
  return `pod/${pod.name} ${verb} (${place}, ${(took / 1000).toFixed(1)}s)`;
}

/** `3 pods`, `3 pods, 1 of them deleted by other programs` */
function goneText({ gone, deletedByOthers }: DrainTally): string {
  const others =
    deletedByOthers === 0 ? '' : `, ${deletedByOthers} of them deleted by other programs`;
  return `${count(gone, 'pod')}${others}`;
}

function placeOf({ namespace, nodeName }: PodRef): string {
  return `${namespace}, ${nodeName}`;
}

function heldText({ code }: Blocker): string {
  if (code === 'Intercepted') return 'may be moved by another program';
  return code === 'Budget' ? 'is blocked' : 'could not be evicted';
}

const openMax = 3;
const namesMax = 3;

/** The numbers of pods of a drain. */
export interface DrainTally {
  /** Pods to evict, or evicted. */
  readonly total: number;
  readonly gone: number;
  /** Of those that have gone. */
  readonly deletedByOthers: number;
}

/** Counts the pods to evict; pods that stay do not count. */
export function tallyOf(pods: readonly DrainPod[]): DrainTally {
  const leaving = pods.filter(isToGo);
  const departures = leaving.flatMap(({ state }) => (state.kind === 'gone' ? state.departure : []));
  return {
    total: leaving.length,
    gone: departures.length,
    deletedByOthers: departures.filter(({ kind }) => kind === 'foreign').length,
  };
}

/** `2 nodes drained, 5 pods evicted in 12s`; null: the line of the only node says so. */
export function summaryText(machine: DrainSight, tookMs: number): string | null {
  const nodes = machine.nodes();
  if (nodes.length < 2) return null;
  const drained = nodes.filter(({ phase }) => phase.kind === 'drained').length;
  const ofNodes = drained === nodes.length ? '' : `${drained} of `;
  const leaving = machine.pods().filter(isToGo);
  const isOurs = leaving.every(({ state }) => {
    return state.kind === 'gone' && state.departure.kind === 'ours';
  });
  const ways = new Set(leaving.map(({ deleted }) => (deleted ? 'deleted' : 'evicted')));
  const [way = 'evicted'] = ways;
  const verb = isOurs && ways.size <= 1 ? way : 'gone';
  const pods = `${count(leaving.length, 'pod')} ${verb}`;
  return `${ofNodes}${count(nodes.length, 'node')} drained, ${pods} in ${formatDuration(tookMs)}`;
}

/** True for a pod to evict, or that has left. */
export function isToGo({ state }: DrainPod): boolean {
  return !['kept', 'left', 'skipped'].includes(state.kind);
}

/** By uid, the obstacle to a pod that does not resolve with time: `PDB web needs action`. */
export type Stuck = ReadonlyMap<string, string>;

/** The state of a drain of this process. */
export function stateOf(now: Instant, machine: DrainSight, stuck: Stuck = new Map()): DrainState {
  const pods = machine.pods();
  const nodes = machine.nodes();
  const { total, gone } = tallyOf(pods);
  const drained = nodes.filter(({ phase: { kind } }) => kind === 'drained' || kind === 'vanished');
  const ofNodes = nodes.length === 1 ? '' : `${drained.length} of ${nodes.length} nodes, `;
  const open = nodes.filter(({ phase }) => phase.kind === 'draining');
  const names = open.slice(0, openMax).map(({ name }) => {
    const here = tallyOf(pods.filter(({ pod }) => pod.nodeName === name));
    return `${name} (${here.gone} of ${count(here.total, 'pod')})`;
  });
  const more = open.length > openMax ? [`${open.length - openMax} more`] : [];
  return {
    share: total === 0 ? drained.length / Math.max(1, nodes.length) : gone / total,
    counts: `${ofNodes}${gone} of ${count(total, 'pod')} gone`,
    on: nodes.length === 1 || names.length === 0 ? '' : `on ${[...names, ...more].join(', ')}`,
    parts: partsOf(now, pods),
    end: endText(now, machine, stuck),
  };
}

function partsOf(now: Instant, pods: readonly DrainPod[]): DrainState['parts'] {
  const inState = (...kinds: readonly DrainPodState['kind'][]): readonly DrainPod[] =>
    pods.filter(({ state }) => kinds.includes(state.kind));
  const isPaused = (pod: DrainPod): boolean => pauseOf(pod) !== null;
  const heldBack = inState('queued', 'waiting').filter(
    (pod) => pod.hold !== null && !isPaused(pod),
  );
  const waiting = inState('waiting').filter(({ hold }) => hold === null);
  const held = inState('blocked', 'failed');
  const paused = inState('queued').filter(isPaused);
  const names = [...new Set(paused.map(pauseOf))].join(', ');
  const parts: readonly (readonly [readonly DrainPod[], string, Tone | null])[] = [
    [waiting, `waiting for tolerations to expire${nextText(now, waiting)}`, null],
    [paused, `held by ${names}`, 'soon'],
    [heldBack, 'held back', 'soon'],
    [inState('queued').filter(isInTurn), 'waiting for their turn', null],
    [inState('requested', 'accepted'), 'being evicted', null],
    [inState('terminating'), 'terminating', null],
    [held, `blocked${budgetsText(held)}${longestText(now, held)}`, 'urgent'],
    [inState('givenUp'), 'given up', 'urgent'],
  ];
  return parts
    .filter(([some]) => some.length > 0)
    .map(([some, what, tone]) => [`${some.length} ${what}`, tone]);
}

/** The end of a drain as far as deadlines and its pace tell, with the reason. */
function endText(now: Instant, machine: DrainSight, needAction: Stuck): string {
  const open = machine.pods().filter((one) => isToGo(one) && one.state.kind !== 'gone');
  if (open.length === 0) return '';
  const [action] = open.flatMap(({ pod: { uid } }) => needAction.get(uid) ?? []);
  if (action !== undefined) return `end unknown: ${action}`;
  const stuck = open.find((one) => !isTimely(one));
  if (stuck) return `end unknown: ${stuckText(stuck)}`;
  const { gone } = tallyOf(machine.pods());
  const starts = machine.nodes().flatMap(({ phase }) => ('since' in phase ? phase.since : []));
  const others = open.filter(({ state }) => state.kind !== 'waiting').length;
  const pace = others > 0 && gone > 0 ? (now - Math.min(...starts)) / gone : 0;
  const waiting = open.flatMap(({ pod, state }) =>
    state.kind === 'waiting' ? [{ pod, until: state.until }] : [],
  );
  const last = waiting.toSorted((one, other) => other.until - one.until)[0];
  const byPace = others > 0 && gone === 0 ? null : now + pace * others;
  const hasTurns = machine.nodes().some(({ phase }) => phase.kind === 'pending');
  const about = hasTurns || byPace === null ? 'done not before' : 'done in about';
  if (last && last.until >= (byPace ?? 0)) {
    const clock = formatDeadline(last.until).slice(11, 16);
    const left = formatDuration(Math.max(0, last.until - now));
    return `${about} ${left}: ${nameOf(last.pod)} tolerates the taint until ${clock} UTC`;
  }
  if (byPace === null || starts.length === 0 || others === 0) return '';
  const left = formatDuration(byPace - now);
  // Pods that no budget holds leave first: their pace is not that of the others.
  const budgets = budgetsText(open.filter(({ state }) => state.kind === 'blocked'));
  if (budgets === '') return `done in about ${left}, at the pace so far`;
  return `done not before ${left}: some pods are blocked${budgets}`;
}

/** False for a pod that leaves only when a person acts or a pause ends. */
function isTimely({ blocker, state, because, hold }: DrainPod): boolean {
  if (state.kind === 'givenUp') return false;
  if (blocker) return blocker.verdict === 'resolves' || blocker.verdict === 'needsTime';
  return hold === null && (state.kind !== 'queued' || because[0]?.code !== 'Paused');
}

function stuckText(pod: DrainPod): string {
  const pause = pauseOf(pod);
  if (pause !== null) return `${pause} holds pods`;
  const budget = budgetsText([pod]).replace(' by ', '');
  if (budget !== '') return `${budget} allows no eviction of ${nameOf(pod.pod)}`;
  return printable(`${nameOf(pod.pod)} ${pod.hold?.message ?? pod.blocker?.message ?? 'is held'}`);
}

/** True for a pod that waits for nothing but its turn. */
function isInTurn(pod: DrainPod): boolean {
  return pauseOf(pod) === null && pod.hold === null;
}

/** The pause that holds a pod, as `pause network-work`; null: none does. */
export function pauseOf({ because: [decisive] }: DrainPod): string | null {
  return decisive?.code === 'Paused' ? `pause ${decisive.pause}` : null;
}

function nextText(now: Instant, waiting: readonly DrainPod[]): string {
  const times = waiting.flatMap(({ due }) => due ?? []);
  if (times.length === 0) return '';
  return ` (next in ${formatDuration(Math.max(0, Math.min(...times) - now))})`;
}

/** The budget that a refusal of the API server names; null: it names none. */
function budgetIn(message: string): string | null {
  return /^The disruption budget (\S+) /.exec(message)?.[1] ?? null;
}

/** The names of budgets, as far as the API server's refusals name them. */
function budgetsText(held: readonly DrainPod[]): string {
  const named = held.flatMap(({ blocker }) => {
    return budgetIn(blocker?.message ?? '') ?? [];
  });
  const names = [...new Set(named)].sort().map(printable);
  if (names.length === 0) return '';
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  const shown = names.slice(0, namesMax).join(', ');
  return ` by ${names.length === 1 ? 'PDB' : 'PDBs'} ${shown}${more}`;
}

function longestText(now: Instant, held: readonly DrainPod[]): string {
  const times = held.flatMap(({ begunAt }) => begunAt ?? []);
  if (times.length === 0) return '';
  return ` (for ${formatDuration(Math.max(0, now - Math.min(...times)))})`;
}
