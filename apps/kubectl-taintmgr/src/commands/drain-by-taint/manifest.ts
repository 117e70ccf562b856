// The NodeDrain that the flags of drain-by-taint ask for, or a file.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Taint } from '@taintmgr/core';
import type { BudgetPolicy, NodeDrain } from '@taintmgr/core/policy';
import { fileFault, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { type ManifestFault, policyApiVersion, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { readLabelSelector } from '../../cli/values.ts';
import {
  type DrainFlag,
  type DrainFlags,
  drainFlags,
  durationText,
  type Flag,
  flagsOf,
} from './flags.ts';

/** The taint as the command line says; `effect` null: the one that is safe on this cluster. */
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

/** The object for the API server. Throws UsageError. */
export function nodeDrainManifest(asked: Asked): NodeDrainRead {
  const { name, taint, flags, budgets, nodeNames, given } = asked;
  const spec = {
    ...targetsOf(nodeNames, flags),
    taint: {
      key: taint.key,
      ...(taint.value !== '' && { value: taint.value }),
      ...(taint.effect !== null && { effect: taint.effect }),
    },
    ...budgetsOf(budgets),
  };
  const manifest = { apiVersion: policyApiVersion, kind: 'NodeDrain', metadata: { name }, spec };
  for (const [flag, { field, inManifest }] of Object.entries<Flag<unknown>>(drainFlags)) {
    const value = field === null ? undefined : inManifest(flags[flag as DrainFlag]);
    if (field !== null && value !== undefined) put(manifest, field.split('.'), value);
  }
  const judged = readManifest(manifest, 0);
  if (judged.kind === 'refused') {
    throw new UsageError(judged.faults.map((fault) => faultText(fault, given)).join('\n'));
  }
  if (judged.value.kind !== 'NodeDrain') throw new Error('unreachable: it is a NodeDrain');
  return { manifest, drain: exact(judged.value.value, asked) };
}

/** Durations on the command line are exact, those of a manifest are in whole seconds. */
function exact(drain: NodeDrain, { budgets, flags: { timeout } }: Asked): NodeDrain {
  const spec: NodeDrain['spec'] = {
    ...drain.spec,
    ...(budgets.kind === 'deleteAfter' && {
      budgets: { policy: 'DeleteAfter', deleteAfter: budgets.afterMs },
    }),
    ...(timeout > 0 && { timeouts: { ...drain.spec.timeouts, node: timeout } }),
  };
  return { ...drain, spec };
}

/** The API server itself reads the selector of a drain from here. */
function targetsOf(nodeNames: readonly string[], { selector, serverSide }: DrainFlags): object {
  if (selector === undefined) return { nodes: nodeNames };
  if (!serverSide) return { nodeSelector: {} };
  return { nodeSelector: readLabelSelector('--selector', selector) };
}

/** Sets the member at a path, and creates missing parents. */
function put(
  object: Record<string, unknown>,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) object[first] = value;
  else {
    object[first] ??= {};
    put(object[first] as Record<string, unknown>, rest, value);
  }
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

/** The fault after the flags that it is about. */
function faultText({ path, text }: ManifestFault, given: ReadonlySet<string>): string {
  const [first] = path;
  if (first === 'metadata' || first === 'name') return `--name: ${text}`;
  const flags = flagsOf(path.join('.'), given);
  return flags.length === 0 ? text : `${flags.join(', ')}: ${text}`;
}

/** Reads the NodeDrain of a file. Throws UsageError with all faults, `file:line:column` first. */
export async function readDrainFile(path: string): Promise<NodeDrainRead> {
  const file = path === '-' ? '<stdin>' : path;
  const content = await contentOf(path);
  // The reader of YAML takes long to load.
  const { FaultyFile, readPositioned } = await import('@taintmgr/k8s-adapter/manifests');
  try {
    const field = readPositioned(file, content.replace(/^\uFEFF/, ''), 'a NodeDrain');
    const judged = readManifest(field.value, Date.now());
    if (judged.kind === 'refused') {
      throw new FaultyFile(
        judged.faults.map((fault) => field.faultAt(fault.path, fault.text).message),
      );
    }
    const { kind, value } = judged.value;
    if (kind !== 'NodeDrain') {
      throw new FaultyFile([field.faultAt(['kind'], `got kind ${kind}, want NodeDrain`).message]);
    }
    return { manifest: field.value as object, drain: value };
  } catch (error) {
    if (error instanceof FaultyFile) throw new UsageError(error.faults);
    throw error;
  }
}

async function contentOf(path: string): Promise<string> {
  try {
    return path === '-' ? await text(process.stdin) : await readFile(path, 'utf8');
  } catch (error) {
    throw fileFault(`--filename ${path}`, error);
  }
}

/** Throws UsageError for what the command line says beside a file that says it. */
export function refuseBesideFile(
  given: ReadonlySet<string>,
  [taint, ...nodes]: readonly (string | undefined)[],
): void {
  const name = taint ?? nodes[0];
  if (name !== undefined) {
    throw new UsageError(
      `--filename and the argument ${name} exclude each other: the file says it`,
    );
  }
  if (given.has('podSelector')) {
    const instead = 'an EvictionPolicy with action Keep leaves pods where they are';
    throw new UsageError(`--filename and --pod-selector exclude each other: ${instead}`);
  }
  for (const [flag, { option, field }] of Object.entries(drainFlags)) {
    if (field === null || !given.has(flag)) continue;
    throw new UsageError(
      `--filename and ${option.long} exclude each other: the file says it, in ${field}`,
    );
  }
}

/** Throws UsageError for what only a controller carries out. */
export function refuseServerFields({ drain: { spec } }: NodeDrainRead): void {
  const fields = [
    [spec.laterNodes === 'Drain', 'spec.laterNodes: Drain'],
    [spec.paused, 'spec.paused: true'],
    [spec.nodeConditions === 'Publish', 'spec.nodeConditions: Publish'],
    [spec.maintenancePlanned === 'Require', 'spec.maintenancePlanned: Require'],
    [spec.pods.evictBy === 'EvictionRequest', 'spec.pods.evictBy: EvictionRequest'],
    [spec.whileClosed === 'RollBack', 'spec.whileClosed: RollBack'],
    [spec.ttlSecondsAfterFinished !== undefined, 'spec.ttlSecondsAfterFinished'],
  ] as const;
  const found = fields.find(([isAsked]) => isAsked);
  if (found) throw new UsageError(`--filename: ${found[1]} is only there with --server-side`);
}
