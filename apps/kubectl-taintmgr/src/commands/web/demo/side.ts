// One cluster of the demo: a simulation that is driven piece by piece, with its present state.
import type { Millis } from '@taintmgr/core/time';
import { readPolicyFiles } from '@taintmgr/k8s-adapter/manifests';
import type { DemoNode, DemoSide, Recording, WorkloadTrack } from '@taintmgr/page';
import type { Script, ScriptEvent } from '../../simulate/script/script.ts';
import type { ClusterSource } from '../../simulate/source/source.ts';
import { type Simulation, startSimulation } from '../../simulate/stage/run.ts';
import { demoMsMax } from './scene.ts';

/** Between two looks at how many pods are down. */
const lookEveryMs: Millis = 5_000;
/** The shown part of the past, in seconds. */
const curveSeconds = 1_800;

const seed = 1;

export class Side {
  readonly #rules: DemoSide['rules'];
  readonly #simulation: Simulation;
  #after: Millis = 0;
  #curve: (readonly [at: number, down: number])[] = [[0, 0]];
  #downMax = 0;
  #podMinutesLost = 0;

  constructor(rules: DemoSide['rules'], source: ClusterSource, script: Script) {
    this.#rules = rules;
    const policies = readPolicyFiles([], source.startsAt, script.policies(source.startsAt));
    const semantics = rules === 'taintmgr' ? 'precise' : 'upstream-1.36';
    const options = { source, script, policies, seed, until: demoMsMax, semantics } as const;
    this.#simulation = startSimulation({ ...options, restarts: true });
  }

  /** Plays events now. */
  play(events: readonly ScriptEvent[]): void {
    for (const event of events) this.#simulation.play(event);
  }

  runUntil(after: Millis): void {
    while (this.#after < after) {
      const next = Math.min(after, this.#after + lookEveryMs);
      this.#simulation.runUntil(next);
      this.#look(next);
    }
  }

  #look(at: Millis): void {
    const down = downIn(this.#simulation.result().recording.workloads);
    const [, before] = this.#curve.at(-1) ?? [0, 0];
    this.#podMinutesLost += (before * (at - this.#after)) / 60_000;
    this.#after = at;
    this.#downMax = Math.max(this.#downMax, down);
    if (down === before) return;
    this.#curve.push([at / 1000, down]);
    const from = at / 1000 - curveSeconds;
    const first = this.#curve.findLastIndex(([since]) => since <= from);
    if (first > 0) this.#curve = this.#curve.slice(first);
  }

  view(): DemoSide {
    const { recording } = this.#simulation.result();
    const { workloads, budgets } = recording;
    const down = downIn(workloads);
    const open = recording.deadlines.filter(({ endedAt }) => endedAt === null);
    const [first] = [...open].sort((one, other) => one.dueAt - other.dueAt);
    return {
      rules: this.#rules,
      zones: zonesOf(recording),
      workloads: workloads.map(({ namespace, name, states, serving }) => {
        const budget = budgets.find((one) => one.namespace === namespace && one.name === name);
        return {
          name: `${namespace}/${name}`,
          wanted: states.at(-1)?.wanted ?? 0,
          serving: serving.at(-1)?.pods ?? 0,
          needed: budget?.states.at(-1)?.desired ?? 0,
        };
      }),
      down,
      downMax: Math.max(this.#downMax, down),
      podMinutesLost: this.#podMinutesLost,
      evictions: recording.evictions.length,
      held: recording.holds.filter(({ until }) => until === null).length,
      refused: recording.refusals.reduce((sum, { count }) => sum + count, 0),
      next: first
        ? {
            pod: `${first.namespace}/${first.pod}`,
            node: first.node,
            dueAt: first.dueAt,
            pods: open.length,
          }
        : null,
      curve: this.#curve,
    };
  }
}

function downIn(workloads: readonly WorkloadTrack[]): number {
  return workloads.reduce((sum, { states, serving }) => {
    return sum + Math.max(0, (states.at(-1)?.wanted ?? 0) - (serving.at(-1)?.pods ?? 0));
  }, 0);
}

function zonesOf({ nodes }: Recording): DemoSide['zones'] {
  const zones = new Map<string, DemoNode[]>();
  for (const { name, zone, states, pods } of nodes) {
    const state = states.at(-1);
    const isTainted = state?.taints.some((taint) => taint.endsWith(':NoExecute'));
    const mark = state?.ready !== 'True' ? 'down' : isTainted ? 'tainted' : 'ready';
    const node = { name, mark, pods: pods.at(-1)?.count ?? 0 } as const;
    zones.set(zone, [...(zones.get(zone) ?? []), node]);
  }
  return Array.from(zones, ([name, ofZone]) => ({ name, nodes: ofZone }));
}
