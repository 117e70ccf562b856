// The marks that drains write on nodes: the taint that they evict for, and a sign of life.
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import type { ObjectHistory, State } from './object-history.ts';
import type { NoExecuteTaint } from './taint-rule.ts';

interface Mark {
  readonly id: string;
  readonly by?: string;
  readonly taint: string;
  readonly cordoned?: boolean;
  /** False: it is cordoned before its turn. */
  readonly tainted?: boolean;
  readonly heartbeat?: string;
  readonly ended?: boolean;
}

/** A drain that evicts for a taint of a node, as one state of the node shows it. */
export interface SeenDrain {
  /** Another text with each sign of life. */
  readonly heartbeat: string;
  /** Until then its pods are left to it, if it gives no sign of life. */
  readonly until: number;
}

const annotation = 'taintmgr.dev/drain';
/** The time without a sign of life after which a drain is not at work. */
const staleMs = 60_000;

/** The drains of nodes, and until when a client has to leave pods to them. */
export class DrainMarks {
  readonly #history: ObjectHistory;
  readonly #apiHistory: ApiHistory;

  constructor(history: ObjectHistory, apiHistory: ApiHistory) {
    this.#history = history;
    this.#apiHistory = apiHistory;
  }

  /** The drain that evicts for the taint, as of that state; null: none does. */
  of(run: number, nodeName: string, state: State, { id }: NoExecuteTaint): SeenDrain | null {
    const mark = markOf(state, id);
    if (mark === null) return null;
    const states = this.#history.node(nodeName);
    const index = states.indexOf(state);
    const isSame = (one: State): boolean =>
      JSON.stringify(markOf(one, id)) === JSON.stringify(mark);
    const before = states.findLastIndex((one, at) => at < index && !isSame(one));
    const writtenAt = states[before + 1]?.at ?? state.at;
    // A client that restarts gives the drain the whole time.
    const began = this.#apiHistory.known.firstOf(run, 'nodes') ?? writtenAt;
    return { heartbeat: mark.heartbeat ?? '', until: Math.max(writtenAt, began) + staleMs };
  }

  /** True if the node then showed no other sign of life of a drain for the taint than that one. */
  isUnmoved(nodeName: string, at: number, { id }: NoExecuteTaint, heartbeat: string): boolean {
    return this.#history.during(this.#history.node(nodeName), at, at).some((state) => {
      const mark = markOf(state, id);
      return mark === null || mark.heartbeat === heartbeat;
    });
  }
}

function markOf({ object }: State, taint: string): Mark | null {
  const marks = object ? marksOf(object) : [];
  return marks.find((mark) => mark.taint === taint && mark.heartbeat !== undefined) ?? null;
}

export function marksOf({ metadata }: KubeObject): readonly Mark[] {
  return JSON.parse(metadata.annotations?.[annotation] ?? '[]');
}

export function isAtWork(node: KubeObject, id: string, at: number): boolean {
  return marksOf(node).some((mark) => {
    const heartbeat = Date.parse(mark.heartbeat ?? '');
    return mark.id === id && !mark.ended && at - heartbeat < staleMs;
  });
}
