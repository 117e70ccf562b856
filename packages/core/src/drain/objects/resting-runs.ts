// The NodeDrains that have ended: they are looked up by what may concern them, so that thousands cost nothing.
import type { Event } from '../../event.ts';
import { Schedule } from '../../kernel/schedule.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Change } from '../../store.ts';
import type { NodeDrainRun } from './run.ts';
import type { NodeDrainState } from './state.ts';

/** A run as it rests. */
interface Resting {
  readonly nodes: readonly string[];
  /** Null: nobody has asked yet. */
  state: NodeDrainState | null;
}

export class RestingRuns {
  readonly #runs = new Map<NodeDrainRun, Resting>();
  readonly #byName = new Map<string, NodeDrainRun>();
  readonly #byUid = new Map<string, NodeDrainRun>();
  /** By the names of their nodes. */
  readonly #byNode = new Map<string, Set<NodeDrainRun>>();

  /** By uid, when a run is to be deleted. */
  readonly #ends = new Schedule();

  has(run: NodeDrainRun): boolean {
    return this.#runs.has(run);
  }

  add(run: NodeDrainRun): void {
    const nodes = run.nodeNames();
    this.#runs.set(run, { nodes, state: null });
    this.#byName.set(run.drain.name, run);
    this.#byUid.set(run.drain.uid, run);
    if (run.deleteAt !== null) this.#ends.set(run.drain.uid, run.deleteAt);
    for (const name of nodes) {
      const runs = this.#byNode.get(name);
      if (runs) runs.add(run);
      else this.#byNode.set(name, new Set([run]));
    }
  }

  delete(run: NodeDrainRun): void {
    const resting = this.#runs.get(run);
    if (!resting) return;
    this.#runs.delete(run);
    this.#byName.delete(run.drain.name);
    this.#byUid.delete(run.drain.uid);
    this.#ends.cancel(run.drain.uid);
    for (const name of resting.nodes) {
      const runs = this.#byNode.get(name);
      runs?.delete(run);
      if (runs?.size === 0) this.#byNode.delete(name);
    }
  }

  clear(): void {
    for (const uid of this.#byUid.keys()) this.#ends.cancel(uid);
    for (const all of [this.#runs, this.#byName, this.#byUid, this.#byNode]) all.clear();
  }

  /** When the first is to be deleted; null: none is. */
  nextWake(): Instant | null {
    return this.#ends.next();
  }

  /** Those that are to be deleted by now. */
  takeDue(now: Instant): readonly NodeDrainRun[] {
    const due: NodeDrainRun[] = [];
    for (let uid = this.#ends.takeDue(now); uid !== null; uid = this.#ends.takeDue(now)) {
      const run = this.#byUid.get(uid);
      if (run) due.push(run);
    }
    return due;
  }

  /** How far a run has come, which changes no more; null: it does not rest. */
  state(run: NodeDrainRun, read: () => NodeDrainState): NodeDrainState | null {
    const resting = this.#runs.get(run);
    if (!resting) return null;
    // What another pod is waited for is forgotten with time.
    if (resting.state && resting.state.notReplaced.length === 0) return resting.state;
    resting.state = read();
    return resting.state;
  }

  /** The runs that have to hear of an event. */
  concerned(event: Event, changes: readonly Change[]): readonly NodeDrainRun[] {
    if (this.#runs.size === 0) return none;
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
        const run = this.#byUid.get(event.id.split('/')[1] ?? '');
        return run ? [run] : none;
      }
      default:
        return none;
    }
  }

  #on(nodeName: string): readonly NodeDrainRun[] {
    const runs = this.#byNode.get(nodeName);
    return runs ? [...runs] : none;
  }
}

const none: readonly never[] = [];
