import type { Change, ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import type { Call } from './call.ts';

/** An object from one instant on; null: there is none of the name. */
export interface State {
  readonly at: number;
  readonly object: KubeObject | null;
}

/** A change as the checkers observe it. */
export interface ObservedChange {
  readonly at: number;
  readonly change: Change;
  /** The request of the client under watch that made it; null: others did. */
  readonly by: Call | null;
}

const none: readonly State[] = [];

/** Every state of every pod, node and namespace since the beginning, as the API reported them. */
export class ObjectHistory {
  readonly #nodes = new Map<string, State[]>();
  readonly #pods = new Map<string, State[]>();
  readonly #namespaces = new Map<string, State[]>();
  readonly #apiHistory: ApiHistory;
  readonly #now: () => number;

  constructor(api: ClusterApi, apiHistory: ApiHistory, observe: (change: ObservedChange) => void) {
    this.#apiHistory = apiHistory;
    this.#now = () => api.clock.now();
    api.subscribe((change) => observe(this.#record(change)));
  }

  /** The states of all nodes of that name, oldest first. */
  node(name: string): readonly State[] {
    return this.#nodes.get(name) ?? none;
  }

  /** The states of this very pod, oldest first. */
  pod(uid: string): readonly State[] {
    return this.#pods.get(uid) ?? none;
  }

  /** The states of the namespace of that name, oldest first. */
  namespace(name: string): readonly State[] {
    return this.#namespaces.get(name) ?? none;
  }

  /** The names of all nodes there ever were. */
  get nodeNames(): readonly string[] {
    return [...this.#nodes.keys()];
  }

  /** The states of every pod there ever was, pod by pod. */
  get pods(): readonly (readonly State[])[] {
    return [...this.#pods.values()];
  }

  /** The states that held at some instant from `from` to `to`. */
  during(states: readonly State[], from: number, to: number): readonly State[] {
    return states.filter(({ at }, index) => {
      const until = states[index + 1]?.at ?? Number.POSITIVE_INFINITY;
      return at <= to && until >= from;
    });
  }

  #record(change: Change): ObservedChange {
    const { type, resource, object } = change;
    const at = this.#now();
    const state = { at, object: type === 'DELETED' ? null : object };
    const { name, uid = '' } = object.metadata;
    if (resource === 'nodes') push(this.#nodes, name, state);
    if (resource === 'pods') push(this.#pods, uid, state);
    if (resource === 'namespaces') push(this.#namespaces, name, state);
    return { at, change, by: this.#apiHistory.actor };
  }
}

function push(map: Map<string, State[]>, key: string, state: State): void {
  const states = map.get(key);
  if (states) states.push(state);
  else map.set(key, [state]);
}
