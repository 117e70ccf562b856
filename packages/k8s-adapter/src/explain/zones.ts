// The state of the zones of a cluster, in numbers.
import { zoneName } from '@taintmgr/core';
import { resolveLifecycleConfig, zoneState } from '@taintmgr/core/lifecycle';
import { earliest, type Instant, type Millis } from '@taintmgr/core/time';
import { losingPods } from '../survey/drained-nodes.ts';
import type { Evictor } from '../survey/evictors.ts';
import type { NodeFacts } from '../survey/facts.ts';
import { groupBy } from '../text/count.ts';
import { isPaused, isUnknown, type NodeReport, type PodReport, runningWaits } from './report.ts';

/** A pod that should have ended this long ago is stuck. */
const stuckAfterMs: Millis = 60_000;

/** The state of one zone, and the numbers of its nodes and pods. */
export interface ZoneCounts {
  /** `region/zone`. */
  readonly name: string;
  /** `Initial`, `Normal`, `PartialDisruption` or `FullDisruption`, as kube-controller-manager judges it. */
  readonly state: string;
  /** The number of nodes. */
  readonly nodes: number;
  /** The number of nodes that are not Ready. */
  readonly notReady: number;
  /** Nodes with NoExecute taints. */
  readonly tainted: number;
  /** Pods that have to leave, and of those the ones that should have left. */
  readonly pending: number;
  /** Pods that should have left. */
  readonly overdue: number;
  /** Pods that pauses hold. */
  readonly held: number;
  /** Pods that are due and that something would hold back. */
  readonly blocked: number;
  /** Pods that should have ended and have not. */
  readonly stuck: number;
  /** Pods that taintmgr-controller keeps as its last ready replica; left out: none. */
  readonly lastReplicas?: number;
  /** Pods whose fate is unknown; left out: none. */
  readonly unknown?: number;
  /** Time left to the next that goes; null: none does. */
  readonly next: Millis | null;
}

/** The zone that a node is in, as its labels have it: `region/zone`. */
export function zoneOf({ node }: NodeFacts): string {
  return zoneName(node.labels ?? {}) || (node.zone ?? '');
}

/** Counts the readings, zone by zone in the order of their names. */
export function zonesIn(
  { at, evictor }: { readonly at: Instant; readonly evictor: Evictor },
  nodes: readonly NodeFacts[],
  reports: readonly NodeReport[],
): readonly ZoneCounts[] {
  const byName = new Map(reports.map((report) => [report.facts.node.name, report] as const));
  const { settings } = evictor;
  const { unhealthyZoneThreshold } = resolveLifecycleConfig(
    settings?.watchesNodes ? settings.lifecycle : {},
  );
  const inOrder = [...groupBy(nodes, zoneOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  return inOrder.map(([name, members]) => {
    const pods = members.flatMap(({ node }) => byName.get(node.name)?.pods ?? []);
    return zoneCounts(at, name, members, pods, unhealthyZoneThreshold);
  });
}

function zoneCounts(
  at: Instant,
  name: string,
  nodes: readonly NodeFacts[],
  pods: readonly PodReport[],
  unhealthyZoneThreshold: number,
): ZoneCounts {
  const notReady = nodes.filter(({ ready }) => ready.status !== 'True').length;
  const waits = runningWaits(pods);
  const isDue = ({ explanation }: PodReport): boolean =>
    !isPaused({ explanation }) && explanation.remaining !== null && explanation.remaining < 1000;
  const isStuck = ({ facts: { pod } }: PodReport): boolean =>
    pod.deletionTimestamp !== null && at - pod.deletionTimestamp > stuckAfterMs;
  const lastReplicas = pods.filter(isLastReplica).length;
  const unknown = pods.filter(isUnknown).length;
  return {
    name,
    state: zoneState({ ready: nodes.length - notReady, notReady }, unhealthyZoneThreshold),
    nodes: nodes.length,
    notReady,
    tainted: losingPods(nodes, at).length,
    pending: waits.length,
    overdue: waits.filter((wait) => wait <= -1000).length,
    held: pods.filter(isPaused).length,
    blocked: pods.filter((pod) => isDue(pod) && pod.blockers.length > 0).length,
    stuck: pods.filter(isStuck).length,
    ...(lastReplicas > 0 && { lastReplicas }),
    ...(unknown > 0 && { unknown }),
    next: earliest(waits),
  };
}

/** True when taintmgr-controller keeps the pod, as none of its other replicas is ready. */
function isLastReplica({ explanation }: Pick<PodReport, 'explanation'>): boolean {
  return explanation.decision.because[0]?.code === 'LastReplica';
}
