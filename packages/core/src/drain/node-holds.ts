// Holds nodes of a NodeDrain back: windows, gates, steps of others, and the questions about all of these.
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { assert } from '../kernel/checks.ts';
import { InFlight } from '../kernel/inflight.ts';
import { earliest, formatDeadline, type Instant, type Millis } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type {
  AlertQuery,
  DrainGate,
  DrainHook,
  NodeDrain,
  ObjectState,
} from '../policy/node-drain.ts';
import type { StoreView } from '../store.ts';
import type { AskForDrain, DrainQuestion } from './drain-commands.ts';
import { drainedByOthers } from './drain-conditions.ts';
import type { NodeHolds } from './node-turns.ts';
import type { Fate } from './pod-filters.ts';
import { type DrainHold, type DrainNode, type DrainView, isDone, isEnded } from './state.ts';

/** The surroundings in which nodes are held. */
export interface HoldSurroundings {
  readonly store: StoreView;
  /** Why the turn of a node must not come; null: it may. */
  readonly holdOf: (drain: NodeDrain, node: Node) => DrainHold | null;
  /** True if a node with pods that must not go ends when its turn comes; left out: it waits for them to go. */
  readonly endsRefused?: boolean;
  /** While there are more nodes none begins; left out: there may be any number. */
  readonly nodesMax?: number;
}

/** The drain whose nodes are held. */
interface HeldDrain extends DrainView {
  /** The fate of a pod as things are. */
  fateOf(now: Instant, pod: Pod): Fate;
  /** Takes what must not happen on which nodes; everything else may. */
  hold(now: Instant, held: NodeHolds): void;
}

type Holds = ReadonlyMap<string, DrainHold>;

/** Windows, gates, other drains, pods that must not go, and the steps of others. */
export class DrainHolds {
  readonly #drain: NodeDrain;
  readonly #machine: HeldDrain;
  readonly #surroundings: HoldSurroundings;
  /** Null: the drain waits for no one. */
  readonly #waits: DrainWaits | null;
  /** Nodes whose turn does not come. */
  #turns: Holds = new Map();
  /** The waits of the last look. */
  #waiting: Waits = nothingAwaited;

  constructor(
    drain: NodeDrain,
    idPrefix: string,
    machine: HeldDrain,
    surroundings: HoldSurroundings,
  ) {
    this.#drain = drain;
    this.#machine = machine;
    this.#surroundings = surroundings;
    const { clock } = surroundings.store;
    this.#waits = awaitsOthers(drain) ? new DrainWaits(drain, idPrefix, clock) : null;
  }

  /** Why no node begins; null: they may. */
  get closed(): DrainHold | null {
    return this.#waiting.closed;
  }

  /** True if that is known, not merely that no answer came. */
  get isSurelyClosed(): boolean {
    return this.#waiting.isSurelyClosed;
  }

  /** The node begins again, when it does. */
  forget(name: string): void {
    this.#waits?.forget(name);
  }

  /** The hold of each node, whatever its phase. */
  get all(): Holds {
    const { pods, ends } = this.#waiting;
    const all = [...ends, ...pods, ...this.#turns];
    return new Map(all.filter(([, { message }]) => message !== ''));
  }

  /** Since when a node whose pods are gone waits for others; null: it does not. */
  waitsSince(name: string): Instant | null {
    return this.#waits?.waitsSince(name) ?? null;
  }

  nextWake(): Instant | null {
    return this.#waits?.nextWake() ?? null;
  }

  /** The answer to a question of this drain. */
  answered(now: Instant, id: string, outcome: Outcome): void {
    this.#waits?.answered(now, id, outcome);
  }

  /** The questions that are due. */
  ask(now: Instant): readonly AskForDrain[] {
    const { name: drain } = this.#drain;
    return Array.from(this.#waits?.takeDue(now) ?? [], ({ id, question }) => {
      return { kind: 'askForDrain', id, drain, question };
    });
  }

