// What would keep a new pause from holding what it is meant to hold.

import { type Namespace, selects } from '@taintmgr/core';
import { coversNamespace, type EvictionPause, isTakenOver } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { type Evictors, taintEvictors } from '@taintmgr/k8s-adapter';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import { type Evictor, evictsBeside } from '../../cluster/evictors.ts';
import { type NodeFacts, zoneNames } from '../../cluster/facts.ts';
import {
  evictsUnderPressure,
  pressureController,
  type TaintManager,
} from '../../cluster/taint-managers.ts';
import { choicesText } from '../../render/count.ts';
import { zoneOf } from '../../report/zones.ts';
import { UsageError } from '../../usage-error.ts';

/** The zones as nodes have them: `a` is every zone `region/a`. Throws UsageError where there is no such zone. */
export function zonesMeant(
  wanted: readonly string[],
  nodes: readonly NodeFacts[],
): readonly string[] {
  const known = [...new Set(nodes.map(zoneOf).filter((zone) => zone !== ''))].sort();
  const meant = wanted.flatMap((zone) => {
    if (known.includes(zone)) return [zone];
    const same = nodes.filter(({ node }) => zoneNames(node.labels ?? {}).includes(zone));
    if (same.length > 0) return same.map(zoneOf);
    const names = choicesText(known);
    throw new UsageError(`--zones: no node is in zone ${zone}; zones of this cluster: ${names}`);
  });
  return [...new Set(meant)];
}

/** Throws UsageError where no node is left that the pause is for. */
export function refuseNowhere(
  { scope: { zones, nodes: selector } }: EvictionPause,
  nodes: readonly NodeFacts[],
): void {
  if (selector === null) return;
  const selected = nodes.filter(({ node }) => selects(selector, node.labels ?? {}));
  if (selected.length === 0) throw new UsageError('no node has the labels of --node-selector');
  if (zones.length === 0 || selected.some((one) => zones.includes(zoneOf(one)))) return;
  throw new UsageError('no node of --zones has the labels of --node-selector');
}

/** Namespaces that are not there. A name may have `*` in it, and the namespace may come later. */
export function namespaceWarnings(
  { scope }: EvictionPause,
  namespaces: readonly Namespace[],
): readonly string[] {
  const names = namespaces.map(({ name }) => name);
  const isThere = (wanted: string): boolean =>
    names.some((name) => coversNamespace({ ...scope, namespaces: [wanted] }, name));
  return scope.namespaces
    .filter((wanted) => !isThere(wanted))
    .map((wanted) => `there is no namespace ${wanted}${didYouMean(wanted, names)}`);
}

/** Whoever evicts here without heeding pauses; `isLeftOut`: the pause is for namespaces that are not taken over. */
export function evictorWarnings(
  { deadlines }: EvictionPause,
  evictors: Evictors,
  evictor: Evictor,
  isLeftOut: boolean,
): readonly string[] {
  const beside = evictsBeside(evictors, evictor);
  const only = 'only taintmgr-controller follows pauses';
  const heedless = heedlessWarnings(evictor);
  if (evictor.takesOver) {
    if (!deadlines || !isLeftOut || !beside) return heedless;
    return [...heedless, `in namespaces that are not taken over ${beside.text}; ${only}`];
  }
  const answer = beside ?? taintEvictors(evictors);
  const isOurs = answer.kind === 'acts' && answer.agent === 'taintmgr-controller';
  return isOurs ? heedless : [...heedless, `${answer.text}; ${only}`];
}

/** Where taintmgr-controller runs so that it follows no pauses of the cluster. */
function heedlessWarnings({ settings }: Evictor): readonly string[] {
  if (!settings || settings.followsCluster) return [];
  const isUpstream = settings.engine.semantics === 'upstream-1.36';
  const flag = isUpstream ? '--semantics=upstream-1.36' : '--cluster-policies=false';
  return [`taintmgr-controller runs with ${flag}, and follows no pauses of the cluster`];
}

/** Whether a pause is for pods of namespaces that are not taken over; null: they may not be read. */
export function leavesOut(
  { scope }: EvictionPause,
  namespaces: readonly Namespace[] | null,
): boolean {
  if (namespaces === null) return true;
  return namespaces.some(
    ({ name, labels }) => coversNamespace(scope, name) && !isTakenOver(labels),
  );
}

/**
 * Where node-pressure-controller runs: no pause keeps it from evicting, as none keeps a kubelet from it.
 * Who names taints has not asked for that.
 */
export function pressureWarnings(
  { deadlines, scope }: EvictionPause,
  managers: readonly TaintManager[],
  now: Instant,
): readonly string[] {
  if (!deadlines || scope.taintKeys.length > 0) return [];
  const acting = managers.filter((manager) => evictsUnderPressure(manager, now));
  return acting.map(({ leader, name }) => {
    const who = `${pressureController} (${leader}, TaintManager ${name})`;
    return `${who} goes on evicting from nodes that run out of memory, disk or processes, as kubelets do; pauses do not hold that`;
  });
}
