// In a dry run: what kube-controller-manager evicts, held against what would be evicted here.
import type { Engine } from '@taintmgr/core';
import { deletedOf, type ShadowReport, ShadowScore } from '@taintmgr/core/shadow';
import { formatTime } from '@taintmgr/core/time';
import type { ClusterConfig, Machine } from '@taintmgr/k8s-adapter';
import type { ControllerName } from '../flags/controllers.ts';
import type { Settings } from '../flags/settings.ts';
import type { Logger } from '../log/logger.ts';
import { UpstreamEvents } from './upstream-events.ts';

/** Keeps score while the controller runs. */
export interface Shadow {
  /** The machine with the shadow around it; `explain`: the engine's. */
  around(machine: Machine, explain: Engine['explain']): Machine;
  /** Null: it has not begun. */
  report(): ShadowReport | null;
  close(): void;
}

export interface ShadowOptions {
  readonly settings: Settings;
  readonly controllers: readonly ControllerName[];
  readonly cluster: ClusterConfig;
  readonly log: Logger;
}

/** Null: something is done here, or pods are not evicted for taints. */
export function createShadow({
  settings: { dryRun, mode },
  controllers,
  cluster,
  log,
}: ShadowOptions): Shadow | null {
  if (dryRun === 'none' || !controllers.includes('taint-eviction-controller')) return null;
  let score: ShadowScore | null = null;
  const answer: ShadowScore['said'] = (uid, at) => score?.said(uid, at);
  const events = new UpstreamEvents({ cluster, log, answer });
  return {
    around(machine, explain) {
      score = new ShadowScore(machine, { mode, explain, doubt: (pod) => events.ask(pod) });
      return score;
    },
    report: () => score?.report() ?? null,
    close: () => events.close(),
  };
}

/** What /statusz says of it, in order. */
export function shadowFacts(
  report: ShadowReport | null,
): Readonly<Record<string, string | number>> {
  if (!report) return {};
  const { since, counts, following, notDeleted, leftOtherwise, givenUp } = report;
  return {
    'Shadow since': since === null ? 'not yet' : formatTime(since),
    'Shadow: deleted by kube-controller-manager': deletedOf(counts),
    'Shadow: taintmgr in the same instant': counts.same,
    'Shadow: taintmgr earlier': counts.earlier,
    'Shadow: taintmgr later': counts.later,
    'Shadow: taintmgr would have kept': counts.kept,
    'Shadow: budgets would have been asked': counts.budgetsAsked,
    'Shadow: only taintmgr would have evicted': counts.onlyTaintmgr,
    'Shadow: no verdict yet': following,
    'Shadow: without a verdict': notDeleted + leftOtherwise + givenUp,
  };
}
