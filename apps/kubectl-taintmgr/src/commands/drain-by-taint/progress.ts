// Reports how a drain goes on: what happens to nodes and pods, and their counts in one line.
import type { Blocker, PodRef } from '@taintmgr/core';
import {
  type Departure,
  type DrainNote,
  type DrainPod,
  type DrainPodState,
  drainFaultsText,
  stayingText,
} from '@taintmgr/core/drain';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import { count, printable } from '@taintmgr/k8s-adapter/command-line';
import { type LiveBlock, type Output, warn } from '../../cli/output.ts';
import { nameOf } from './drain.ts';
import { type DrainSight, deleterText, stopText } from './outcome.ts';

const periodMs = 30_000;

/** The audience of the progress. */
export interface Audience {
  readonly output: Output;
  /** Says what was done, in a line of kubectl's kind. */
  readonly say: (line: string) => void;
  /** Null where nobody watches. */
  readonly live: LiveBlock | null;
}

/** Says what happens to a drain, above a line of counts that is rewritten where somebody watches. */
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

  /** Says where things stand; call it whenever something may have changed. */
  count(now: Instant, lineOf: () => string): void {
    const { live, output } = this.#audience;
    if (live) {
      live.show(lineOf());
    } else if (now - this.#shownAt >= periodMs) {
      this.#shownAt = now;
      output.err(lineOf());
    }
  }

  /** Takes the line that is rewritten away. */
  close(): void {
    this.#audience.live?.clear();
  }
}

/**
 * Reports how a drain goes on: a line for each pod that went and each node that is done, a warning
 * for each pod that is newly held, and the counts.
 */
export class Progress extends Announcer {
  /** The last words about the connection to the API server; null while it works. */
  #disconnection: string | null = null;
  #policiesRefused: string | null = null;

  /** `alreadySaid`: by uid, what has been said already of what holds a pod. */
  constructor(
    audience: Audience,
    now: Instant,
    alreadySaid: ReadonlyMap<string, string> = new Map(),
  ) {
    super(audience, now);
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
    this.count(now, () => progressLine(now, machine));
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

/** `3 pods`, `3 pods, 1 of them deleted by somebody else` */
function goneText({ gone, deletedByOthers }: DrainTally): string {
  const others =
    deletedByOthers === 0 ? '' : `, ${deletedByOthers} of them deleted by somebody else`;
  return `${count(gone, 'pod')}${others}`;
}

function placeOf({ namespace, nodeName }: PodRef): string {
  return `${namespace}, ${nodeName}`;
}

function heldText({ code }: Blocker): string {
  if (code === 'Intercepted') return 'may be moved by somebody else';
  return code === 'Budget' ? 'is blocked' : 'could not be evicted';
}

const bracketsMax = 4;
const namesMax = 3;

/** The numbers of pods of a drain. */
export interface DrainTally {
  /** Pods that are to go or have gone. */
  readonly total: number;
  readonly gone: number;
  /** Of those that have gone. */
  readonly deletedByOthers: number;
}

/** Counts the pods that are to go; those that stay do not count. */
export function tallyOf(pods: readonly DrainPod[]): DrainTally {
  const leaving = pods.filter(isToGo);
  const departures = leaving.flatMap(({ state }) => (state.kind === 'gone' ? state.departure : []));
  return {
    total: leaving.length,
    gone: departures.length,
    deletedByOthers: departures.filter(({ kind }) => kind === 'foreign').length,
  };
}

/** True for a pod that is to go, or has gone. */
export function isToGo({ state }: DrainPod): boolean {
  return !['kept', 'left', 'skipped'].includes(state.kind);
}

/** `[n1 1/2] [n2 0/3] 1 of 5 gone; 1 waiting for tolerations to expire (next in 22s), 1 blocked by PDB web (for 42s)` */
export function progressLine(now: Instant, machine: DrainSight): string {
  const pods = machine.pods();
  const nodes = machine.nodes();
  const { total, gone } = tallyOf(pods);
  const draining = nodes.filter(({ phase }) => phase.kind === 'draining');
  const brackets =
    nodes.length === 1
      ? []
      : draining.slice(0, bracketsMax).map(({ name }) => {
          const here = tallyOf(pods.filter(({ pod }) => pod.nodeName === name));
          return `[${name} ${here.gone}/${here.total}]`;
        });
  const more = draining.length > bracketsMax ? [`[+${draining.length - bracketsMax}]`] : [];
  const named = partsOf(now, pods);
  const counts = `${gone} of ${total} gone${named.length === 0 ? '' : `; ${named.join(', ')}`}`;
  return [...brackets, ...more, counts].join(' ');
}

function partsOf(now: Instant, pods: readonly DrainPod[]): readonly string[] {
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
  const parts = [
    [waiting, `waiting for tolerations to expire${nextText(now, waiting)}`],
    [paused, `held by ${names}`],
    [heldBack, 'held back'],
    [inState('queued').filter(isInTurn), 'waiting for their turn'],
    [inState('requested', 'accepted'), 'being evicted'],
    [inState('terminating'), 'terminating'],
    [held, `blocked${budgetsText(held)}${longestText(now, held)}`],
    [inState('givenUp'), 'given up'],
  ] as const;
  return parts.filter(([some]) => some.length > 0).map(([some, what]) => `${some.length} ${what}`);
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

/** The names of budgets, as far as the API server's refusals name them. */
function budgetsText(held: readonly DrainPod[]): string {
  const named = held.flatMap(({ blocker }) => {
    return /^The disruption budget (\S+) /.exec(blocker?.message ?? '')?.[1] ?? [];
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
