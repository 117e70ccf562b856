import { isDeepStrictEqual } from 'node:util';
import {
  type Command,
  type Labels,
  type Node,
  type Outcome,
  type Pod,
  parseTaint,
} from '@taintmgr/core';
import { resolveLifecycleConfig } from '../../src/lifecycle/config.ts';
import { UpstreamController } from '../../src/lifecycle/upstream/controller.ts';
import type { Task } from '../../src/lifecycle/upstream/tasks.ts';
import { mergeConditions, zoneKey } from '../../src/model/node.ts';
import { Store } from '../../src/store.ts';
import { difference } from './lifecycle-pieces.ts';
import {
  applyTaints,
  conditionFrom,
  conditionVector,
  formatTaintName,
  type VectorCondition,
} from './node-objects.ts';

// Replays recorded histories of the real node-lifecycle controller, procedure by procedure, against
// an API as simple as the recorder's own.

interface VectorPod {
  readonly name: string;
  readonly nodeName: string;
  readonly readyCondition: string | null;
}

type Op =
  | {
      readonly op: 'nodeAdd';
      readonly name: string;
      readonly labels?: Labels;
      readonly creationTimestampMs: number;
      readonly conditions?: readonly VectorCondition[];
      readonly taints?: readonly string[];
      readonly unschedulable?: boolean;
    }
  | { readonly op: 'nodeDelete' | 'leaseDelete'; readonly name: string }
  | {
      readonly op: 'nodeStatus';
      readonly name: string;
      readonly conditions: readonly VectorCondition[];
    }
  | { readonly op: 'nodeUnschedulable'; readonly name: string; readonly unschedulable: boolean }
  | { readonly op: 'nodeTaints'; readonly name: string; readonly taints: readonly string[] }
  | { readonly op: 'nodeLabels'; readonly name: string; readonly labels: Labels }
  | { readonly op: 'leaseRenew'; readonly names: readonly string[] }
  | { readonly op: 'podAdd'; readonly pod: VectorPod }
  | { readonly op: 'podReady'; readonly name: string; readonly status: string };

interface Step {
  readonly atMs: number;
  readonly ops: readonly Op[];
  readonly noExecutePasses: number;
  readonly podPass?: object;
  readonly noSchedulePassBefore?: object;
  readonly monitorPass?: object;
  readonly zonesAfterMonitor: object;
  readonly nodeHealthAfterMonitor: object;
  readonly noSchedulePassAfter?: object;
  readonly noExecute?: object;
}

export interface NodeHealthCase {
  readonly config: Readonly<Record<string, number>>;
  readonly steps: readonly Step[];
}

/** What differs from the recording; null when nothing does. */
export function checkNodeHealth({ config, steps }: NodeHealthCase): string | null {
  const replay = new Replay(config);
  for (const [index, step] of steps.entries()) {
    const differs = replay.step(step);
    if (differs) return `step ${index} at ${step.atMs} ms: ${differs}`;
  }
  return null;
}

/** What a pass did, in the words of the recording. */
interface Deeds {
  readonly taintChanges: { readonly node: string; readonly taints: readonly string[] }[];
  readonly statusWrites: {
    readonly node: string;
    readonly conditions: readonly VectorCondition[];
  }[];
  readonly podsMarkedNotReady: string[];
  readonly events: string[];
}

class Replay {
  readonly #store = new Store();
  readonly #nodes = new Map<string, Node>();
  readonly #pods = new Map<string, Pod>();
  readonly #controller: UpstreamController;
  readonly #interval: number;
  #deeds: Deeds = noDeeds();
  #newPods: string[] = [];
  #uids = 0;

