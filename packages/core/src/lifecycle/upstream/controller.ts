// The procedures of upstream's node lifecycle controller, defects included.
import { chanceOf } from '../../kernel/chance.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import { type Node, type NodeCondition, nodeRef, readyOf, zoneKey } from '../../model/node.ts';
import { type Pod, podRef } from '../../model/pod.ts';
import type { OwnReplicas } from '../../own-replicas.ts';
import type { StoreView } from '../../store.ts';
import type { LifecycleConfig } from '../config.ts';
import { type LifecycleCommand, nodeEvent, podNotReadyEvent } from '../node-command.ts';
import { missingLabels, noScheduleChange } from '../node-needs.ts';
import type { ZoneCounts } from '../zone-rates.ts';
import { PodEnforcement, swapTaints, TaintEnforcement } from './enforcement.ts';
import { type HealthEntry, lookAt } from './health.ts';
import { lastTainted, type PastPasses, pastEntry } from './past.ts';
import { call, sleep, type Task, together } from './tasks.ts';
import { ZoneStore } from './zone-store.ts';

const excludeLabel = 'node.kubernetes.io/exclude-disruption';
const writeAttemptsMax = 6;
const writePauseMs: Millis = 20;

/** The findings of a pass about one node. */
interface Sight {
  readonly node: Node;
  readonly observed: NodeCondition;
  readonly current: NodeCondition | null;
}

/**
 * The node lifecycle controller of kube-controller-manager 1.36.2, its defects included: procedures
 * that run as long as their API calls do, on caches that go on changing meanwhile. A pass works on
 * the nodes as it listed them. machine.ts says when each procedure runs.
 */
export class UpstreamController {
  readonly zones: ZoneStore;
  readonly health: Map<string, HealthEntry> = new Map();
  /** Null but in legacy mode. */
  readonly legacy: PodEnforcement | null;
  now: Instant = Number.NEGATIVE_INFINITY;
  /** From which the order of nodes comes in each pass; null: they go by their names. */
  seed: number | null = null;
  readonly #store: StoreView;
  readonly #config: LifecycleConfig;
  readonly #emit: (command: LifecycleCommand) => void;
  readonly #enforcement: PodEnforcement | TaintEnforcement;
  readonly #known = new Map<string, Node>();
  readonly #unmarked = new Set<string>();

  constructor(
    store: StoreView,
    config: LifecycleConfig,
    emit: (command: LifecycleCommand) => void,
    replicas: OwnReplicas | null = null,
  ) {
    this.#store = store;
    this.#config = config;
    this.#emit = emit;
    this.zones = new ZoneStore(config);
    const now = (): Instant => this.now;
    const { podEvictionTimeoutMs: timeout } = config;
    this.legacy =
      config.enforcement === 'pods'
        ? new PodEnforcement({ store, zones: this.zones, timeout, now, emit, replicas })
        : null;
    this.#enforcement = this.legacy ?? new TaintEnforcement(store, this.zones, now);
  }