  /** Looks at everything again, and informs the machine. */
  look(now: Instant): void {
    const { store, holdOf } = this.#surroundings;
    const isRead = (name: string): boolean => store.podView(name) === 'watched';
    const awaited = this.#waits?.look(now, this.#machine, isRead) ?? this.#unread(isRead);
    const waiting = { ...awaited, closed: this.#tooMany() ?? awaited.closed };
    const turns = new Map<string, DrainHold>();
    const pods = new Map(waiting.pods);
    for (const { name, phase } of this.#machine.nodes()) {
      const node = isEnded(phase) ? null : store.node(name);
      const pause = node && this.#pauseOn(node);
      if (pause) pods.set(name, pause);
      if (!node || phase.kind !== 'pending') continue;
      const hold =
        waiting.closed ??
        pause ??
        this.#othersOn(node) ??
        holdOf(this.#drain, node) ??
        this.#refusalOn(now, name);
      if (hold) turns.set(name, hold);
    }
    const before = [this.#turns, this.#waiting.pods, this.#waiting.ends];
    const { ends, late } = waiting;
    this.#turns = turns;
    this.#waiting = { ...waiting, pods };
    const isSame = [turns, pods, ends].every((each, i) => hasSameKeys(each, before[i]));
    if (isSame && late.size === 0) return;
    const held = { turns: keysOf(turns), pods: keysOf(pods), ends: keysOf(ends), late };
    this.#machine.hold(now, held);
  }

  /** The ends of a drain that waits for no one: a node is not done while its pods are not read. */
  #unread(isRead: (node: string) => boolean): Waits {
    const unread = this.#machine
      .nodes()
      .filter(({ name, phase }) => !isEnded(phase) && !isRead(name));
    return { ...nothingAwaited, ends: new Map(unread.map(({ name }) => [name, podsNotRead])) };
  }

  /** Nodes that are gone do not count. */
  #tooMany(): DrainHold | null {
    const { nodesMax = Number.POSITIVE_INFINITY } = this.#surroundings;
    const there = this.#machine.nodes().filter(({ phase }) => phase.kind !== 'vanished').length;
    if (there <= nodesMax) return null;
    const message = `it is for ${there} nodes, and a NodeDrain may have ${nodesMax}: make several`;
    return { reason: 'TooManyNodes', message };
  }

  #othersOn(node: Node): DrainHold | null {
    const message = this.#drain.spec.nodeConditions === 'Ignore' ? null : drainedByOthers(node);
    return message === null ? null : { reason: 'AnotherDrain', message };
  }

  /** The hold of a node that its label or annotation keeps from the drain. */
  #pauseOn({ labels = {}, doNotDisrupt }: Node): DrainHold | null {
    const { pauseLabel, nodeAnnotations = [] } = this.#drain.spec.heeds;
    if (nodeAnnotations.length > 0 && doNotDisrupt === true)
      return {
        reason: 'NodePaused',
        message: 'its annotation karpenter.sh/do-not-disrupt is true',
      };
    if (pauseLabel === undefined || labels[pauseLabel] === undefined) return null;
    return { reason: 'NodePaused', message: `it has the label ${pauseLabel}` };
  }

  /** The first pod that must not go, and stands in the way of its node. */
  #refusalOn(now: Instant, nodeName: string): DrainHold | null {
    if (this.#surroundings.endsRefused) return null;
    for (const pod of this.#surroundings.store.podsOn(nodeName)) {
      const fate = this.#machine.fateOf(now, pod);
      if (fate.kind !== 'refuse') continue;
      const words = fate.faults.map((fault) => faultWords[fault] ?? fault).join(', and ');
      const message = `pod ${pod.namespace}/${pod.name} ${words}`;
      return { reason: 'PodsRefused', message };
    }
    return null;
  }
}

/** True if a drain asks about others, or an earlier run of it has waited for them. */
function awaitsOthers({ spec, known }: NodeDrain): boolean {
  const { windows, gates, beforeNode, afterNode } = spec;
  const asks = [windows, gates, beforeNode, afterNode].some((one) => one !== undefined);
  return asks || known.some(({ waitsSince }) => waitsSince !== null);
}

function keysOf(holds: Holds): ReadonlySet<string> {
  return new Set(holds.keys());
}

function hasSameKeys(one: Holds, other: Holds | undefined): boolean {
  return one.size === other?.size && [...one.keys()].every((key) => other.has(key));
}

const faultWords: Readonly<Record<string, string>> = {
  Unmanaged: 'is not managed by a controller (spec.pods.withoutController allows it)',
  EmptyDir: 'has emptyDir volumes, whose data would be lost (spec.pods.withEmptyDir allows it)',
  OrphanedDaemonSetPod: 'is of a DaemonSet that is gone (spec.pods.withoutController allows it)',
};

/** A node of the drain, and whether nothing more is expected of its pods. */
type WaitingNode = DrainNode & { readonly isEmpty: boolean };

