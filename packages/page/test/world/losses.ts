// A small answer of simulate --each for tests of its page: what is not said is nothing.
import type { EachDocument, Loss, LossWorkload } from '../../src/each.ts';

export function harmed(name: string, said: Partial<LossWorkload> = {}): LossWorkload {
  return {
    ...{ kind: 'Deployment', namespace: 'shop', name, wanted: 4, downMax: 0, downWorstWanted: 0 },
    ...{ downSeconds: 0, outageSeconds: 0, podMinutesLost: 0, downAtEnd: 0 },
    ...{ evictions: 0, unplacedAtEnd: 0 },
    ...said,
  };
}

/** A workload of which one pod of four is down for so many minutes. */
export function downFor(
  name: string,
  minutes: number,
  said: Partial<LossWorkload> = {},
): LossWorkload {
  const one = { downMax: 1, downWorstWanted: 4, downSeconds: minutes * 60, evictions: 1 };
  return harmed(name, { ...one, podMinutesLost: minutes, ...said });
}

/** The loss of one node of that name. */
export function lossOf(name: string, said: Partial<Loss> = {}): Loss {
  const { workloads = [] } = said;
  const sum = (field: 'podMinutesLost' | 'evictions'): number =>
    workloads.reduce((total, one) => total + one[field], 0);
  return {
    ...{ name, event: `{at: 1m, stopKubelet: {node: ${name}}}`, nodes: [name], pods: 5 },
    ...{ failed: null, refusals: 0, blocked: 0, workloads, budgets: [] },
    unplaced: { pods: 0, atOnceMax: 0, atEnd: 0 },
    ...{ podMinutesLost: sum('podMinutesLost'), evictions: sum('evictions') },
    ...said,
  };
}

export function losses(all: readonly Loss[], said: Partial<EachDocument> = {}): EachDocument {
  return {
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'LossSimulation', source: 'test' },
    ...{ each: 'node', by: 'down', seed: 1, startsAt: '2026-01-01T00:00:00Z', untilSeconds: 1800 },
    ...{ rules: 'taintmgr', complete: true, missing: [], notes: [], unplayed: [] },
    ...{ command: 'kubectl taintmgr simulate -f a.json --until 30m', losses: all },
    ...said,
  };
}
