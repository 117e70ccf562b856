// The NodeDrain that the flags of drain-by-taint ask for.
import { type ManifestFault, policyApiVersion, readManifest } from '@taintmgr/core/policy';
import { readLabelSelector } from '../../../cli/label-selector.ts';
import { UsageError } from '../../../usage-error.ts';
import type { DrainFlags } from '../flags.ts';
import type { DrainRequest } from '../settings.ts';

/** Flags that only a drain by this command has, and what to do instead. */
const localFlags: readonly (readonly [flag: keyof DrainFlags, name: string, instead: string])[] = [
  [
    'podSelector',
    '--pod-selector',
    'an EvictionPolicy with action Keep leaves pods where they are',
  ],
  ['once', '--once', '--timeout limits how long a node may take'],
  ['ignorePolicies', '--ignore-policies', 'a NodeDrain goes by the policies of the cluster'],
  ['policy', '--policy', 'a NodeDrain goes by the policies of the cluster'],
];

/** Throws UsageError for a flag that a NodeDrain has no field for. */
export function refuseLocalFlags(flags: DrainFlags): void {
  for (const [flag, name, instead] of localFlags) {
    const value = flags[flag];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined;
    if (isGiven) throw new UsageError(`${name} and --server-side exclude each other: ${instead}`);
  }
}

/** The object as the API server is told of it. Throws UsageError. */
export function nodeDrainManifest(
  name: string,
  { taint, flags, budgets }: DrainRequest,
  nodeNames: readonly string[],
): object {
  const manifest = {
    apiVersion: policyApiVersion,
    kind: 'NodeDrain',
    metadata: { name },
    spec: {
      ...targetsOf(nodeNames, flags.selector),
      taint: {
        key: taint.key,
        ...(taint.value !== '' && { value: taint.value }),
        ...(taint.effect !== null && { effect: taint.effect }),
      },
      cordon: flags.cordon === false ? 'Never' : 'AtStart',
      ...tolerationsOf(flags),
      ...podsOf(flags),
      ...budgetsOf(budgets),
      ...(flags.zoneSerial && { order: 'ByZone' }),
      limits: { nodesAtOnce: flags.maxParallelNodes, podsAtOnce: flags.maxParallelPods },
      ...timeoutsOf(flags),
      ...(flags.rollbackOnFailure && { onFailure: 'RollBack' }),
    },
  };
  const judged = readManifest(manifest, 0);
  if (judged.kind === 'refused') throw new UsageError(judged.faults.map(faultText).join('\n'));
  return manifest;
}

function targetsOf(nodeNames: readonly string[], selector: string | undefined): object {
  if (selector === undefined) return { nodes: nodeNames };
  return { nodeSelector: readLabelSelector('--selector', selector) };
}

function tolerationsOf({ now, ignoreTolerations }: DrainFlags): object {
  if (ignoreTolerations) return { tolerations: 'Ignore' };
  return now ? { tolerations: 'NoWait' } : {};
}

function podsOf({ force, deleteEmptydirData, gracePeriod }: DrainFlags): object {
  const pods = {
    ...(force && { withoutController: true }),
    ...(deleteEmptydirData && { withEmptyDir: true }),
    ...(gracePeriod >= 0 && { gracePeriodSeconds: gracePeriod }),
  };
  return Object.keys(pods).length === 0 ? {} : { pods };
}

function budgetsOf(budgets: DrainRequest['budgets']): object {
  switch (budgets.kind) {
    case 'respect':
      return {};
    case 'ignore':
      return { budgets: { policy: 'Ignore' } };
    case 'deleteAfter':
      return { budgets: { policy: 'DeleteAfter', deleteAfter: durationText(budgets.afterMs) } };
  }
}

function timeoutsOf({ timeout, skipWaitForDeleteTimeout: skip }: DrainFlags): object {
  const timeouts = {
    ...(timeout > 0 && { node: durationText(timeout) }),
    ...(skip > 0 && { terminatingPods: `${skip}s` }),
  };
  return Object.keys(timeouts).length === 0 ? {} : { timeouts };
}

/** As a manifest may have it, in the largest unit that fits; a part of a second counts as a whole one. */
function durationText(millis: number): string {
  const seconds = Math.ceil(millis / 1000);
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

function faultText({ path, text }: ManifestFault): string {
  const [first] = path;
  const flag = first === 'metadata' || first === 'name' ? '--name: ' : '';
  return `${flag}${text}`;
}