/** The waits of a drain as things are. */
interface Waits {
  /** Why no node begins; null: they may. */
  readonly closed: DrainHold | null;
  /** True if that is known, not merely that no answer came. */
  readonly isSurelyClosed: boolean;
  /** Nodes whose pods stay for now. */
  readonly pods: ReadonlyMap<string, DrainHold>;
  /** Nodes that are not done with though their pods are gone. */
  readonly ends: ReadonlyMap<string, DrainHold>;
  /** Nodes for which a step was not done in time. */
  readonly late: ReadonlyMap<string, string>;
}

const nothingAwaited: Waits = {
  closed: null,
  isSurelyClosed: false,
  pods: new Map(),
  ends: new Map(),
  late: new Map(),
};

/**
 * The hold that keeps nodes from beginning; `isSure`: it is known, not merely that no answer came.
 */
interface Closed {
  readonly hold: DrainHold | null;
  readonly isSure: boolean;
}

const nothingClosed: Closed = { hold: null, isSure: false };

/** The cluster's clock and ours. */
interface Clock {
  readonly wall: (at: Instant) => Instant;
  readonly when: (wall: Instant) => Instant;
}

/**
 * Everything is asked repeatedly, by commands whose results are the answers: an unknown answer
 * counts as a no. A step that was done once is not asked for again.
 */
class DrainWaits {
  readonly #drain: NodeDrain;
  readonly #clock: Clock;
  readonly #questions: Questions;
  /** Steps that are done, by their keys. */
  readonly #done = new Set<string>();
  /** Since when a node waits for the steps after it. */
  readonly #emptySince = new Map<string, Instant>();
  #nextTimeout: Instant | null = null;

  constructor(drain: NodeDrain, idPrefix: string, clock: Clock) {
    this.#drain = drain;
    this.#clock = clock;
    this.#questions = new Questions(`${idPrefix}ask`, (wall) => clock.when(wall));
    for (const { name, waitsSince } of drain.known) {
      if (waitsSince !== null) this.#emptySince.set(name, clock.when(waitsSince));
    }
  }