  constructor(config: NodeHealthCase['config']) {
    this.#interval = 100;
    const { evictionLimiterQPS, secondaryEvictionLimiterQPS, ...rest } = config;
    const resolved = resolveLifecycleConfig({
      ...rest,
      nodeEvictionRate: evictionLimiterQPS ?? 0,
      secondaryNodeEvictionRate: secondaryEvictionLimiterQPS ?? 0,
    });
    this.#controller = new UpstreamController(this.#store, resolved, (command) =>
      this.#perform(command),
    );
  }

  step(step: Step): string | null {
    const controller = this.#controller;
    controller.now = step.atMs;
    for (const op of step.ops) this.#apply(step.atMs, op);
    this.#refresh();
    const podPass = this.#newPods.map((name) => controller.podPass(name));
    this.#newPods = [];
    const found = {
      podPass: this.#pass(podPass),
      noSchedulePassBefore: this.#pass(this.#nodePasses()),
      monitorPass: this.#pass([controller.monitorPass(1)]) ?? {},
      nodeHealthAfterMonitor: this.#health(),
      noSchedulePassAfter: undefined as object | undefined,
      zonesAfterMonitor: {},
      noExecute: undefined as object | undefined,
    };
    found.zonesAfterMonitor = this.#zones();
    found.noSchedulePassAfter = this.#pass(this.#nodePasses());
    found.noExecute = this.#noExecute(step);
    return difference(step, found);
  }

  #noExecute({ atMs, noExecutePasses }: Step): object | undefined {
    const changes: object[] = [];
    for (let pass = 0; pass < noExecutePasses; pass++) {
      this.#controller.now = atMs + pass * this.#interval;
      const deeds = this.#pass([this.#controller.enforcePass()]);
      for (const change of deeds?.taintChanges ?? []) {
        changes.push({ atMs: this.#controller.now, ...change });
      }
    }
    return changes.length === 0 ? undefined : { taintChanges: changes };
  }

  #nodePasses(): readonly Task[] {
    return [...this.#nodes.keys()].sort().map((name) => this.#controller.nodePass(name));
  }

  /** Runs procedures to their end; what they did, undefined for nothing. Caches are renewed then. */
  #pass(tasks: readonly Task<unknown>[]): Partial<Deeds> | undefined {
    this.#deeds = noDeeds();
    for (const task of tasks) this.#run(task);
    this.#refresh();
    const last = new Map(this.#deeds.taintChanges.map((change) => [change.node, change]));
    const deeds: Deeds = {
      taintChanges: [...last.values()].sort((a, b) => (a.node < b.node ? -1 : 1)),
      statusWrites: this.#deeds.statusWrites.sort((a, b) => (a.node < b.node ? -1 : 1)),
      podsMarkedNotReady: this.#deeds.podsMarkedNotReady.sort(),
      events: this.#deeds.events.sort(),
    };
    const entries = Object.entries(deeds).filter(([, list]) => list.length > 0);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }

  #run(task: Task<unknown>): void {
    let step = task.next(null);
    while (!step.done) {
      const ask = step.value;
      if (ask.kind === 'join') for (const other of ask.tasks) this.#run(other);
      const outcome = ask.kind === 'call' ? this.#perform(ask.command('')) : null;
      step = task.next(outcome);
    }
  }

  #perform(command: Command): Outcome {
    switch (command.kind) {
      case 'changeTaints': {
        const node = this.#node(command.node.name);
        const taints = applyTaints(node.taints, command.add, command.remove);
        this.#nodes.set(node.name, { ...node, taints });
        const names = taints.map(formatTaintName).sort();
        // The recorder looked at names, not at timeAdded.
        const before = node.taints.map(formatTaintName).sort();
        if (!isDeepStrictEqual(names, before)) {
          this.#deeds.taintChanges.push({ node: node.name, taints: names });
        }
        break;
      }
      case 'setNodeConditions': {
        const node = this.#node(command.node.name);
        const conditions = mergeConditions(node.conditions ?? [], command.conditions);
        this.#nodes.set(node.name, { ...node, conditions });
        this.#deeds.statusWrites.push({
          node: node.name,
          conditions: conditions.map(conditionVector),
        });
        break;
      }
      case 'markPodNotReady': {
        const pod = this.#pods.get(command.pod.name);
        if (pod) this.#pods.set(pod.name, { ...pod, ready: 'False' });
        this.#deeds.podsMarkedNotReady.push(command.pod.name);
        break;
      }
      case 'recordNodeEvent':
        this.#deeds.events.push(`${command.reason} node/${command.node.name}`);
        break;
      case 'recordEvent':
        this.#deeds.events.push(`${command.reason} pod/${command.pod.name}`);
        break;
      default:
        throw new Error(`the recording knows no ${command.kind}`);
    }
    return { kind: 'done' };
  }

  #node(name: string): Node {
    const node = this.#nodes.get(name);
    if (!node) throw new Error(`there is no node ${name}`);
    return node;
  }

  #apply(at: number, op: Op): void {
    switch (op.op) {
      case 'nodeAdd': {
        const { name, labels = {}, conditions = [], taints = [], unschedulable = false } = op;
        const node = { name, uid: `uid-${++this.#uids}`, labels, unschedulable };
        this.#nodes.set(name, {
          ...node,
          createdAt: op.creationTimestampMs,
          conditions: conditions.map(conditionFrom),
          taints: taints.map(taintOf),
        });
        return;
      }
      case 'nodeDelete':
        this.#nodes.delete(op.name);
        this.#controller.nodeDeleted(op.name);
        return;
      case 'leaseDelete':
        this.#store.apply(0, { kind: 'leaseDelete', nodeName: op.name });
        return;
      case 'leaseRenew':
        for (const nodeName of op.names) {
          this.#store.apply(0, { kind: 'leaseUpsert', lease: { nodeName, renewedAt: at } });
        }
        return;
      case 'podAdd':
        this.#pods.set(op.pod.name, podFrom(op.pod));
        this.#newPods.push(op.pod.name);
        return;
      case 'podReady': {
        const pod = this.#pods.get(op.name);
        if (pod) this.#pods.set(op.name, { ...pod, ready: op.status });
        return;
      }
      default:
        this.#nodes.set(op.name, { ...this.#node(op.name), ...changeOf(op) });
    }
  }

  #refresh(): void {
    for (const { name } of [...this.#store.nodes()]) {
      if (!this.#nodes.has(name)) this.#store.apply(0, { kind: 'nodeDelete', name });
    }
    for (const node of this.#nodes.values()) this.#store.apply(0, { kind: 'nodeUpsert', node });
    for (const pod of this.#pods.values()) this.#store.apply(0, { kind: 'podUpsert', pod });
  }

  #health(): object {
    const entries = [...this.#nodes.keys()].sort().flatMap((name) => {
      const entry = this.#controller.health.get(name);
      return entry ? [[name, [entry.probe, entry.transition]]] : [];
    });
    return Object.fromEntries(entries);
  }

  #zones(): object {
    const { states, queues } = this.#controller.zones;
    const present = new Set([...this.#nodes.values()].map(({ labels = {} }) => zoneKey(labels)));
    const entries = [...queues]
      .filter(([zone]) => present.has(zone))
      .map(([zone, queue]) => {
        const state = states.get(zone);
        const { kind, qps } = queue.limiter;
        const queued = [...queue.queued]
          .sort((a, b) => a.processAt.at - b.processAt.at || a.processAt.nanos - b.processAt.nanos)
          .map(({ value }) => value);
        const limiter =
          kind === 'tokenBucket' ? { kind, qps: Number(qps.toPrecision(6)) } : { kind };
        return [zone, { ...(state && { state }), limiter, ...(queued.length > 0 && { queued }) }];
      });
    return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
  }
}

function noDeeds(): Deeds {
  return { taintChanges: [], statusWrites: [], podsMarkedNotReady: [], events: [] };
}

function changeOf(
  op: Extract<Op, { op: 'nodeStatus' | 'nodeUnschedulable' | 'nodeTaints' | 'nodeLabels' }>,
): Partial<Node> {
  switch (op.op) {
    case 'nodeStatus':
      return { conditions: op.conditions.map(conditionFrom) };
    case 'nodeUnschedulable':
      return { unschedulable: op.unschedulable };
    case 'nodeTaints':
      return { taints: op.taints.map(taintOf) };
    case 'nodeLabels':
      return { labels: op.labels };
  }
}

function taintOf(text: string): Node['taints'][number] {
  return { ...parseTaint(text), timeAdded: null };
}

function podFrom({ name, nodeName, readyCondition }: VectorPod): Pod {
  return {
    namespace: 'default',
    name,
    uid: name,
    nodeName,
    tolerations: [],
    boundAt: null,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 0,
    mirror: false,
    owner: null,
    hasEmptyDir: false,
    ready: readyCondition,
  };
}