  /** Takes up its work as one that has been at it for a while: nothing is new, and no taint goes. */
  takeUp(passes: PastPasses): void {
    const { clock } = this.#store;
    const zones = new Map<string, Node[]>();
    for (const node of this.#inOrder([...this.#store.nodes()])) {
      const zone = zoneKey(node.labels ?? {});
      const nodes = zones.get(zone);
      if (nodes) nodes.push(node);
      else zones.set(zone, [node]);
    }
    for (const [zone, nodes] of zones) {
      for (const node of nodes) {
        this.#known.set(node.name, node);
        this.health.set(node.name, pastEntry(node, this.#store.lease(node.name), clock, passes));
        this.zones.ensure(this.now, node);
        if (this.#enforcement instanceof TaintEnforcement) this.#enforcement.takeUp(node);
      }
      const counts = countOf(nodes);
      if (counts) this.zones.takeUp(this.now, zone, counts, lastTainted(nodes, clock));
    }
    const states = [...this.zones.states.values()];
    const isAllDown = states.length > 0 && states.every((state) => state === 'FullDisruption');
    if (isAllDown) this.zones.takeUpFullDisruption(this.now);
  }

  /** The work of a node worker: taints NoSchedule and labels, errors left to the next node event. */
  *nodePass(name: string): Task {
    const node = this.#store.node(name);
    if (!node) return;
    const { add, remove } = noScheduleChange(node);
    if (add.length > 0 || remove.length > 0)
      yield* swapTaints(this.#store.clock.wall(this.now), node, add, remove);
    const labels = missingLabels(node.labels ?? {});
    if (!labels) return;
    yield* call((id) => ({ kind: 'setNodeLabels', id, node: nodeRef(node), labels }));
  }

  /** The work of a pod worker for a pod that came to a node; false: to be tried again. */
  *podPass(uid: string): Task<boolean> {
    const pod = this.#store.pod(uid);
    const entry = pod && this.health.get(pod.nodeName);
    if (!pod || !entry) return true;
    const node = this.#store.node(pod.nodeName);
    if (!node) return false;
    const ready = readyOf(entry.conditions);
    if (!ready) return true;
    if (this.legacy && !(yield* this.legacy.judgePods(node, { observed: ready, entry }, [pod]))) {
      return false;
    }
    return ready.status === 'True' || (yield* this.#markPods([pod]));
  }

  /** Looks at all nodes, with this number of workers. */
  *monitorPass(workers: number): Task {
    const nodes = this.#inOrder([...this.#store.nodes()]);
    yield* this.#meet(nodes);
    const nodeCounts = new Map<string, ZoneCounts>();
    const queue = nodes.values();
    const worker = function* (this: UpstreamController): Task {
      for (const node of queue) yield* this.#visit(node, nodeCounts);
    };
    yield* together(Array.from({ length: workers }, () => worker.call(this)));
    const turn = this.zones.take(this.now, nodeCounts);
    if (turn === 'enterFullDisruption') {
      for (const node of nodes) yield* this.#enforcement.release(node);
    }
    if (turn === 'exitFullDisruption') this.#restartGracePeriods(nodes);
  }

  /** Lets the queues go on, as far as their limiters allow. */
  *enforcePass(): Task {
    for (const [zone, queue] of this.zones.queues) {
      const stamp = (): ReturnType<ZoneStore['stamp']> => this.zones.stamp(this.now);
      for (let item = queue.next(stamp()); item; item = queue.next(stamp())) {
        const result = yield* this.#enforcement.enforce(zone, item);
        queue.settle(stamp(), item, result);
      }
    }
  }

  /** Upstream ranges over a map of Go, in an order that chance decides each time. */
  #inOrder(nodes: readonly Node[]): readonly Node[] {
    const { seed } = this;
    if (seed === null) return nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const drawn = nodes.map((node) => [chanceOf(seed, `${this.now}/${node.name}`), node] as const);
    return drawn.sort(([a], [b]) => a - b).map(([, node]) => node);
  }

  nodeDeleted(name: string): void {
    this.#unmarked.delete(name);
    this.legacy?.unregister(name);
  }

  /** Nodes that are new, and those that are gone. Defect: a restart makes every node a new one. */
  *#meet(nodes: readonly Node[]): Task {
    const added = nodes.filter(({ name }) => !this.#known.has(name));
    const isSame = this.#known.size + added.length === nodes.length;
    const gone = isSame ? [] : this.#missingFrom(nodes);
    for (const node of nodes) {
      if (this.#known.has(node.name)) this.zones.ensure(this.now, node);
    }
    for (const node of added) {
      this.#emit(nodeEvent(node, 'RegisteredNode'));
      this.#known.set(node.name, node);
      this.zones.ensure(this.now, node);
      yield* this.#enforcement.release(node);
    }
    for (const node of gone) {
      this.#emit(nodeEvent(node, 'RemovingNode'));
      this.#known.delete(node.name);
    }
  }

  #missingFrom(nodes: readonly Node[]): readonly Node[] {
    const listed = new Set(nodes.map(({ name }) => name));
    return [...this.#known.values()].filter(({ name }) => !listed.has(name));
  }

  *#visit(listed: Node, nodeCounts: Map<string, ZoneCounts>): Task {
    const sight = yield* this.#look(listed);
    if (!sight) return;
    const { node, observed, current } = sight;
    if (isCounted(node)) count(nodeCounts, node, current);
    if (current) {
      const entry = this.health.get(node.name) ?? null;
      yield* this.#enforcement.judge(node, { observed, current, entry });
      if (!(yield* this.#followReady(node, observed, current))) {
        this.#unmarked.add(node.name);
        return;
      }
    }
    this.#unmarked.delete(node.name);
  }

  /** Marks pods when this very pass found the node unreachable, or an earlier one could not. */
  *#followReady(node: Node, observed: NodeCondition, current: NodeCondition): Task<boolean> {
    const isUnreachable = current.status !== 'True' && observed.status === 'True';
    if (isUnreachable) this.#emit(nodeEvent(node, 'NodeNotReady'));
    const isOwed = this.#unmarked.has(node.name) && observed.status !== 'True';
    return (
      !(isUnreachable || isOwed) || (yield* this.#markPods([...this.#store.podsOn(node.name)]))
    );
  }

  /** Null: its conditions could not be written, and the pass continues without it. */
  *#look(listed: Node): Task<Sight | null> {
    let node: Node | null = listed;
    for (let attempt = 1; node && attempt <= writeAttemptsMax; attempt++) {
      const { name } = node;
      const known = this.health.get(name) ?? null;
      const look = lookAt(this.now, node, known, this.#store.lease(name), this.#config);
      const { entry, observed, current, write, written } = look;
      this.health.set(name, entry);
      if (!write) return { node, observed, current };
      const ready = readyOf(node.conditions);
      const target = { node: nodeRef(node), conditions: write, seen: ready };
      const outcome = yield* call((id) => ({ kind: 'setNodeConditions', id, ...target }));
      if (outcome.kind === 'done') {
        this.health.set(name, written);
        return { node, observed, current };
      }
      yield* sleep(writePauseMs);
      node = this.#store.node(name);
    }
    return null;
  }

  /** False: some could not be marked. Defect: the Event is written nevertheless. */
  *#markPods(pods: readonly Pod[]): Task<boolean> {
    let isComplete = true;
    for (const pod of pods) {
      if (pod.ready == null || pod.ready === 'False') continue;
      const target = { pod: podRef(pod), blind: true } as const;
      const outcome = yield* call((id) => ({ kind: 'markPodNotReady', id, ...target }));
      if (outcome.kind === 'gone') continue;
      if (outcome.kind !== 'done') isComplete = false;
      this.#emit(podNotReadyEvent(pod));
    }
    return isComplete;
  }

  #restartGracePeriods(nodes: readonly Node[]): void {
    for (const { name } of nodes) {
      const entry = this.health.get(name);
      if (entry) this.health.set(name, { ...entry, probe: this.now, transition: this.now });
    }
  }
}

function isCounted({ labels = {} }: Node): boolean {
  return !Object.hasOwn(labels, excludeLabel);
}

/** The nodes of a zone that count; null: none does. */
function countOf(nodes: readonly Node[]): ZoneCounts | null {
  const counts = new Map<string, ZoneCounts>();
  for (const node of nodes) if (isCounted(node)) count(counts, node, readyOf(node.conditions));
  return [...counts.values()][0] ?? null;
}

function count(
  nodeCounts: Map<string, ZoneCounts>,
  node: Node,
  current: NodeCondition | null,
): void {
  const zone = zoneKey(node.labels ?? {});
  const { ready, notReady } = nodeCounts.get(zone) ?? { ready: 0, notReady: 0 };
  const isReady = current?.status === 'True';
  nodeCounts.set(zone, { ready: ready + Number(isReady), notReady: notReady + Number(!isReady) });
}
