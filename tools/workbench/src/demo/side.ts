// A side of the demo: a simulation that runs step by step, and its present state.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Millis } from '@taintmgr/core/time';
import { readPolicyFiles } from '@taintmgr/k8s-adapter/manifests';
import {
  type RunResult,
  withSummary,
} from '@taintmgr/kubectl-taintmgr/src/commands/simulate/result/documents.ts';
import { readScript } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/script/script.ts';
import { readSource } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/source/read.ts';
import type { ClusterSource } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/source/source.ts';
import {
  type RunOptions,
  type Simulation,
  startSimulation,
} from '@taintmgr/kubectl-taintmgr/src/commands/simulate/stage/run.ts';
import type { Recording, Summary } from '@taintmgr/page';
import { hour } from './story.ts';

/** The state of a node. */
type NodeMark = 'ready' | 'tainted' | 'down';

interface ZoneView {
  readonly name: string;
  readonly nodes: readonly NodeMark[];
}

export interface WorkloadView {
  readonly name: string;
  readonly wanted: number;
  /** Pods that really serve: none of a machine that is dead. */
  readonly serving: number;
  /** The minimum of its budget; null: it has none. */
  readonly needed: number | null;
}

/** Pods of a workload on a node that have some time left. */
export interface DeadlineView {
  readonly workload: string;
  readonly node: string;
  readonly pods: number;
  /** Seconds, and how many they were given at first. */
  readonly left: number;
  readonly given: number;
}

/** From `at`, in seconds, so many pods are down. */
interface DownStep {
  readonly at: number;
  readonly pods: number;
}

/** A side at one moment. */
export interface SideView {
  /** Seconds since the beginning. */
  readonly now: number;
  readonly zones: readonly ZoneView[];
  readonly workloads: readonly WorkloadView[];
  readonly deadlines: readonly DeadlineView[];
  /** Pods of these workloads that were down, from the beginning. */
  readonly down: readonly DownStep[];
  readonly evicted: number;
  readonly held: number;
  readonly refused: number;
}

/** A cluster and whose rules decide in it. */
export class Side {
  readonly title: string;
  readonly #name: string;
  readonly #simulation: Simulation;
  /** The seconds that each pod was given when its deadline was first seen. */
  readonly #given = new Map<string, number>();
  #after: Millis = 0;

  /** `name`: what the run is called on the page. Throws FaultyFile. */
  constructor(title: string, name: string, options: RunOptions) {
    this.title = title;
    this.#name = name;
    this.#simulation = startSimulation(options);
  }

  runUntil(after: Millis): void {
    this.#simulation.runUntil(after);
    this.#after = after;
  }

  /** All that has happened so far. */
  get recording(): Recording {
    return this.#simulation.result().recording;
  }

  /** The sums so far. */
  summary(): Summary {
    return this.result().summary;
  }

  result(): RunResult {
    return withSummary(this.#simulation.result(), this.#after, this.#name);
  }

  view(): SideView {
    const { recording } = this;
    return {
      now: this.#after / 1000,
      zones: zonesOf(recording),
      workloads: workloadsOf(recording),
      deadlines: this.#deadlines(recording),
      down: downOf(recording),
      evicted: recording.evictions.length,
      held: recording.holds.filter(({ until }) => until === null).length,
      refused: recording.refusals.reduce((sum, { count }) => sum + count, 0),
    };
  }

  #deadlines({ deadlines }: Recording): readonly DeadlineView[] {
    const now = this.#after / 1000;
    const groups = new Map<string, DeadlineView>();
    for (const { namespace, pod, workload, node, setAt, dueAt, endedAt } of deadlines) {
      const name = `${namespace}/${pod}`;
      if (endedAt !== null) continue;
      const given = Math.max(this.#given.get(name) ?? 0, dueAt - setAt);
      this.#given.set(name, given);
      const key = `${workload}\0${node}`;
      const pods = (groups.get(key)?.pods ?? 0) + 1;
      const left = Math.max(0, dueAt - now);
      groups.set(key, { workload: nameIn(workload), node, pods, left, given });
    }
    return [...groups.values()].sort((a, b) => a.left - b.left);
  }
}

/** `Deployment shop/web` is `shop/web`. */
export function nameIn(workload: string | null): string {
  return workload?.split(' ').at(-1) ?? 'pods';
}

function zonesOf({ nodes }: Recording): readonly ZoneView[] {
  const zones = new Map<string, NodeMark[]>();
  for (const { zone, states } of nodes) {
    const state = states.at(-1);
    if (!state || state.ready === 'Gone') continue;
    const name = zone.split('/').at(-1) ?? zone;
    const isTainted = state.taints.some((taint) => taint.endsWith(':NoExecute'));
    const mark = state.ready !== 'True' ? 'down' : isTainted ? 'tainted' : 'ready';
    zones.set(name, [...(zones.get(name) ?? []), mark]);
  }
  return Array.from(zones, ([name, marks]) => ({ name, nodes: marks }));
}

/** Workloads that a budget protects: node agents and pods that cannot move are no news. */
function workloadsOf(recording: Recording): readonly WorkloadView[] {
  return protectedOf(recording).map(
    ({ workload: { namespace, name, states, serving }, budget }) => ({
      name: `${namespace}/${name}`,
      wanted: states.at(-1)?.wanted ?? 0,
      serving: serving.at(-1)?.pods ?? 0,
      needed: budget.states.at(-1)?.desired ?? null,
    }),
  );
}

function protectedOf({ workloads, budgets }: Recording) {
  return workloads.flatMap((workload) => {
    const { namespace, name } = workload;
    const budget = budgets.find((one) => one.namespace === namespace && one.name === name);
    return budget ? [{ workload, budget }] : [];
  });
}

function downOf(recording: Recording): readonly DownStep[] {
  const changes = protectedOf(recording).flatMap(({ workload: { states, serving } }) => {
    const wanted = states.at(-1)?.wanted ?? 0;
    return serving.map(({ at, pods }, index) => {
      const before = serving[index - 1];
      return { at, more: (before?.pods ?? wanted) - pods };
    });
  });
  let pods = 0;
  return changes
    .sort((a, b) => a.at - b.at)
    .map(({ at, more }) => {
      pods += more;
      return { at, pods };
    });
}

export const root = fileURLToPath(new URL('../../../../', import.meta.url));
export const files = {
  topology: 'docs/scenarios/three-zones.yaml',
  script: 'docs/scenarios/demo.yaml',
};

export interface Sides {
  readonly source: ClusterSource;
  /** Under kube-controller-manager's rules. */
  readonly left: Side;
  /** Under ours. */
  readonly right: Side;
}

export async function startSides(seed: number): Promise<Sides> {
  const read = await readSource([join(root, files.topology)]);
  const script = readScript(files.script, await readFile(join(root, files.script), 'utf8'), hour);
  const policies = readPolicyFiles([], read.startsAt, script.policies(read.startsAt));
  const source = { ...read, name: files.topology };
  const shared = { source, script, policies, seed, until: hour };
  const upstream = { ...shared, semantics: 'upstream-1.36' } as const;
  return {
    source,
    left: new Side('kube-controller-manager', 'kube-controller-manager', upstream),
    right: new Side('taintmgr', 'taintmgr', { ...shared, semantics: 'precise' }),
  };
}
