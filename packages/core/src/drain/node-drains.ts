// Carries out the NodeDrains of the cluster: an event is handed to those that it concerns, however many there are.
import type { Event } from '../event.ts';
import type { EvictionConfig } from '../eviction/config.ts';
import { WorkingDrains } from '../eviction/working-drains.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earliest, type Instant } from '../kernel/time.ts';
import { isShuttingDown, type Node } from '../model/node.ts';
import { formatTaint } from '../model/taint.ts';
import { noExecuteFault, type OtherEvictors, ownDeletions } from '../model/working-drain.ts';
import type { OwnReplicas } from '../own-replicas.ts';
import type { DrainProgram, NodeDrain } from '../policy/node-drain.ts';
import { isTakenOver } from '../policy/scope.ts';
import type { Change, Machine, StoreView } from '../store.ts';
import type { NodeDrainCommand } from './drain-commands.ts';
import type { SettingWrites } from './marks.ts';
import { NodeDrainRun } from './node-drain-run.ts';
import type { NodeDrainState } from './node-drain-state.ts';
import { podsNotRead } from './node-holds.ts';
import { deletedByPolicy, hasToGo } from './plan.ts';
import { DrainTimes } from './pod-filters.ts';
import type { DrainHold } from './state.ts';
import { Workloads } from './workloads.ts';

/** The settings of the process that NodeDrains use. */
type NodeDrainsConfig = Pick<
  EvictionConfig,
  'leader' | 'comparisonOperators' | 'mode' | 'takeover'
> & { readonly taintEviction: boolean; readonly drainProgram: DrainProgram | null };

const notKnown: OtherEvictors = {
  kind: 'unknown',
  text: 'it is not known yet which other controllers evict for NoExecute taints here',
  advice: '',
};

/**
 * Each NodeDrain is a separate run. Only a leader that has read everything has runs: a replica that
 * loses the lead forgets them, and a new leader builds them from the cluster. A node is drained by
 * one drain at a time, the oldest first; one that has put the same taint on a node keeps it until
 * it is undone.
 */
export class NodeDrains implements Machine<NodeDrainCommand> {
  readonly askers = ['nodedrain'] as const;
  readonly #store: StoreView;
  readonly #times: DrainTimes;
  readonly #drains = new Map<string, NodeDrain>();
  readonly #runs = new Map<string, NodeDrainRun>();
  /** Runs that have ended. */
  readonly #rest = new RestingRuns();
  /** The others, the first declared first. */
  readonly #open = new OpenRuns();
  /** The drains of others that are at work on nodes. */
  readonly #working = new WorkingDrains();
  readonly #workloads: Workloads;
  readonly #replicas: OwnReplicas;
  /** The version of them that pods were held by. */
  #replicasSeen = 0;
  readonly #config: NodeDrainsConfig;
  #others: OtherEvictors = notKnown;
  #leads: boolean;
  #serial = 0;
  #synced = false;

  constructor(store: StoreView, config: NodeDrainsConfig, replicas: OwnReplicas) {
    this.#store = store;
    this.#times = new DrainTimes(store);
    this.#replicas = replicas;
    this.#workloads = new Workloads(store);
    this.#config = config;
    this.#leads = config.leader;
  }

