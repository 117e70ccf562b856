// Carries out the NodeDrains of the cluster, beside the machines of taint eviction and node lifecycle.
import type { Event } from '../event.ts';
import type { EvictionConfig } from '../eviction/config.ts';
import { WorkingDrains } from '../eviction/working-drains.ts';
import { earliest, type Instant } from '../kernel/time.ts';
import { isShuttingDown, type Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import { formatTaint, type Taint } from '../model/taint.ts';
import { decidingToleration, type MatchOptions } from '../model/toleration.ts';
import { noExecuteFault, type OtherEvictors, ownDeletions } from '../model/working-drain.ts';
import type { OwnReplicas } from '../own-replicas.ts';
import { choosePolicy } from '../policy/choice.ts';
import type { NodeDrain } from '../policy/node-drain.ts';
import { isTakenOver } from '../policy/takeover.ts';
import type { EvictionPolicy } from '../policy/values.ts';
import type { Change, Machine, StoreView } from '../store.ts';
import type { DrainConfig } from './config.ts';
import type { NodeDrainCommand } from './drain-commands.ts';
import { DrainTimes } from './fate.ts';
import type { SettingWrites } from './marks.ts';
import { NodeDrainRun } from './node-drain-run.ts';
import type { DrainHold, NodeDrainState } from './node-drain-state.ts';
import { podsNotRead } from './node-holds.ts';
import { OpenRuns, RestingRuns } from './run-index.ts';
import { Workloads } from './workloads.ts';

/** What it goes by. */
type NodeDrainsConfig = Pick<
  EvictionConfig,
  'leader' | 'comparisonOperators' | 'mode' | 'takeover'
> & { readonly taintEviction: boolean; readonly drainProgram: DrainConfig | null };

const notKnown: OtherEvictors = {
  kind: 'unknown',
  text: 'who else evicts for NoExecute taints here is not known yet',
  advice: '',
};

/**
 * Each NodeDrain is a run of its own. Only a leader that has read everything has runs: whoever loses
 * the lead forgets them, and whoever gains it builds them from what is in the cluster. A node is
 * drained by one drain at a time, the oldest first; one that has put the same taint on a node keeps
 * it until it is undone.
 */
export class NodeDrains implements Machine<NodeDrainCommand> {
  readonly askers = ['nodedrain'] as const;
  readonly #store: StoreView;
  readonly #times: DrainTimes;
  readonly #drains = new Map<string, NodeDrain>();
  readonly #runs = new Map<string, NodeDrainRun>();
  /** Those that have ended. */
  readonly #rest = new RestingRuns();
  /** The others, the first declared first. */
  readonly #open = new OpenRuns();
  /** Those of others that are at work on nodes. */
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

  /** How far each drain is, by its name; those that are not begun because we do not lead are not. */
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

  /** What a drain was answered may be what another one waits for. */
  #hear(now: Instant, event: Event, changes: readonly Change[]): void {
    for (const run of this.#rest.concerned(event, changes)) this.#wake(run);
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

  /** Whether another replica of ours may be the last one that works. */
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
    // Ours too: who has ended shows it later, and until then nobody else may write on the node.
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

/** A node of the drain, its pods, and what decides about them. */
export interface DeletionSite {
  readonly node: Node;
  readonly pods: Iterable<Pod>;
  readonly policies: readonly EvictionPolicy[];
  /** Null: not known. */
  readonly namespaceLabels: (namespace: string) => Labels | null;
}

/** Names the first of these pods and its policy; null: none is deleted. */
export function deletedByPolicy(
  { node, pods, policies, namespaceLabels }: DeletionSite,
  taint: Taint,
  options: MatchOptions,
): Pick<OtherEvictors, 'text' | 'advice'> | null {
  const acting = policies.filter(({ action }) => action !== null);
  if (!acting.some(isDeleting)) return null;
  for (const pod of pods) {
    if (!hasToGo(pod, taint, options)) continue;
    const labels = namespaceLabels(pod.namespace);
    const { counts } = choosePolicy(acting, taint, { pod, node, namespaceLabels: labels });
    if (counts && isDeleting(counts)) return deletions(counts.name, pod);
  }
  return null;
}

/** True where the taint makes the pod go, now or later. */
function hasToGo({ tolerations }: Pod, taint: Taint, options: MatchOptions): boolean {
  const toleration = decidingToleration(tolerations, taint, options);
  return toleration === null || toleration.tolerationSeconds !== null;
}

function deletions(
  policy: string,
  { namespace, name }: Pod,
): Pick<OtherEvictors, 'text' | 'advice'> {
  const text =
    `taintmgr-controller deletes the pods that the drain leaves, without asking PDBs, as EvictionPolicy ${policy} ` +
    `says of pod ${namespace}/${name}`;
  return { text, advice: 'have the policy not match the taint' };
}

function isDeleting({ action }: EvictionPolicy): boolean {
  return action === 'Delete' || action === 'Upstream';
}
