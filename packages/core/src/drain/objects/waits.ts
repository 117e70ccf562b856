// What a NodeDrain waits for: its windows, its gates, and the steps of others before and after a node.
import type { Outcome } from '../../attempt/outcome.ts';
import { assert } from '../../kernel/assert.ts';
import { earliest, formatDeadline, type Instant } from '../../kernel/time.ts';
import type {
  AlertQuery,
  DrainGate,
  DrainHook,
  NodeDrain,
  ObjectState,
} from '../../policy/node-drain.ts';
import type { DrainMachine } from '../machine.ts';
import { type DrainNode, isDone, isEnded } from '../state.ts';
import type { DrainQuestion } from './command.ts';
import { type Known, Questions } from './questions.ts';
import type { DrainHold } from './state.ts';

/** A node of the drain, and whether nothing more is expected of its pods. */
type WaitingNode = DrainNode & { readonly isEmpty: boolean };

/** What is waited for as things are. */
export interface Waits {
  /** Why no node begins; null: they may. */
  readonly closed: DrainHold | null;
  /** Whether that is known, and not only that nobody answers. */
  readonly isSurelyClosed: boolean;
  /** Nodes whose pods stay for now. */
  readonly pods: ReadonlyMap<string, DrainHold>;
  /** Nodes that are not done with though their pods are gone. */
  readonly ends: ReadonlyMap<string, DrainHold>;
  /** Nodes for which a step was not done in time. */
  readonly late: ReadonlyMap<string, string>;
}

export const nothingAwaited: Waits = {
  closed: null,
  isSurelyClosed: false,
  pods: new Map(),
  ends: new Map(),
  late: new Map(),
};

/** What keeps nodes from beginning, and whether that is known for sure. */
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
 * Everything is asked for again and again, by commands whose results are the answers: what nobody
 * knows is as good as a no. A step that was done once is not asked for again.
 */
export class DrainWaits {
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

  /** Whether nodes that have begun go on outside of its windows, and while a gate is closed. */
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
  look(
    now: Instant,
    machine: Pick<DrainMachine, 'nodes' | 'pods'>,
    isRead: (node: string) => boolean,
  ): Waits {
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

  /** Whether pods are gone is looked at only where it matters. */
  #nodesOf(
    machine: Pick<DrainMachine, 'nodes' | 'pods'>,
    isRead: (node: string) => boolean,
  ): readonly WaitingNode[] {
    const pods = this.#afterNode.length > 0 ? machine.pods() : [];
    const left = new Set(pods.flatMap(({ pod, state }) => (isDone(state) ? [] : pod.nodeName)));
    return machine.nodes().map((node) => {
      return { ...node, isEmpty: isRead(node.name) && !left.has(node.name) };
    });
  }

  /** Its steps are to be done again: what was set on the node is taken back. */
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

/** Nobody knows whether a node is empty, or may begin. */
export const podsNotRead: DrainHold = {
  reason: 'PodsNotRead',
  message: 'its pods are not read yet',
};

/** What of the steps is left: why the node waits, and what was not done in time. */
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
