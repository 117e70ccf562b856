// What the flags of a drain ask for, as one value.

import { parseTaint, type Taint } from '@taintmgr/core';
import type { BudgetPolicy } from '@taintmgr/core/policy';
import { parseDuration } from '@taintmgr/core/time';
import { type DryRun, readDryRun } from '../../cli/dry-run-flag.ts';
import type { Output } from '../../cli/output.ts';
import { readKeyAndValue } from '../../cli/taint-argument.ts';
import { UsageError } from '../../usage-error.ts';
import type { DrainFlags } from './flags.ts';

/** The taint as the command line says; `effect` null: whichever is safe on this cluster. */
interface WantedTaint extends Pick<Taint, 'key' | 'value'> {
  readonly effect: string | null;
}

/** What a drain is to do, as the command line says, but for its nodes. */
export interface DrainRequest {
  readonly taint: WantedTaint;
  readonly dryRun: DryRun;
  readonly budgets: BudgetPolicy;
  readonly flags: DrainFlags;
}

/** The same with the effect of the taint chosen. */
export interface DrainSettings extends Omit<DrainRequest, 'taint'> {
  readonly taint: Taint;
  /** Why it has this effect; null: the command line says so. */
  readonly effectReason: string | null;
}

/** Reads the command line. Throws UsageError and RangeError naming the flag or the taint. */
export function readSettings(taintText: string, flags: DrainFlags, output: Output): DrainRequest {
  const budgets = readBudgets(flags);
  if (flags.once && budgets.kind === 'deleteAfter') {
    throw new UsageError('--once and --pdb-policy=delete-after exclude each other: one try is all');
  }
  return {
    taint: readDrainTaint(taintText),
    dryRun: readDryRun(flags.dryRun, ['none', 'server', 'client'], output),
    budgets,
    flags,
  };
}

function readDrainTaint(text: string): WantedTaint {
  if (!text.includes(':')) {
    const { key, value } = readKeyAndValue(text);
    return { key, value, effect: null };
  }
  const [, effect = '', ...more] = text.split(':');
  if (['NoExecute', 'NoSchedule'].includes(effect) || more.length > 0) return parseTaint(text);
  throw new UsageError(
    `invalid taint "${text}": effect "${effect}": want NoSchedule, NoExecute where nobody else ` +
      'evicts for it, or no effect for the one that is safe here',
  );
}

function readBudgets({ pdbPolicy, disableEviction }: DrainFlags): BudgetPolicy {
  const policy = pdbPolicy === undefined ? null : parsePolicy(pdbPolicy);
  if (!disableEviction) return policy ?? { kind: 'respect' };
  if (policy === null || policy.kind === 'ignore') return { kind: 'ignore' };
  throw new UsageError(
    `--disable-eviction and --pdb-policy=${pdbPolicy} exclude each other; give one of them`,
  );
}

function parsePolicy(text: string): BudgetPolicy {
  if (text === 'respect' || text === 'ignore') return { kind: text };
  const [, time] = /^delete-after:(.+)$/.exec(text) ?? [];
  const afterMs = time === undefined ? null : parseDuration(time);
  if (afterMs !== null) return { kind: 'deleteAfter', afterMs };
  const got = JSON.stringify(text);
  throw new UsageError(
    `--pdb-policy: got ${got}, want respect, delete-after:DURATION such as delete-after:1h, or ignore`,
  );
}
