// Cordoned nodes that no taint empties: the budgets that a drain by the Eviction API would wait for.
import { predictBlockers } from '@taintmgr/core/drain';
import type { Instant } from '@taintmgr/core/time';
import { evictsPods, type NodeFacts } from '../survey/facts.ts';
import type { ForecastSurvey } from '../survey/survey.ts';
import { listText } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import type { NodeReport, PodReport } from './report.ts';
import { ago } from './words.ts';

/** `yes, by kubectl-drain 5m ago`; who wrote it last where managedFields say so. */
export function cordonText({ cordonWritten }: NodeFacts, now: Instant): string {
  if (!cordonWritten) return 'yes';
  return printable(`yes, by ${cordonWritten.by} ${ago(now, cordonWritten.at)}`);
}

/**
 * `n1 is cordoned and has no NoExecute taint, so no taint evicts; kubectl drain would wait for PDB shop/db (db-0)`;
 * none where no budget would refuse. kubectl drain passes over pods of DaemonSets and static pods, and tries again
 * what the Eviction API refuses for a budget.
 */
export function cordonNotes(
  { budgets }: ForecastSurvey,
  nodes: readonly NodeReport[],
): readonly string[] {
  if (budgets === null) return [];
  return nodes.flatMap(({ facts, taints, drains, pods }) => {
    const isTheirs = facts.cordoned && !evictsPods(facts) && taints.length + drains.length === 0;
    if (!isTheirs) return [];
    const refused = new Map<string, string[]>();
    for (const { facts: one } of (pods ?? []).filter(isDrained)) {
      const site = { budgets, finalizers: [], nodeAnswers: null };
      const blocker = predictBlockers(one.pod, site).find(({ code }) => code === 'Budget');
      for (const { namespace, name } of blocker?.budgets ?? []) {
        const budget = `${namespace}/${name}`;
        refused.set(budget, [...(refused.get(budget) ?? []), one.pod.name]);
      }
    }
    if (refused.size === 0) return [];
    const names = [...refused].map(([budget, under]) => `PDB ${budget} (${listText(under)})`);
    const what = `${facts.node.name} is cordoned and has no NoExecute taint, so no taint evicts`;
    return [printable(`${what}; kubectl drain would wait for ${names.join(' and ')}`)];
  });
}

function isDrained({ facts: { pod } }: PodReport): boolean {
  return !pod.mirror && pod.owner?.kind !== 'DaemonSet' && pod.deletionTimestamp === null;
}