  /** The state of each drain, by its name; without those that are not begun because we do not lead. */
  states(now: Instant): ReadonlyMap<string, NodeDrainState> {
    return new Map(
      Array.from(this.#runs, ([name, run]) => [
        name,
        this.#rest.state(run, () => run.state(now)) ?? run.state(now),
      ]),
    );
  }

  /** The drain of this name that is being carried out, or was; null: there is none. */
  run(name: string): NodeDrainRun | null {
    return this.#runs.get(name) ?? null;
  }

  handle(now: Instant, event: Event, changes: readonly Change[]): readonly NodeDrainCommand[] {
    this.#follow(now, event);
    if (this.#times.follow(now, changes)) this.#open.redecide(now);
    const mayHaveRoom = this.#workloads.follow(now, changes);
    if (mayHaveRoom || this.#mayMoveReplicas) this.#recheck(now);
    this.#replicasSeen = this.#replicas.version;
    switch (event.kind) {
      case 'nodeDrainUpsert':
        this.#drains.set(event.drain.name, event.drain);
        this.#begin(now, event.drain);
        break;
      case 'nodeDrainDelete':
        this.#drains.delete(event.name);
        this.#forget(event.name);
        this.#recheck(now);
        break;
      case 'synced':
      case 'leadership':
        if (event.kind === 'synced') this.#synced = true;
        else this.#leads = event.held;
        this.#runs.clear();
        this.#open.clear();
        this.#rest.clear();
        this.#times.forget();
        for (const drain of this.#drains.values()) this.#begin(now, drain);
        break;
      case 'otherEvictors':
        this.#others = event.others;
        this.#recheck(now);
        break;
      default:
        this.#hear(now, event, changes);
        if (event.kind === 'policyUpsert' || event.kind === 'policyDelete') this.#recheck(now);
    }
    return event.kind === 'tick' ? this.#act(now) : [];
  }

  nextWake(): Instant | null {
    // Asked with each event, and most of the time there is no drain.
    if (this.#open.size === 0) return this.#rest.nextWake();
    if (this.#mayMoveReplicas) return Number.NEGATIVE_INFINITY;
    const all = [this.#working, this.#workloads, this.#rest, this.#open];
    return earliest(all.map((one) => one.nextWake()));
  }

  /** An answer to one drain may be the one that another drain waits for. */
  #hear(now: Instant, event: Event, changes: readonly Change[]): void {
    for (const run of this.#rest.concerned(event, changes)) this.#wake(run);
    if (this.#open.size === 0) return;
    const isHeard = this.#open.handle(now, event, changes);
    if (isHeard && event.kind === 'result') this.#recheck(now);
  }

  #follow(now: Instant, event: Event): void {
    if (event.kind === 'view') this.#working.setView(now, event.current);
    if (event.kind === 'nodeUpsert') this.#working.followNode(now, event.node.name, event.node);
    if (event.kind === 'nodeDelete') this.#working.followNode(now, event.name, null);
    if (event.kind === 'tick') this.#working.takeStale(now);
  }

  #begin(now: Instant, drain: NodeDrain): void {
    if (!this.#leads || !this.#synced) return;
    const { name, uid, generation, isDeleted } = drain;
    const run = this.#runs.get(name);
    if (run?.drain.uid !== uid) {
      this.#workloads.recall(now, drain);
      this.#put(name, this.#newRun(now, drain));
    } else if (run.drain.generation === generation || isDeleted) {
      const rests = this.#rest.has(run) && drain.isGuarded && !isDeleted;
      const isNews = isDeleted && !run.drain.isDeleted;
      if (!rests) this.#wake(run);
      if (!rests) run.update(now, drain);
      if (isNews) this.#recheck(now);
    } else {
      this.#put(name, this.#newRun(now, edited(now, drain, run), run.written));
      this.#recheck(now);
    }
  }

  #put(name: string, run: NodeDrainRun): void {
    this.#forget(name);
    this.#runs.set(name, run);
    this.#open.add(run);
  }

  #forget(name: string): void {
    const run = this.#runs.get(name);
    if (!run) return;
    this.#runs.delete(name);
    this.#open.delete(run);
    this.#rest.delete(run);
  }

  #wake(run: NodeDrainRun): void {
    this.#rest.delete(run);
    this.#open.add(run);
  }

  #newRun(now: Instant, drain: NodeDrain, written?: SettingWrites): NodeDrainRun {
    const holdOf = (one: NodeDrain, node: Node): DrainHold | null => this.#holdOf(one, node);
    this.#serial += 1;
    const { comparisonOperators, drainProgram: program } = this.#config;
    const replicas = this.#replicas;
    const shared = {
      store: this.#store,
      times: this.#times,
      workloads: this.#workloads,
      replicas,
      comparisonOperators,
    };
    const own = { program, ...(program ? { holdOf: () => null } : { holdOf }) };
    const surroundings = { ...shared, written, serial: this.#serial, ...own };
    return new NodeDrainRun(now, drain, surroundings);
  }

  /** True if another replica of ours may be the last one that works. */
  get #mayMoveReplicas(): boolean {
    return this.#replicas.version !== this.#replicasSeen;
  }

  #recheck(now: Instant): void {
    this.#open.recheck(now);
  }

  #act(now: Instant): readonly NodeDrainCommand[] {
    for (const run of this.#rest.takeDue(now)) this.#wake(run);
    const commands = this.#open.act(now);
    for (const run of this.#open.all()) {
      if (!run.isAtRest) continue;
      this.#open.delete(run);
      this.#rest.add(run);
    }
    if (this.#open.size === 0) this.#times.forget();
    return commands;
  }

  /** Why the taint must not be put on a node: pods would go for it that no budget was asked about; null: none would. */
  #noExecuteFault({ spec }: NodeDrain, node: Node): string | null {
    const { budgets } = spec;
    if (spec.taint.effect !== 'NoExecute') return null;
    const taint = { ...spec.taint, timeAdded: null };
    const { taintEviction, mode, takeover, comparisonOperators } = this.#config;
    if (taintEviction && mode === 'delete' && budgets.policy !== 'Ignore') {
      return noExecuteFault(taint, ownDeletions);
    }
    const site = {
      ...{ node, pods: this.#store.podsOn(node.name), policies: this.#store.policies() },
      namespaceLabels: (namespace: string) => this.#store.namespaceLabels(namespace),
    };
    const isOurs = taintEviction && budgets.policy !== 'Ignore';
    const deleted = isOurs ? deletedByPolicy(site, taint, { comparisonOperators }) : null;
    if (deleted !== null) return noExecuteFault(taint, deleted);
    const { kind, text, advice, isRefused } = this.#others;
    if (kind === 'nobody') return null;
    if (!takeover || isRefused !== true) return noExecuteFault(taint, { text, advice });
    const exposed = Array.from(this.#store.podsOn(node.name)).find((pod) => {
      if (isTakenOver(this.#store.namespaceLabels(pod.namespace))) return false;
      return hasToGo(pod, taint, { comparisonOperators });
    });
    if (!exposed) return null;
    const where = `namespace ${exposed.namespace} of pod ${exposed.name} is not taken over, and there `;
    return noExecuteFault(taint, { text: `${where}${text}`, advice: '' });
  }

  /** Why a drain must not begin with a node. */
  #holdOf(drain: NodeDrain, node: Node): DrainHold | null {
    const { name, drainMarks = [] } = node;
    if (this.#store.podView(name) !== 'watched') {
      return podsNotRead;
    }
    if (isShuttingDown(node)) {
      return { reason: 'NodeShutdown', message: 'it shuts down, and the kubelet ends its pods' };
    }
    const fault = this.#noExecuteFault(drain, node);
    if (fault !== null) return { reason: 'OtherEvictors', message: fault };
    const taint = formatTaint(drain.spec.taint);
    const same = drainMarks.find((mark) => mark.id !== drain.name && mark.taint === taint);
    if (same) {
      const message = `drain ${same.id} has put ${taint} on it: undo that one first`;
      return { reason: 'AnotherDrain', message };
    }
    const older = this.#open.all().find((run) => isOlder(run.drain, drain) && run.isOpenOn(name));
    // Our own marks too: a drain that has ended shows it later, and until then no other drain may
    // write on the node.
    const working = this.#working
      .on(name)
      .find((one) => one.drain.id !== drain.name && !one.isStale);
    const other = older?.drain.name ?? working?.drain.id;
    if (other === undefined) return null;
    const isAtWork = !older || older.isBegunOn(name);
    const does = isAtWork
      ? 'is at work there'
      : 'was declared earlier, and has its turn there first';
    return { reason: 'AnotherDrain', message: `drain ${other} ${does}` };
  }
}

/** A drain that says something else now, with how far it is: its status may be older than what we know. */
function edited(now: Instant, drain: NodeDrain, run: NodeDrainRun): NodeDrain {
  const { nodes: known, startedAt, selector: observedSelector } = run.state(now);
  const { podsGoneBefore } = run;
  const counts = { podsGoneBefore, podsLeft: [] };
  return { ...drain, known, knowsAll: true, startedAt, observedSelector, ...counts };
}

function isOlder(one: NodeDrain, other: NodeDrain): boolean {
  if (one.name === other.name) return false;
  const [a, b] = [one.created ?? 0, other.created ?? 0];
  return a === b ? one.name < other.name : a < b;
}

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

  /** Called again too, where its nodes may have changed. */
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
class OpenRuns {
  readonly #index = new RunIndex();
  /** Runs that may take nodes which are not theirs yet. */
  readonly #takers = new Set<NodeDrainRun>();
  /** By uid. */
  readonly #wakes = new Schedule();
  /** Runs whose wake has to be read again. */
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

  /** True if some run has heard of the event. */
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

  /** Looks again at the holds of all runs and of their pods. */
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

  /** A node that the run has taken or released. */
  #follow(run: NodeDrainRun, name: string): void {
    if (run.has(name)) this.#index.addNode(run, name);
    else this.#index.add(run);
  }
}

/** The runs that have ended: thousands cost nothing. */
class RestingRuns {
  readonly #index = new RunIndex();
  /** The state of each run; null: not read yet. */
  readonly #states = new Map<NodeDrainRun, NodeDrainState | null>();
  /** By uid, the time at which a run is deleted. */
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

  /** The time at which the first is deleted; null: none is. */
  nextWake(): Instant | null {
    return this.#ends.next();
  }

  /** Runs that are due to be deleted. */
  takeDue(now: Instant): Runs {
    const due: NodeDrainRun[] = [];
    for (let uid = this.#ends.takeDue(now); uid !== null; uid = this.#ends.takeDue(now)) {
      const run = this.#index.ofUid(uid);
      if (run) due.push(run);
    }
    return due;
  }

  /** The state of a run, which no longer changes; null: the run does not rest. */
  state(run: NodeDrainRun, read: () => NodeDrainState): NodeDrainState | null {
    const known = this.#states.get(run);
    if (known === undefined) return null;
    // The wait for the replacement of a pod is forgotten with time.
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
