// The NodeDrain that the flags of drain-by-taint ask for.
import type { Taint } from '@taintmgr/core';
import type { BudgetPolicy, NodeDrain } from '@taintmgr/core/policy';
import { type ManifestFault, policyApiVersion, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { readLabelSelector } from '../../cli/values.ts';
import { UsageError } from '../../usage-error.ts';
import {
  type DrainFlag,
  type DrainFlags,
  drainFlags,
  durationText,
  type Flag,
  flagsOf,
} from './flags.ts';

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
  return { manifest, drain: judged.value.value };
}

/** The API server itself reads the selector of a drain from here. */
function targetsOf(nodeNames: readonly string[], { selector, serverSide }: DrainFlags): object {
  if (selector === undefined) return { nodes: nodeNames };
  if (!serverSide) return { nodeSelector: {} };
  return { nodeSelector: readLabelSelector('--selector', selector) };
}

/** Sets the member at a path, making what is on the way. */
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
