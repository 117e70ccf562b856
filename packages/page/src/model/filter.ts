// The shown part of a simulation or a live cluster: pods of a namespace, a zone, with an outcome; only harm.

import type { LiveInput, LivePod } from '../live.ts';
import type { PageInput, PodOnNode, RunDocument } from '../simulation.ts';
import { workloadKey } from './workloads.ts';

/** '': no choice. */
export interface Filter {
  readonly namespace: string;
  readonly zone: string;
  /** The name of an outcome. */
  readonly outcome: string;
  /** Without those to which nothing happens. */
  readonly isHarmOnly: boolean;
}

export const noFilter: Filter = { namespace: '', zone: '', outcome: '', isHarmOnly: false };

type Choices = readonly (readonly [name: string, text: string])[];

/** The outcomes of a pod in a simulation. */
export const outcomes: Choices = [
  ['evicted', 'evicted'],
  ['refused', 'blocked by a budget'],
  ['held', 'held by a limit or a pause'],
  ['called-off', 'called off'],
  ['no-room', 'without room'],
  ['failed', 'request failed'],
];

/** The progress of a pod of a live cluster. */
export const liveOutcomes: Choices = [
  ['Evict', 'to be evicted'],
  ['blocked', 'held or blocked'],
  ['Held', 'held by a pause'],
  ['Unknown', 'unknown'],
  ['Terminating', 'terminating'],
  ['left', 'gone'],
];

/** Names in order, each once; '' is none. */
function names(all: readonly string[]): readonly string[] {
  return [...new Set(all)].filter((name) => name !== '').sort();
}

/** The namespaces and zones that there are. */
export function placesOf({ runs }: PageInput): {
  readonly namespaces: readonly string[];
  readonly zones: readonly string[];
} {
  return {
    namespaces: names(runs.flatMap((run) => run.workloads.map(({ namespace }) => namespace))),
    zones: names(runs.flatMap((run) => run.nodes.map(({ zone }) => zone))),
  };
}

export function livePlacesOf({ pods, nodes, record }: LiveInput): ReturnType<typeof placesOf> {
  const all = [...pods, ...record.evictions];
  return {
    namespaces: names(all.map(({ namespace }) => namespace)),
    zones: names(nodes.map(({ zone }) => zone)),
  };
}

interface PodId {
  readonly namespace: string;
  readonly pod: string;
}

function keyOf({ namespace, pod }: PodId): string {
  return `${namespace}/${pod}`;
}

/** The part about pods, workloads and nodes that match. */
export function filtered(input: PageInput, filter: Filter): PageInput {
  if (filter.namespace === '' && filter.zone === '' && filter.outcome === '') return input;
  return { ...input, runs: input.runs.map((run) => filteredRun(run, filter)) };
}

function filteredRun(run: RunDocument, { namespace, zone, outcome }: Filter): RunDocument {
  const inZone = new Set(run.nodes.flatMap((node) => (node.zone === zone ? node.name : [])));
  const withOutcome = new Set(podsOf(run, outcome).map(keyOf));
  const isMeant = (pod: PodId & { readonly node?: string }): boolean =>
    (namespace === '' || pod.namespace === namespace) &&
    (zone === '' || pod.node === undefined || inZone.has(pod.node)) &&
    (outcome === '' || withOutcome.has(keyOf(pod)));
  const kept = {
    deadlines: run.deadlines.filter(isMeant),
    evictions: run.evictions.filter(isMeant),
    holds: run.holds.filter(isMeant),
    refusals: run.refusals.filter(isMeant),
    failures: run.failures.filter(isMeant),
    // A pod without room is in no zone.
    unplaced: zone === '' ? run.unplaced.filter(isMeant) : [],
  };
  const pods: readonly { readonly workload: string | null }[] =
    outcome === '' ? run.pods.filter(isMeant) : Object.values(kept).flat();
  const workloads = new Set(pods.map(({ workload }) => workload));
  const nodes = new Set(Object.values(kept).flatMap((list) => list.flatMap(nodeOf)));
  const isNodeMeant = (name: string): boolean =>
    (zone === '' || inZone.has(name)) && (outcome === '' || nodes.has(name));
  const { summary } = run;
  const ofMeant = <One extends { readonly workload: string | null }>(one: One): boolean =>
    one.workload === null ? namespace === '' : workloads.has(one.workload);
  return {
    ...run,
    ...kept,
    workloads: run.workloads.filter((one) => workloads.has(workloadKey(one))),
    nodes: run.nodes.filter(({ name }) => isNodeMeant(name)),
    summary: {
      ...summary,
      workloads: summary.workloads.filter((one) => workloads.has(workloadKey(one))),
      causes: summary.causes.filter(ofMeant),
      // Sums of namespaces are of all zones, and those of zones of all namespaces.
      namespaces: summary.namespaces.filter(({ name }) => {
        return zone === '' && outcome === '' && (namespace === '' || name === namespace);
      }),
      zones: summary.zones.filter(({ name }) => {
        return namespace === '' && outcome === '' && (zone === '' || name === zone);
      }),
    },
  };
}

function nodeOf(pod: object): readonly string[] {
  return 'node' in pod && typeof pod.node === 'string' ? [pod.node] : [];
}

/** The pods of which that came. */
function podsOf(run: RunDocument, outcome: string): readonly PodId[] {
  switch (outcome) {
    case 'evicted':
      return run.evictions;
    case 'refused':
      return run.refusals;
    case 'held':
      return run.holds;
    case 'called-off':
      return run.deadlines.filter(({ end }) => end === 'cancelled');
    case 'no-room':
      return run.unplaced;
    case 'failed':
      return run.failures;
    default:
      return [];
  }
}

/** The same of a live cluster. */
export function liveFiltered(input: LiveInput, filter: Filter): LiveInput {
  const { namespace, zone, outcome } = filter;
  if (namespace === '' && zone === '' && outcome === '') return input;
  const { record } = input;
  const nodes = new Set(
    record.nodes.flatMap((node) => (zone === '' || node.zone === zone ? node.name : [])),
  );
  // A node from which a pod left may have been gone before the page was opened.
  const isPlaced = (pod: PodOnNode): boolean =>
    (namespace === '' || pod.namespace === namespace) && (zone === '' || nodes.has(pod.node));
  const isLeft = outcome === '' || outcome === 'left';
  return {
    ...input,
    pods: input.pods.filter((pod) => isPlaced(pod) && hasState(pod, outcome)),
    zones: input.zones.filter(({ name }) => zone === '' || name === zone),
    record: {
      ...record,
      nodes: record.nodes.filter(({ name }) => nodes.has(name)),
      deadlines: record.deadlines.filter(isPlaced),
      holds: record.holds.filter(isPlaced),
      evictions: isLeft ? record.evictions.filter(isPlaced) : [],
    },
  };
}

function hasState({ state, holds }: LivePod, outcome: string): boolean {
  if (outcome === '') return true;
  return outcome === 'blocked' ? holds.length > 0 : state === outcome;
}
