// Publishes on nodes how far a NodeDrain is, by the conditions of KEP-5683.
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import type { Outcome } from '../attempt/outcome.ts';
import { earliest, type Instant, type Millis } from '../kernel/time.ts';
import type { Node, NodeCondition } from '../model/node.ts';
import type { NodeDrain } from '../policy/node-drain.ts';
import type { StoreView } from '../store.ts';
import type { DrainCondition, SetDrainConditions } from './drain-commands.ts';
import type { DrainNodePhase, DrainView } from './state.ts';

const retry = { retryWaitMsMin: 1_000, retryWaitMsMax: 60_000, confirmationWaitMs: 10_000 };
const writesMax = 20;
/** The interval at which nodes are looked at, regardless of the number of changes. */
const lookEveryMs: Millis = 200;
const reason = 'NodeDrain';

/**
 * Other programs may write the conditions too, and the last one counts: each state of a node is written
 * once, and nothing waits for the write. A condition with our reason and our name is ours, and
 * becomes False in the end.
 */
export class DrainConditions {
  readonly #store: StoreView;
  readonly #writes: KeyedWrites;
  /** The conditions of each node that are not written yet. */
  readonly #wanted = new Map<string, readonly DrainCondition[]>();
  /** The phase that was looked at last, by the uid of the node: another one of its name says nothing yet. */
  readonly #seen = new Map<string, string>();
  /** The conditions that this run has set True on each node, by its uid: the watch may not show them yet. */
  readonly #set = new Map<string, States>();
  #lookAt: Instant | null = null;
  /** True if nothing is left to be looked for. */
  #isClear = false;

  constructor(idPrefix: string, store: StoreView) {
    this.#store = store;
    this.#writes = new KeyedWrites({ ...retry, prefix: `${idPrefix}conditions`, max: writesMax });
  }

  nextWake(): Instant | null {
    return earliest([this.#lookAt, this.#writes.nextWake()]);
  }

  settle(now: Instant, id: string, outcome: Outcome): void {
    const ended = this.#writes.settle(now, id, outcome);
    if (ended?.failures === 0) this.#forget(ended.key);
  }

  /** True if something is still to be looked at, or to be written that may succeed. */
  get isOpen(): boolean {
    return !this.#isClear || [...this.#wanted.keys()].some((name) => !this.#writes.failures(name));
  }

  /** The writes that are due, with the nodes as they are; of a drain that is undone no condition is True. */
  act(now: Instant, drain: NodeDrain, machine: DrainView): readonly SetDrainConditions[] {
    this.#look(now, drain, machine);
    // Writes begin one after the other: each takes a place.
    const begun = Array.from(this.#writes.takeDue(now), (name): readonly SetDrainConditions[] => {
      const conditions = this.#wanted.get(name);
      const node = this.#store.node(name);
      if (!conditions || !node) {
        this.#forget(name);
        return [];
      }
      const id = this.#writes.begin(name);
      const { uid } = node;
      const target = { drain: drain.name, node: { name, uid } };
      return [{ kind: 'setDrainConditions', id, ...target, conditions }];
    });
    return begun.flat();
  }

  #look(now: Instant, drain: NodeDrain, machine: DrainView): void {
    const isOn = drain.spec.nodeConditions === 'Publish' && !drain.isDeleted;
    if (!isOn && this.#isClear) return;
    if (this.#lookAt !== null && now < this.#lookAt) return;
    this.#isClear = !isOn;
    // Of a drain that has ended only events are news.
    this.#lookAt = isOn && !machine.finished ? now + lookEveryMs : null;
    const staying = new Set(isOn ? machine.staying().map(({ pod }) => pod.nodeName) : []);
    const states = isOn
      ? machine
          .nodes()
          .map(({ name, phase }) => [name, statesOf(phase, staying.has(name))] as const)
      : [];
    const said = new Map(states);
    for (const node of this.#store.nodes()) this.#judge(now, drain, node, said.get(node.name));
  }

  #judge(now: Instant, drain: NodeDrain, node: Node, states: States | undefined): void {
    const { name, uid, conditions = [] } = node;
    const key = states ? JSON.stringify(states) : 'none';
    if (this.#seen.get(uid) === key) return;
    this.#seen.set(uid, key);
    const message = `NodeDrain ${drain.name}`;
    const before = this.#set.get(uid) ?? {};
    // A node that begins again is not being drained for now, if we have said so.
    const begun = states === planned ? before : {};
    const said = states ? { ...begun, ...states } : { ...before, ...oursOf(conditions, message) };
    const changed = Object.entries(said).filter(([type, status]) => {
      const found = conditions.find((one) => one.type === type);
      if (before[type] !== undefined && status === 'False') return true;
      return found ? found.status !== status : status === 'True';
    });
    const set = changed.filter(([, status]) => status === 'True').map(([type]) => [type, 'False']);
    if (set.length > 0) this.#set.set(uid, { ...before, ...Object.fromEntries(set) });
    if (changed.length === 0) return;
    const wanted = changed.map(([type, status]) => ({ type, status, reason, message }));
    this.#wanted.set(name, wanted);
    this.#writes.forget(name);
    this.#writes.notice(now, name);
  }

  #forget(name: string): void {
    this.#wanted.delete(name);
    this.#writes.forget(name);
  }
}

type States = Readonly<Record<string, 'True' | 'False'>>;

const planned: States = { MaintenancePlanned: 'True' };

/**
 * A node is not drained where pods run on that `kubectl drain` would have evicted: a reader of the
 * condition ends them next.
 */
function statesOf({ kind }: DrainNodePhase, hasStaying: boolean): States {
  switch (kind) {
    case 'pending':
      return planned;
    case 'tainting':
    case 'draining':
      return { MaintenancePlanned: 'True', DrainInProgress: 'True', Drained: 'False' };
    case 'drained':
      return {
        ...planned,
        DrainInProgress: 'False',
        Drained: hasStaying ? 'False' : 'True',
      };
    case 'failed':
    case 'vanished':
      return { MaintenancePlanned: 'True', DrainInProgress: 'False', Drained: 'False' };
  }
}

/** Conditions that we have set, and that no other program has written since, become False. */
function oursOf(conditions: readonly NodeCondition[], message: string): States {
  const ours = conditions.filter((one) => one.reason === reason && one.message === message);
  return Object.fromEntries(ours.map(({ type }) => [type, 'False']));
}

/** True if another program says that the node is planned for maintenance. */
export function isPlannedByOthers({ conditions = [] }: Node): boolean {
  return conditions.some((one) => {
    return one.type === 'MaintenancePlanned' && one.status === 'True' && one.reason !== reason;
  });
}

/** The other program that says that the node is being drained; null: none. */
export function drainedByOthers({ conditions = [] }: Node): string | null {
  const isTrue = (type: string): NodeCondition | undefined =>
    conditions.find((one) => one.type === type && one.status === 'True');
  const progress = isTrue('DrainInProgress');
  if (!progress || progress.reason === reason || isTrue('Drained')) return null;
  return `its condition DrainInProgress is True (${progress.reason}): another program drains it; nodeConditions: Ignore begins anyway`;
}
