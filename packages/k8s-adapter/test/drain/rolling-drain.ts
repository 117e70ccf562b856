// A rolling drain of sixty nodes in three waves, with everything in its way, and who watches it.

import { ServedCluster } from '@taintmgr/api-server';
import { NodeDrainCheckers } from '@taintmgr/oracle';
import {
  deployment,
  type KubeObject,
  pdb,
  statefulSet,
  type Topology,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import type { Controller } from '../seeds/controller.ts';
import { Draw } from '../seeds/draw.ts';
import { deleteDrains, nodeDrains } from '../seeds/node-drain-script.ts';
import { installKinds } from '../seeds/own-kinds.ts';
import { Stage, start } from '../seeds/stage.ts';

const second = 1000;
const minute = 60_000;
/**
 * A status is written once a second, when the answer to the one before has come. Less than this would ask
 * that a write never takes longer than the second in which it was begun.
 */
const lagMs = 3 * second;
/** Another leader waits until the lease is over (15 s), tries every 2 s, and reads everything first. */
const leaderlessMs = 30 * second;
/** Without requests of its own, so that a leader that was cut off has time to find out. */
const recoveryMs = 40 * second;

const topology: Topology = {
  region: 'r',
  zones: ['a', 'b', 'c', 'spare'],
  nodesPerZone: 20,
  workloads: [
    deployment('shop', 'web', { replicas: 60 }),
    deployment('shop', 'api', { replicas: 20 }),
    statefulSet('shop', 'db', { replicas: 6 }),
  ],
  budgets: [
    pdb('shop', 'web', { maxUnavailable: 3 }),
    pdb('shop', 'api', { maxUnavailable: 1 }),
    // Nobody of these may go, until somebody relaxes it.
    pdb('shop', 'db', { minAvailable: 6 }),
  ],
};

const spec = {
  nodeSelector: { matchLabels: { pool: 'old' } },
  taint: { key: 'maintenance', value: 'kernel' },
  cordon: 'AtTurn',
  waves: [
    { name: 'canary', nodeSelector: { matchLabels: { ring: '0' } }, nodesAtOnce: 2 },
    { name: 'early', nodeSelector: { matchLabels: { ring: '1' } } },
    { name: 'rest', nodeSelector: { matchLabels: { ring: '2' } } },
  ],
  limits: { nodesAtOnce: '15%', heldUpNodes: 2 },
};

/** The nodes of each wave, how many go at once, and what the status calls it. */
const waves = [
  { name: 'canary', size: 6, atOnce: 2 },
  { name: 'early', size: 21, atOnce: 3 },
  { name: 'rest', size: 33, atOnce: 4 },
] as const;

/** What came of it. */
export interface RollingDrain {
  readonly faults: readonly string[];
  readonly took: number;
  readonly crashes: number;
  readonly looks: number;
}

interface Truth {
  readonly at: number;
  readonly left: number;
}

/** One run, drawn from a seed. */
export class RollingStory {
  readonly #clock = new VirtualClock(start);
  readonly #cluster: ServedCluster;
  readonly #checkers: NodeDrainCheckers;
  readonly #stage: Stage;
  readonly #draw: Draw;
  readonly #faults: string[] = [];
  /** Pods that have still to leave, at each look of late. */
  #truths: Truth[] = [];
  /** The nodes that the status does not say to be drained. */
  #open: ReadonlySet<string> = new Set();
  /** Until then the status may be older than usual. */
  #excusedUntil = 0;
  #looks = 0;
  /** Which wave a node is in. */
  readonly #rings = new Map<string, number>();
  readonly #tainted = new Set<string>();
  /** As they are now, by their uids. */
  readonly #pods = new Map<string, KubeObject>();

  constructor(seed: number) {
    const clock = this.#clock;
    this.#draw = new Draw(seed, 1);
    this.#cluster = new ServedCluster({ clock, seed, topology });
    this.#checkers = new NodeDrainCheckers(this.#cluster.api);
    this.#cluster.api.subscribe(({ resource, type, object }) => {
      if (resource !== 'pods') return;
      const { uid = '' } = object.metadata;
      if (type === 'DELETED') this.#pods.delete(uid);
      else this.#pods.set(uid, object);
      this.#sample();
    });
    const { apiHistory } = this.#checkers;
    const config = { mode: 'evict', taintEviction: false, nodeDrains: true } as const;
    this.#stage = new Stage({
      ...{ seed, clock, apiHistory, cluster: this.#cluster, purpose: 2, sabotage: {} },
      ...{ pauses: null, pressure: null, takeover: null },
      cast: {
        ...{ topology, config, replicas: 3, nodeDrains: true },
        ...{ evictions: null, lifecycle: null, pressure: null },
      },
    });
  }

  run(): RollingDrain {
    const api = this.#cluster.api;
    this.#cluster.start();
    installKinds(api);
    for (const controller of this.#stage.controllers) this.#stage.start(controller);
    this.#stage.passUntil(start + minute);
    const old = api.list('nodes').filter(({ metadata }) => !metadata.name.startsWith('spare'));
    const rings = waves.flatMap(({ size }, ring) => Array.from({ length: size }, () => ring));
    for (const node of old) {
      const [ring = 0] = rings.splice(this.#draw.between(0, rings.length - 1), 1);
      this.#rings.set(node.metadata.name, ring);
      const labels = { ...node.metadata.labels, pool: 'old', ring: String(ring) };
      api.update('nodes', { ...node, metadata: { ...node.metadata, labels } });
    }
    api.create(nodeDrains, {
      ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'NodeDrain' },
      ...{ metadata: { name: 'kernel' }, spec },
    });
    const began = this.#clock.now();
    this.#excusedUntil = began + lagMs;
    const crashes = this.#play(began);
    const took = this.#clock.now() - began;
    this.#end();
    const { violations } = this.#checkers;
    const broken = violations.map(({ invariant, evidence }) => `${invariant}: ${evidence}`);
    return { faults: [...this.#faults, ...broken], took, crashes, looks: this.#looks };
  }

  /** Second by second, with trouble at moments that are drawn; how often the leader was killed. */
  #play(began: number): number {
    const moments = this.#moments(began);
    let crashes = 0;
    let after = 0;
    while (this.#clock.now() < began + 20 * minute && after < 10) {
      const now = this.#clock.now();
      for (const [at, act] of moments) {
        if (at <= now && at > now - second) crashes += act();
      }
      this.#stage.passUntil(now + second);
      this.#look();
      if (this.#status()?.phase === 'Drained') after += 1;
    }
    if (after === 0) this.#fault(`not drained: ${JSON.stringify(this.#status())}`);
    return crashes;
  }

  /** Two failovers, a process that is killed and starts anew, an outage, and a budget that is relaxed. */
  #moments(began: number): readonly (readonly [at: number, act: () => number])[] {
    const at = (): number => began + this.#draw.between(2, 150) * second;
    return [
      [at(), () => this.#kill(false)],
      [at(), () => this.#kill(false)],
      [at(), () => this.#kill(true)],
      [at(), () => this.#outage()],
      [began + this.#draw.between(60, 240) * second, () => this.#relax()],
    ];
  }

  /** The process of the leader is gone; another leads, or the same one when it is back. */
  #kill(isBack: boolean): number {
    const lease = this.#cluster.api.get('leases', 'kube-system', 'taintmgr-controller');
    const holder: string = lease?.spec.holderIdentity ?? '';
    const index = Number(/^replica-(\d)/.exec(holder)?.[1] ?? 1) - 1;
    const controller: Controller | undefined = this.#stage.controllers[index];
    if (!controller || controller.state === 'down') return 0;
    controller.crash();
    this.#excuse(leaderlessMs);
    const wait = isBack ? 0 : 30 * second;
    this.#clock.after(wait, () => this.#stage.start(controller));
    return 1;
  }

  #outage(): number {
    const { faults } = this.#cluster.api;
    faults.down = true;
    const length = this.#draw.between(5, 60) * second;
    this.#clock.after(length, () => {
      faults.down = false;
    });
    this.#excuse(length + recoveryMs);
    return 0;
  }

  #relax(): number {
    const api = this.#cluster.api;
    const budget = api.get('poddisruptionbudgets', 'shop', 'db');
    if (budget) {
      const { minAvailable: _, ...others } = budget.spec;
      api.update('poddisruptionbudgets', { ...budget, spec: { ...others, maxUnavailable: 1 } });
    }
    return 0;
  }

  #excuse(length: number): void {
    this.#excusedUntil = Math.max(this.#excusedUntil, this.#clock.now() + length);
  }

  /** What anybody sees who looks at the cluster now, held against what the status says. */
  #look(): void {
    this.#looks += 1;
    this.#budgets();
    this.#order();
    const now = this.#clock.now();
    const status = this.#status();
    const pods = [...this.#pods.values()].filter(({ spec: { nodeName } }) => nodeName);
    const states: readonly NodeState[] = status?.nodeStates ?? [];
    this.#open = new Set(states.flatMap(({ name, phase }) => (phase === 'Drained' ? [] : name)));
    for (const { name, phase, endedAt = '' } of states) {
      if (phase !== 'Drained') continue;
      const left = pods.find(
        ({ spec: { nodeName }, metadata }) =>
          nodeName === name && Date.parse(metadata.creationTimestamp ?? '') < Date.parse(endedAt),
      );
      if (left) this.#fault(`${name} is said to be drained, and has ${left.metadata.name}`);
    }
    this.#sample();
    this.#truths = this.#truths.filter(({ at }) => at > now - lagMs);
    if (now < this.#excusedUntil || !status) {
      if (!status && now >= this.#excusedUntil) this.#fault('there is no status');
      return;
    }
    this.#wave(status);
    const counts = this.#truths.map(({ left }) => left);
    const isTrue = status.podsLeft >= Math.min(...counts) && status.podsLeft <= Math.max(...counts);
    if (!isTrue) {
      const seen = [...new Set(counts)].join(', ');
      this.#fault(`podsLeft is ${status.podsLeft}, and was ${seen}`);
    }
  }

  /** How many pods have still to leave, as the API server has it; between two looks pods come and go. */
  #sample(): void {
    const left = Array.from(this.#pods.values()).filter(({ spec: { nodeName } }) => {
      return this.#open.has(nodeName ?? '');
    });
    this.#truths.push({ at: this.#clock.now(), left: left.length });
  }

  /** No wave begins before the one before is empty, and no more nodes of it at once than it may have. */
  #order(): void {
    const nodes = this.#cluster.api.list('nodes');
    const full = new Set(Array.from(this.#pods.values(), ({ spec }) => spec.nodeName));
    for (const { metadata, spec } of nodes) {
      const isTainted = spec.taints?.some(
        ({ key }: { readonly key: string }) => key === 'maintenance',
      );
      if (!isTainted || this.#tainted.has(metadata.name)) continue;
      this.#tainted.add(metadata.name);
      const ring = this.#rings.get(metadata.name) ?? -1;
      const early = [...this.#rings].filter(([, one]) => one < ring).map(([name]) => name);
      const open = early.find((name) => !this.#tainted.has(name) || full.has(name));
      if (open)
        this.#fault(`${metadata.name} has begun, and ${open} of an earlier wave is not done`);
    }
    for (const [ring, { name, atOnce }] of waves.entries()) {
      const begun = [...this.#tainted].filter(
        (one) => this.#rings.get(one) === ring && full.has(one),
      );
      // Two more may be held up.
      if (begun.length > atOnce + 2) this.#fault(`${name}: ${begun.join(', ')} at once`);
    }
  }

  /** The wave that the status names is that of the nodes that are under way. */
  #wave({ wave, nodeStates = [] }: { wave?: string; nodeStates?: NodeState[] }): void {
    const open = nodeStates.filter(({ phase }) => phase === 'Draining').map(({ name }) => name);
    const meant = open.find((name) => waves[this.#rings.get(name) ?? 0]?.name !== wave);
    if (meant) this.#fault(`the wave is said to be ${wave}, and ${meant} is drained`);
  }

  /** Of no workload fewer pods are ready than its budget wants. */
  #budgets(): void {
    const api = this.#cluster.api;
    const pods = [...this.#pods.values()];
    for (const budget of api.list('poddisruptionbudgets')) {
      const { app } = budget.spec.selector.matchLabels;
      const ready = pods.filter((pod) => pod.metadata.labels?.app === app && isReady(pod)).length;
      const { maxUnavailable, minAvailable } = budget.spec;
      const wanted = replicas[app] ?? 0;
      const least = minAvailable ?? wanted - maxUnavailable;
      if (ready < least) this.#fault(`${app}: ${ready} ready, ${least} wanted`);
    }
  }

  #status(): KubeObject['status'] {
    return this.#cluster.api.get(nodeDrains, '', 'kernel')?.status;
  }

  #end(): void {
    const api = this.#cluster.api;
    this.#checkers.atRest();
    const closed = api.list('nodes').filter(({ spec: { unschedulable } }) => unschedulable).length;
    if (closed !== 60) this.#fault(`${closed} nodes are cordoned`);
    deleteDrains({ api, stage: this.#stage, now: () => this.#clock.now() });
    this.#checkers.atGone();
  }

  #fault(text: string): void {
    const at = (this.#clock.now() - start) / second;
    this.#faults.push(`${at} s: ${text}`);
  }
}

const replicas: Readonly<Record<string, number>> = { web: 60, api: 20, db: 6 };

interface NodeState {
  readonly name: string;
  readonly phase: string;
  readonly endedAt?: string;
}

function isReady({ metadata, status }: KubeObject): boolean {
  const conditions: readonly { readonly type: string; readonly status: string }[] =
    status?.conditions ?? [];
  if (metadata.deletionTimestamp) return false;
  return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
}
