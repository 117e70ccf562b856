// What must not happen yet on the nodes of a NodeDrain, and why.
import type { Outcome } from '../../attempt/outcome.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import type { NodeDrain } from '../../policy/node-drain.ts';
import type { StoreView } from '../../store.ts';
import type { DrainMachine } from '../machine.ts';
import { isEnded } from '../state.ts';
import type { AskForDrain } from './command.ts';
import { drainedByOthers } from './conditions.ts';
import type { DrainHold } from './state.ts';
import { DrainWaits, nothingAwaited, type Waits } from './waits.ts';

/** Where it is looked. */
export interface HoldSurroundings {
  readonly store: StoreView;
  /** Why the turn of a node must not come; null: it may. */
  readonly holdOf: (drain: NodeDrain, node: Node) => DrainHold | null;
  /** Whether a node with pods that must not go ends when its turn comes; left out: it waits for them to go. */
  readonly endsRefused?: boolean;
  /** While there are more nodes none begins; left out: there may be any number. */
  readonly nodesMax?: number;
}

type Holds = ReadonlyMap<string, DrainHold>;

/** Windows, gates, other drains, pods that must not go, and the steps of others. */
export class DrainHolds {
  readonly #drain: NodeDrain;
  readonly #machine: DrainMachine;
  readonly #surroundings: HoldSurroundings;
  readonly #waits: DrainWaits;
  /** Nodes whose turn does not come. */
  #turns: Holds = new Map();
  /** What it waits for, when that was looked at last. */
  #waiting: Waits = nothingAwaited;

  constructor(
    drain: NodeDrain,
    idPrefix: string,
    machine: DrainMachine,
    surroundings: HoldSurroundings,
  ) {
    this.#drain = drain;
    this.#machine = machine;
    this.#surroundings = surroundings;
    this.#waits = new DrainWaits(drain, idPrefix, surroundings.store.clock);
  }

  /** Why no node begins; null: they may. */
  get closed(): DrainHold | null {
    return this.#waiting.closed;
  }

  /** Whether that is known, and not only that nobody answers. */
  get isSurelyClosed(): boolean {
    return this.#waiting.isSurelyClosed;
  }

  /** The node begins anew, when it does. */
  forget(name: string): void {
    this.#waits.forget(name);
  }

  /** What holds each node, wherever it is. */
  get all(): Holds {
    const { pods, ends } = this.#waiting;
    const all = [...ends, ...pods, ...this.#turns];
    return new Map(all.filter(([, { message }]) => message !== ''));
  }

  /** Since when a node whose pods are gone waits for others; null: it does not. */
  waitsSince(name: string): Instant | null {
    return this.#waits.waitsSince(name);
  }

  nextWake(): Instant | null {
    return this.#waits.nextWake();
  }

  /** The answer to a question of this drain. */
  answered(now: Instant, id: string, outcome: Outcome): void {
    this.#waits.answered(now, id, outcome);
  }

  /** What is to be asked now. */
  ask(now: Instant): readonly AskForDrain[] {
    const { name: drain } = this.#drain;
    return Array.from(this.#waits.takeDue(now), ({ id, question }) => {
      return { kind: 'askForDrain', id, drain, question };
    });
  }

  /** Looks at everything anew, and lets the machine know. */
  look(now: Instant): void {
    const { store, holdOf } = this.#surroundings;
    const isRead = (name: string): boolean => store.podView(name) === 'watched';
    const awaited = this.#waits.look(now, this.#machine, isRead);
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

  /** Nodes that are gone do not count. */
  #tooMany(): DrainHold | null {
    const { nodesMax = Number.POSITIVE_INFINITY } = this.#surroundings;
    const there = this.#machine.nodes().filter(({ phase }) => phase.kind !== 'vanished').length;
    if (there <= nodesMax) return null;
    const message = `it is for ${there} nodes, and a NodeDrain may have ${nodesMax}: make several`;
    return { reason: 'TooManyNodes', message };
  }

  #othersOn(node: Node): DrainHold | null {
    const message = this.#drain.spec.nodeConditions === 'Publish' ? drainedByOthers(node) : null;
    return message === null ? null : { reason: 'AnotherDrain', message };
  }

  /** Somebody keeps the node from all drains that heed it. */
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

function keysOf(holds: Holds): ReadonlySet<string> {
  return new Set(holds.keys());
}

function hasSameKeys(one: Holds, other: Holds | undefined): boolean {
  return one.size === other?.size && [...one.keys()].every((key) => other.has(key));
}

const faultWords: Readonly<Record<string, string>> = {
  Unmanaged: 'is not managed by a controller (spec.pods.withoutController lets it go)',
  EmptyDir: 'has emptyDir volumes, whose data would be lost (spec.pods.withEmptyDir lets it go)',
  OrphanedDaemonSetPod: 'is of a DaemonSet that is gone (spec.pods.withoutController lets it go)',
};
