// Finds the NodeDrains that an event concerns: it is handed to nobody else, however many drains there are.
import type { Event } from '../event.ts';
import { Schedule } from '../kernel/schedule.ts';
import type { Instant } from '../kernel/time.ts';
import type { Change } from '../store.ts';
import type { NodeDrainRun } from './node-drain-run.ts';
import type { NodeDrainState } from './node-drain-state.ts';

type Runs = readonly NodeDrainRun[];

const none: readonly never[] = [];

/** Runs by their names, uids and nodes. */
class RunIndex {
  readonly #nodes = new Map<NodeDrainRun, Set<string>>();
  readonly #byName = new Map<string, NodeDrainRun>();
  readonly #byUid = new Map<string, NodeDrainRun>();
  /** By the names of their nodes. */
  readonly #byNode = new Map<string, Set<NodeDrainRun>>();

  get size(): number {
    return this.#nodes.size;
  }

  has(run: NodeDrainRun): boolean {
    return this.#nodes.has(run);
  }

  all(): Runs {
    return [...this.#nodes.keys()];
  }

  ofUid(uid: string): NodeDrainRun | null {
    return this.#byUid.get(uid) ?? null;
  }

  /** Anew too, where its nodes may have changed. */
  add(run: NodeDrainRun): void {
    this.delete(run);
    this.#nodes.set(run, new Set());
    this.#byName.set(run.drain.name, run);
    this.#byUid.set(run.drain.uid, run);
    for (const name of run.nodeNames()) this.addNode(run, name);
  }

  addNode(run: NodeDrainRun, name: string): void {
    this.#nodes.get(run)?.add(name);
    const runs = this.#byNode.get(name);
    if (runs) runs.add(run);
    else this.#byNode.set(name, new Set([run]));
  }

  delete(run: NodeDrainRun): void {
    const nodes = this.#nodes.get(run);
    if (!nodes) return;
    this.#nodes.delete(run);
    this.#byName.delete(run.drain.name);
    this.#byUid.delete(run.drain.uid);
    for (const name of nodes) {
      const runs = this.#byNode.get(name);
      runs?.delete(run);
      if (runs?.size === 0) this.#byNode.delete(name);
    }
  }

  clear(): void {
    for (const all of [this.#nodes, this.#byName, this.#byUid, this.#byNode]) all.clear();
  }

  /** The runs that have to hear of an event about a pod, a node, or a drain; null: it is about none of these. */
  concerned(event: Event, changes: readonly Change[]): Runs | null {
    switch (event.kind) {
      case 'podUpsert':
        return this.#on(event.pod.nodeName);
      case 'podDelete':
        return changes.flatMap((change) =>
          change.kind === 'podGone' ? this.#on(change.previous.nodeName) : none,
        );
      case 'nodeUpsert': {
        const { name, drainMarks = [] } = event.node;
        const marked = drainMarks.flatMap(({ id }) => this.#byName.get(id) ?? none);
        return marked.length === 0 ? this.#on(name) : [...new Set([...this.#on(name), ...marked])];
      }
      case 'nodeDelete':
        return this.#on(event.name);
      case 'evictionRequests': {
        const run = this.#byName.get(event.drain);
        return run ? [run] : none;
      }
      case 'result': {
        const run = this.ofUid(event.id.split('/')[1] ?? '');
        return run ? [run] : none;
      }
      case 'leaseUpsert':
      case 'leaseDelete':
      case 'daemonSetUpsert':
      case 'daemonSetDelete':
      case 'taintRuleUpsert':
      case 'taintRuleDelete':
      case 'resumeEvictions':
      case 'limitRecord':
        return none;
      default:
        return null;
    }
  }

  #on(nodeName: string): Runs {
    const runs = this.#byNode.get(nodeName);
    return runs ? [...runs] : none;
  }
}

/** The runs that have something to do, or wait for it. */
export class OpenRuns {
  readonly #index = new RunIndex();
  /** Those that may take nodes which are none of theirs yet. */
  readonly #takers = new Set<NodeDrainRun>();
  /** By uid. */
  readonly #wakes = new Schedule();
  /** Those whose wake is to be asked for anew. */
  readonly #heard = new Set<NodeDrainRun>();

  get size(): number {
    return this.#index.size;
  }

  all(): Runs {
    return this.#index.all();
  }

  add(run: NodeDrainRun): void {
    this.#index.add(run);
    this.#heard.add(run);
    if (run.drain.spec.nodeSelector !== undefined) this.#takers.add(run);
  }

  delete(run: NodeDrainRun): void {
    this.#index.delete(run);
    this.#takers.delete(run);
    this.#heard.delete(run);
    this.#wakes.cancel(run.drain.uid);
  }

  clear(): void {
    for (const run of this.all()) this.delete(run);
  }

  /** Whether some run has heard of the event. */
  handle(now: Instant, event: Event, changes: readonly Change[]): boolean {
    const isOfNode = event.kind === 'nodeUpsert' || event.kind === 'nodeDelete';
    const concerned = this.#index.concerned(event, changes);
    const named = concerned ?? this.all();
    const runs = isOfNode ? new Set([...named, ...this.#takers]) : named;
    for (const run of runs) {
      run.handle(now, event);
      this.#heard.add(run);
      if (event.kind === 'nodeDelete') this.#index.add(run);
      if (event.kind === 'nodeUpsert') this.#follow(run, event.node.name);
    }
    return concerned !== null && concerned.length > 0;
  }

  /** What holds them, or their pods, may be otherwise now. */
  recheck(now: Instant): void {
    for (const run of this.all()) {
      run.recheck(now);
      this.#heard.add(run);
    }
  }

  /** Policies or pauses may decide otherwise now about every pod. */
  redecide(now: Instant): void {
    for (const run of this.all()) {
      run.redecide(now);
      this.#heard.add(run);
    }
  }

  act(now: Instant): readonly ReturnType<NodeDrainRun['act']>[number][] {
    return this.all().flatMap((run) => {
      this.#heard.add(run);
      return run.act(now);
    });
  }

  nextWake(): Instant | null {
    for (const run of this.#heard) {
      const at = run.nextWake();
      const { uid } = run.drain;
      if (at === null) this.#wakes.cancel(uid);
      else this.#wakes.set(uid, at);
    }
    this.#heard.clear();
    return this.#wakes.next();
  }

  /** A node that it has taken, or let go. */
  #follow(run: NodeDrainRun, name: string): void {
    if (run.has(name)) this.#index.addNode(run, name);
    else this.#index.add(run);
  }
}

/** The runs that have ended: thousands cost nothing. */
export class RestingRuns {
  readonly #index = new RunIndex();
  /** How far each has come; null: nobody has asked yet. */
  readonly #states = new Map<NodeDrainRun, NodeDrainState | null>();
  /** By uid, when a run is to be deleted. */
  readonly #ends = new Schedule();

  has(run: NodeDrainRun): boolean {
    return this.#index.has(run);
  }

  add(run: NodeDrainRun): void {
    this.#index.add(run);
    this.#states.set(run, null);
    if (run.deleteAt !== null) this.#ends.set(run.drain.uid, run.deleteAt);
  }

  delete(run: NodeDrainRun): void {
    if (!this.has(run)) return;
    this.#index.delete(run);
    this.#states.delete(run);
    this.#ends.cancel(run.drain.uid);
  }

  clear(): void {
    for (const run of this.#index.all()) this.delete(run);
  }

  /** When the first is to be deleted; null: none is. */
  nextWake(): Instant | null {
    return this.#ends.next();
  }

  /** Those that are to be deleted by now. */
  takeDue(now: Instant): Runs {
    const due: NodeDrainRun[] = [];
    for (let uid = this.#ends.takeDue(now); uid !== null; uid = this.#ends.takeDue(now)) {
      const run = this.#index.ofUid(uid);
      if (run) due.push(run);
    }
    return due;
  }

  /** How far a run has come, which changes no more; null: it does not rest. */
  state(run: NodeDrainRun, read: () => NodeDrainState): NodeDrainState | null {
    const known = this.#states.get(run);
    if (known === undefined) return null;
    // What another pod is waited for is forgotten with time.
    if (known && known.notReplaced.length === 0) return known;
    const state = read();
    this.#states.set(run, state);
    return state;
  }

  /** The runs that have to hear of an event. */
  concerned(event: Event, changes: readonly Change[]): Runs {
    return this.#index.size === 0 ? none : (this.#index.concerned(event, changes) ?? none);
  }
}
