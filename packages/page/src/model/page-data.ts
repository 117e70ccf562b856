// The part of a simulation that its page has: a large cluster has tens of thousands of pods to
// which nothing happens.
import type { NodeTrack, PodTrack, RunDocument, SimulationDocument } from '../simulation.ts';

/**
 * Leaves out the data that no part of the page reads: of pods all but the zones of each workload, of nodes
 * the numbers of their pods, and of given times the reasons as data.
 */
export function pageData(document: SimulationDocument): SimulationDocument {
  return { ...document, runs: document.runs.map(runData) };
}

function runData(run: RunDocument): RunDocument {
  return {
    ...run,
    pods: oneOfEach(run.pods, run.nodes),
    nodes: run.nodes.map((node) => ({ ...node, pods: [] })),
    deadlines: run.deadlines.map((deadline) => ({ ...deadline, reasons: [] })),
  };
}

/** A pod of each workload in each zone. */
function oneOfEach(pods: readonly PodTrack[], nodes: readonly NodeTrack[]): readonly PodTrack[] {
  const zoneOfNode = new Map(nodes.map(({ name, zone }) => [name, zone]));
  const found = new Map<string, PodTrack>();
  for (const pod of pods) {
    const key = `${pod.workload}\0${pod.namespace}\0${zoneOfNode.get(pod.node)}`;
    if (!found.has(key)) found.set(key, { ...pod, states: [] });
  }
  return [...found.values()];
}