  /** True if nodes that have begun go on outside of its windows, and while a gate is closed. */
  get #finishesNodes(): boolean {
    return this.#drain.spec.whileClosed === 'FinishNodes';
  }

  get #afterNode(): readonly DrainHook[] {
    return this.#drain.spec.afterNode ?? [];
  }

  /** Since when a node whose pods are gone waits for others; null: it does not. */
  waitsSince(name: string): Instant | null {
    return this.#emptySince.get(name) ?? null;
  }

  takeDue(now: Instant): ReturnType<Questions['takeDue']> {
    return this.#questions.takeDue(now);
  }

  /** The answer to a question of this drain. */
  answered(now: Instant, id: string, outcome: Outcome): void {
    this.#questions.answered(now, id, outcome);
  }

  nextWake(): Instant | null {
    return earliest([this.#questions.nextWake(), this.#nextTimeout]);
  }

  /** `isRead`: the pods of a node are known. */
  look(now: Instant, machine: DrainView, isRead: (node: string) => boolean): Waits {
    const asked = new Set<string>();
    const open = this.#nodesOf(machine, isRead).filter(({ phase }) => !isEnded(phase));
    const isWaiting = open.some(({ phase }) => phase.kind === 'pending');
    const asksGates = isWaiting || (!this.#finishesNodes && open.length > 0);
    const { hold: closed, isSure } = asksGates ? this.#closed(now, asked) : nothingClosed;
    const pods = new Map<string, DrainHold>();
    const ends = new Map<string, DrainHold>();
    const late = new Map<string, string>();
    this.#nextTimeout = null;
    for (const node of open) {
      const { name } = node;
      const before = this.#before(now, node, asked);
      const isLeftToSteps = this.#afterNode.length > 0 && node.isEmpty;
      const isFinished = this.#finishesNodes || isLeftToSteps;
      const hold = before.hold ?? (isFinished ? null : closed);
      if (hold) pods.set(name, hold);
      const after = this.#after(now, node, asked);
      const end = isRead(name) ? (after.hold ?? before.hold) : podsNotRead;
      if (end) ends.set(name, end);
      const message = before.late ?? after.late;
      if (message !== null) late.set(name, message);
    }
    this.#questions.keep(asked);
    return { closed, isSurelyClosed: isSure, pods, ends, late };
  }

  /** Looks for pods that are gone only where that matters. */
  #nodesOf(machine: DrainView, isRead: (node: string) => boolean): readonly WaitingNode[] {
    const pods = this.#afterNode.length > 0 ? machine.pods() : [];
    const left = new Set(pods.flatMap(({ pod, state }) => (isDone(state) ? [] : pod.nodeName)));
    return machine.nodes().map((node) => {
      return { ...node, isEmpty: isRead(node.name) && !left.has(node.name) };
    });
  }

  /** Its steps have to be done again: everything set on the node is taken back. */
  forget(name: string): void {
    this.#emptySince.delete(name);
    for (const key of this.#done) if (key.endsWith(`/${name}`)) this.#done.delete(key);
  }

  #closed(now: Instant, asked: Set<string>): Closed {
    const { windows = [], gates = [] } = this.#drain.spec;
    if (windows.length > 0) {
      const known = this.#ask(now, 'windows', { kind: 'windows', windows }, asked);
      if (known.kind !== 'yes') {
        const message = `waits for its window: ${known.message}`;
        return { hold: { reason: 'OutsideWindow', message }, isSure: known.kind === 'no' };
      }
    }
    const holds = gates.map((gate, i) => this.#closedBy(now, `gate/${i}`, gate, asked));
    return holds.find(({ hold }) => hold !== null) ?? nothingClosed;
  }

  #closedBy(now: Instant, key: string, gate: DrainGate, asked: Set<string>): Closed {
    const { name, object, noAlerts } = gate;
    const question = object ? ({ kind: 'object', object } as const) : alertQuestion(noAlerts);
    const known = this.#ask(now, key, question, asked);
    if (known.kind === 'yes') return nothingClosed;
    const message = `waits for gate ${name}: ${known.message}`;
    return { hold: { reason: 'GateClosed', message }, isSure: known.kind === 'no' };
  }

  #before(now: Instant, node: WaitingNode, asked: Set<string>): StepsLeft {
    const { phase } = node;
    const since = phase.kind === 'draining' ? phase.since : null;
    return this.#steps(now, node, 'before', this.#drain.spec.beforeNode ?? [], since, asked);
  }

  #after(now: Instant, node: WaitingNode, asked: Set<string>): StepsLeft {
    const { name, phase, isEmpty } = node;
    if (this.#afterNode.length === 0) return { hold: null, late: null };
    const isDraining = phase.kind === 'draining';
    if (!isEmpty) this.#emptySince.delete(name);
    else if (isDraining && !this.#emptySince.has(name)) this.#emptySince.set(name, now);
    const since = isDraining ? (this.#emptySince.get(name) ?? null) : null;
    return this.#steps(now, node, 'after', this.#afterNode, since, asked);
  }

  /** `since`: since when they are waited for; null: their time has not come. */
  #steps(
    now: Instant,
    { name: node }: WaitingNode,
    when: 'before' | 'after',
    hooks: readonly DrainHook[],
    since: Instant | null,
    asked: Set<string>,
  ): StepsLeft {
    let hold: DrainHold | null = null;
    for (const [i, hook] of hooks.entries()) {
      const key = `${when}/${i}/${node}`;
      if (this.#done.has(key)) continue;
      const reason = when === 'before' ? 'BeforeNode' : 'AfterNode';
      if (since === null) return { hold: { reason, message: '' }, late: null };
      const object = ofNode(hook.object, node);
      const known = this.#ask(now, key, { kind: 'object', object }, asked);
      const end = hook.timeout === undefined ? null : since + hook.timeout;
      const isOver = end !== null && now >= end;
      if (known.kind === 'yes' || (isOver && hook.onTimeout === 'GoOn')) {
        this.#done.add(key);
        continue;
      }
      const message = `waits for ${hook.name}: ${known.message}`;
      if (isOver) return { hold, late: message };
      if (end !== null) this.#nextTimeout = earliest([this.#nextTimeout, end]);
      hold ??= { reason, message: end === null ? message : `${message}; ${this.#then(hook, end)}` };
    }
    return { hold, late: null };
  }

  #then({ onTimeout }: DrainHook, end: Instant): string {
    const time = formatDeadline(this.#clock.wall(end));
    return `the node ${onTimeout === 'GoOn' ? 'goes on' : 'fails'} at ${time}`;
  }

  #ask(now: Instant, key: string, question: DrainQuestion, asked: Set<string>): Known {
    asked.add(key);
    return this.#questions.known(now, key, question);
  }
}

/** It is unknown whether a node is empty, or may begin. */
export const podsNotRead: DrainHold = {
  reason: 'PodsNotRead',
  message: 'its pods are not read yet',
};

/** The steps that are left: the hold of the node, and the step that was not done in time. */
interface StepsLeft {
  readonly hold: DrainHold | null;
  readonly late: string | null;
}

/** A gate of a manifest has an object or a query. */
function alertQuestion(query: AlertQuery | undefined): DrainQuestion {
  assert(query !== undefined, 'a gate has an object or a query');
  return { kind: 'noAlerts', query };
}

function ofNode(object: ObjectState, node: string): ObjectState {
  return { ...object, name: object.name.replaceAll('{node}', node) };
}

const questionsInFlightMax = 20;
/**
 * A question is asked again this long after an answer; from this age on an answer no longer counts.
 */
const askAgainMs: Millis = 5_000;
const answerAgeMsMax: Millis = 45_000;
/** The same where the answer says until when it holds. */
const askAgainMsWithEnd: Millis = 60_000;
const answerAgeMsMaxWithEnd: Millis = 120_000;

/** The answer to a question as it is known. */
export interface Known {
  readonly kind: 'yes' | 'no' | 'unknown';
  /** The reason of a no, or of an unknown answer. */
  readonly message: string;
}

interface Asked {
  readonly question: DrainQuestion;
  known: Known;
  /** When it is asked again; null: it is being asked. */
  dueAt: Instant | null;
  /** From then on the answer is unknown. */
  staleAt: Instant;
}

const notAsked: Known = { kind: 'unknown', message: 'it is not known yet' };

export class Questions {
  readonly #asked = new Map<string, Asked>();
  readonly #inFlight: InFlight;
  /** By the cluster's clock to ours. */
  readonly #when: (wall: Instant) => Instant;

  constructor(prefix: string, when: (wall: Instant) => Instant) {
    this.#inFlight = new InFlight(prefix, questionsInFlightMax);
    this.#when = when;
  }

  /** The answer as it is known; the question is asked from now on. */
  known(now: Instant, key: string, question: DrainQuestion): Known {
    const asked = this.#asked.get(key);
    if (!asked) {
      const staleAt = Number.POSITIVE_INFINITY;
      this.#asked.set(key, { question, known: notAsked, dueAt: now, staleAt });
      return notAsked;
    }
    if (now >= asked.staleAt) {
      asked.known = { kind: 'unknown', message: 'the last answer is too old' };
      asked.staleAt = Number.POSITIVE_INFINITY;
    }
    return asked.known;
  }

  /** Stops asking all questions but these. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#asked.keys()) if (!keys.has(key)) this.#asked.delete(key);
  }

  /** The questions to ask now. */
  *takeDue(now: Instant): Generator<{ readonly id: string; readonly question: DrainQuestion }> {
    for (const [key, asked] of this.#asked) {
      if (!this.#inFlight.hasRoom) return;
      if (asked.dueAt === null || asked.dueAt > now) continue;
      asked.dueAt = null;
      yield { id: this.#inFlight.start(key), question: asked.question };
    }
  }

  answered(now: Instant, id: string, outcome: Outcome): void {
    const asked = this.#asked.get(this.#inFlight.finish(id) ?? '');
    if (!asked) return;
    const until = 'until' in outcome ? outcome.until : undefined;
    if (until === undefined) {
      asked.dueAt = now + askAgainMs;
      asked.staleAt = now + answerAgeMsMax;
    } else {
      const end = Math.max(now + 1, this.#when(until));
      asked.dueAt = Math.min(end, now + askAgainMsWithEnd);
      asked.staleAt = Math.min(end, now + answerAgeMsMaxWithEnd);
    }
    asked.known = knownBy(outcome);
  }

  /** The time at which the next question is due, or an answer is too old; null: none. */
  nextWake(): Instant | null {
    const { hasRoom } = this.#inFlight;
    const all = Array.from(this.#asked.values(), ({ dueAt, staleAt }) =>
      earliest([hasRoom ? dueAt : null, Number.isFinite(staleAt) ? staleAt : null]),
    );
    return earliest(all);
  }
}

function knownBy(outcome: Outcome): Known {
  if (!isSetback(outcome)) return { kind: 'yes', message: '' };
  const { message } = outcome;
  return outcome.kind === 'changed' ? { kind: 'no', message } : { kind: 'unknown', message };
}
