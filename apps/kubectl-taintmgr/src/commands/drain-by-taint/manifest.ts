// The NodeDrain that the flags of drain-by-taint ask for.
import type { Taint } from '@taintmgr/core';
import type { BudgetPolicy, NodeDrain } from '@taintmgr/core/policy';
import { type ManifestFault, policyApiVersion, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { readLabelSelector } from '../../cli/label-selector.ts';
import { UsageError } from '../../usage-error.ts';
import { flagsOf } from './flag-fields.ts';
import type { DrainFlags } from './flags.ts';

/** The taint as the command line says; `effect` null: whichever is safe on this cluster. */
export interface WantedTaint extends Pick<Taint, 'key' | 'value'> {
  readonly effect: string | null;
}

/** A NodeDrain as a manifest says it, and as the engine has it. */
export interface NodeDrainRead {
  readonly manifest: object;
  readonly drain: NodeDrain;
}

/** The node names as they are meant, and what else is asked for. */
interface Asked {
  readonly taint: WantedTaint;
  readonly flags: DrainFlags;
  readonly budgets: BudgetPolicy;
  readonly name: string;
  readonly nodeNames: readonly string[];
  /** The flags that were given. */
  readonly given: ReadonlySet<string>;
}

/** The object as the API server is told of it. Throws UsageError. */
export function nodeDrainManifest(asked: Asked): NodeDrainRead {
  const { name, taint, flags, budgets, nodeNames, given } = asked;
  const manifest = {
    apiVersion: policyApiVersion,
    kind: 'NodeDrain',
    metadata: { name },
    spec: {
      ...targetsOf(nodeNames, flags),
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
      ...wavesOf(flags),
      ...limitsOf(flags),
      ...timeoutsOf(flags),
      ...heedsOf(flags),
      ...(flags.rollbackOnFailure && { onFailure: 'RollBack' }),
    },
  };
  const judged = readManifest(manifest, 0);
  if (judged.kind === 'refused') {
    throw new UsageError(judged.faults.map((fault) => faultText(fault, given)).join('\n'));
  }
  if (judged.value.kind !== 'NodeDrain') throw new Error('unreachable: it is a NodeDrain');
  return { manifest, drain: judged.value.value };
}

/** The API server itself reads the selector of a drain from here. */
function targetsOf(nodeNames: readonly string[], { selector, serverSide }: DrainFlags): object {
  if (selector === undefined) return { nodes: nodeNames };
  if (!serverSide) return { nodeSelector: {} };
  return { nodeSelector: readLabelSelector('--selector', selector) };
}

function tolerationsOf({ now, ignoreTolerations }: DrainFlags): object {
  if (ignoreTolerations) return { tolerations: 'Ignore' };
  return now ? { tolerations: 'NoWait' } : {};
}

function podsOf(flags: DrainFlags): object {
  const { force, deleteEmptydirData, gracePeriod, lastPods = [] } = flags;
  const { waitCompleted, waitDetached } = flags;
  const pods = {
    ...(force && { withoutController: true }),
    ...(deleteEmptydirData && { withEmptyDir: true }),
    ...(flags.byPriority && { order: 'ByPriority' }),
    ...(lastPods.length > 0 && { last: lastPods.map(groupOf) }),
    ...(waitCompleted !== undefined && { waitCompleted: { timeout: durationText(waitCompleted) } }),
    ...(waitDetached !== undefined && { waitDetached: { timeout: durationText(waitDetached) } }),
    ...(flags.restartSingleReplicas && { singleReplicas: 'RolloutRestart' }),
    ...(gracePeriod >= 0 && { gracePeriodSeconds: gracePeriod }),
  };
  return Object.keys(pods).length === 0 ? {} : { pods };
}

/** `logging`, `logging/app=shipper` or `/app=storage`. */
function groupOf(text: string): object {
  const slash = text.indexOf('/');
  const namespace = slash < 0 ? text : text.slice(0, slash);
  const selector = slash < 0 ? '' : text.slice(slash + 1);
  if ((namespace === '' || /[=!,() ]/.test(namespace)) && (slash !== 0 || selector === '')) {
    const got = JSON.stringify(text);
    throw new UsageError(
      `--last-pods: got ${got}, want NAMESPACE, NAMESPACE/SELECTOR such as logging/app=shipper, or /SELECTOR`,
    );
  }
  return {
    ...(namespace !== '' && { namespaces: [namespace] }),
    ...(selector !== '' && { podSelector: readLabelSelector('--last-pods', selector) }),
  };
}

function budgetsOf(budgets: BudgetPolicy): object {
  switch (budgets.kind) {
    case 'respect':
      return {};
    case 'ignore':
      return { budgets: { policy: 'Ignore' } };
    case 'deleteAfter':
      return { budgets: { policy: 'DeleteAfter', deleteAfter: durationText(budgets.afterMs) } };
  }
}

/** Each wave is named by its selector. */
function wavesOf({ wave = [] }: DrainFlags): object {
  if (wave.length === 0) return {};
  return {
    waves: wave.map((name) => ({ name, nodeSelector: readLabelSelector('--wave', name) })),
  };
}

function limitsOf(flags: DrainFlags): object {
  const { maxParallelNodes, maxParallelPods, heldUpNodes, maxUnavailable } = flags;
  const limits = { nodesAtOnce: maxParallelNodes, heldUpNodes, podsAtOnce: maxParallelPods };
  return { limits: { ...limits, ...(maxUnavailable !== undefined && { maxUnavailable }) } };
}

function timeoutsOf({ timeout, skipWaitForDeleteTimeout: skip }: DrainFlags): object {
  const timeouts = {
    ...(timeout > 0 && { node: durationText(timeout) }),
    ...(skip > 0 && { terminatingPods: `${skip}s` }),
  };
  return Object.keys(timeouts).length === 0 ? {} : { timeouts };
}

function heedsOf({ heed = [], pauseLabel }: DrainFlags): object {
  const heeds = {
    ...(heed.length > 0 && { podAnnotations: [...new Set(heed)] }),
    ...(pauseLabel !== undefined && { pauseLabel }),
  };
  return Object.keys(heeds).length === 0 ? {} : { heeds };
}

/** As a manifest may have it, in the largest unit that fits; a part of a second counts as a whole one. */
function durationText(millis: number): string {
  const seconds = Math.ceil(millis / 1000);
  if (seconds === 0) return '0s';
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** The fault after the flags that it is about. */
function faultText({ path, text }: ManifestFault, given: ReadonlySet<string>): string {
  const [first] = path;
  if (first === 'metadata' || first === 'name') return `--name: ${text}`;
  const flags = flagsOf(path.join('.'), given);
  return flags.length === 0 ? text : `${flags.join(', ')}: ${text}`;
}
