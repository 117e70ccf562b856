// The request for a drain as the flags make it, and the settings that come of it in a cluster.
import { randomBytes } from 'node:crypto';
import { formatTaint, parseTaint, selects, type Taint } from '@taintmgr/core';
import { drainBudgetsOf } from '@taintmgr/core/drain';
import type { BudgetPolicy } from '@taintmgr/core/policy';
import { formatTime, type Instant, parseDuration } from '@taintmgr/core/time';
import { taintEvictors } from '@taintmgr/k8s-adapter';
import { printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { readMarks } from '@taintmgr/k8s-adapter/drain';
import { readKeyAndValue } from '@taintmgr/k8s-adapter/explain';
import {
  type ClusterReader,
  type NodeFacts,
  type NodeSurvey,
  namedNodes,
} from '@taintmgr/k8s-adapter/survey';
import { type DryRun, readDryRun } from '../../cli/common-flags.ts';
import type { Invocation } from '../../cli/registry.ts';
import type { DrainFlags } from './flags.ts';
import {
  type NodeDrainRead,
  nodeDrainManifest,
  readDrainFile,
  refuseBesideFile,
  refuseServerFields,
  type WantedTaint,
} from './manifest.ts';

/** A drain as the command line or a file asks for it. */
export interface DrainRequest extends NodeDrainRead {
  readonly taint: WantedTaint;
  readonly dryRun: DryRun;
  readonly budgets: BudgetPolicy;
  readonly flags: DrainFlags;
}

/** The same with the effect of the taint chosen. */
export interface DrainSettings extends Omit<DrainRequest, 'taint'> {
  readonly taint: Taint;
  /** The reason for the effect; null: the command line says it. */
  readonly effectReason: string | null;
}

/** Reads the command line, or the file that it names. Throws UsageError and RangeError naming the faults. */
export async function readRequest(
  { flags, given, output }: Pick<Invocation<DrainFlags>, 'flags' | 'given' | 'output'>,
  taintText: string | undefined,
  nodeNames: readonly string[],
): Promise<DrainRequest> {
  const dryRun = readDryRun(flags.dryRun, ['none', 'server', 'client'], output);
  if (flags.filename !== undefined) {
    refuseBesideFile(given, [taintText, ...nodeNames]);
    const read = await readDrainFile(flags.filename);
    if (!flags.serverSide) refuseServerFields(read);
    const { taint } = read.drain.spec;
    const budgets = drainBudgetsOf(read.drain.spec);
    refuseOnce(flags, budgets);
    return { taint, dryRun, budgets, flags, ...read };
  }
  if (taintText === undefined) {
    throw new UsageError('name a taint, such as maintenance=kernel, or give --filename');
  }
  const budgets = readBudgets(flags);
  refuseOnce(flags, budgets);
  const taint = readDrainTaint(taintText);
  if (nodeNames.length === 0 && flags.selector === undefined) {
    throw new UsageError('name the nodes to drain, or give --selector');
  }
  if (nodeNames.length > 0 && flags.selector !== undefined) {
    throw new UsageError('cannot specify both a node name and a --selector option');
  }
  const asked = { taint, flags, budgets, given, name: flags.name ?? newDrainName(Date.now()) };
  return { taint, dryRun, budgets, flags, ...nodeDrainManifest({ ...asked, nodeNames }) };
}

function refuseOnce({ once }: DrainFlags, { kind }: BudgetPolicy): void {
  if (!once || kind !== 'deleteAfter') return;
  throw new UsageError('--once and --pdb-policy=delete-after exclude each other: one try is all');
}

function readDrainTaint(text: string): WantedTaint {
  if (!text.includes(':')) {
    const { key, value } = readKeyAndValue(text);
    return { key, value, effect: null };
  }
  const [, effect = '', ...more] = text.split(':');
  if (['NoExecute', 'NoSchedule'].includes(effect) || more.length > 0) return parseTaint(text);
  throw new UsageError(
    `invalid taint "${text}": effect "${effect}": want NoSchedule, NoExecute where no other controller ` +
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

/**
 * Chooses the effect of the taint where the command line leaves it open. A NoSchedule taint is safe on every
 * cluster: no controller evicts for it. NoExecute, which also keeps pods out that tolerate the other, is
 * chosen only where no controller is known to evict for it either.
 */
export function chooseEffect(request: DrainRequest, survey: NodeSurvey): DrainSettings {
  const [effect, effectReason] = effectOf(request, survey);
  const { key, value } = request.taint;
  const taint = { key, value, effect: effect === 'NoExecute' ? effect : 'NoSchedule' } as const;
  const drain = { ...request.drain, spec: { ...request.drain.spec, taint } };
  return { ...request, drain, taint: { ...taint, timeAdded: null }, effectReason };
}

function effectOf(
  { taint: { key, value, effect } }: DrainRequest,
  { evictors, nodes }: NodeSurvey,
): readonly [effect: string, reason: string | null] {
  if (effect !== null) return [effect, null];
  // The same command continues an earlier run that has ended: with the taint of that run.
  const marks = nodes.flatMap(({ annotations }) => readMarks(annotations));
  const earlier = marks.find(
    ({ taint, tainted }) => tainted && taint.key === key && taint.value === value,
  );
  if (earlier) return [earlier.taint.effect, 'an earlier run has set it'];
  const { kind, text } = taintEvictors(evictors);
  return kind === 'nobody'
    ? ['NoExecute', 'no other controller evicts for it here']
    : ['NoSchedule', text];
}

/** The line about an effect that was chosen; null: it was given. */
export function effectLine({ taint, effectReason }: DrainSettings): string | null {
  if (effectReason === null) return null;
  return printable(
    `Taint: ${formatTaint(taint)}; ${taint.effect} chosen, because ${becauseText(effectReason)}`,
  );
}

/** Without the identity of a controller; `whether X evicts is unknown` begins with the fact. */
function becauseText(reason: string): string {
  return reason
    .replace(/^(whether )?(\S+) \([^()]*\)/, '$1$2')
    .replace(/^whether (.*?) is unknown/, 'it is unknown whether $1');
}

/** `drain-20261120-230839-7f3a`: when it began, and what distinguishes it from others of that second. */
export function newDrainName(now: Instant): string {
  const [date = '', time = ''] = formatTime(now).replace(/[-:Z]/g, '').split('T');
  return `drain-${date}-${time}-${randomBytes(2).toString('hex')}`;
}

/** The nodes that are named or selected. Throws ApiError for one that is not there. */
export async function readTargets(
  reader: ClusterReader,
  { flags, drain: { spec } }: Pick<DrainRequest, 'flags' | 'drain'>,
): Promise<readonly NodeFacts[]> {
  const { nodes, nodeSelector } = spec;
  if (nodes) return await namedNodes(reader, nodes, undefined);
  if (flags.selector !== undefined) return await namedNodes(reader, [], flags.selector);
  const all = await reader.nodes();
  return all.filter(({ node: { labels = {} } }) => nodeSelector && selects(nodeSelector, labels));
}

/** The message where no node is selected. */
export function nobodyMatches({ selector, filename }: DrainFlags): string {
  const whose =
    selector === undefined
      ? `the nodeSelector of ${filename}`
      : `--selector ${JSON.stringify(selector)}`;
  return `No nodes match ${whose}; nothing was changed`;
}
