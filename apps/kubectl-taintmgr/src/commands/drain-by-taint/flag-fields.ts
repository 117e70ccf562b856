// Which field of a NodeDrain each flag of drain-by-taint sets.
import type { OutputFlags } from '../../cli/output-flags.ts';
import type { DrainFlags } from './flags.ts';

/** A flag, as the command line's own values have it. */
export type DrainFlag = Exclude<keyof DrainFlags, keyof OutputFlags>;

/** The field as a path in a NodeDrain; null: the flag is about this command, or about this run of it. */
export const flagFields: Readonly<Record<DrainFlag, string | null>> = {
  selector: 'spec.nodeSelector',
  force: 'spec.pods.withoutController',
  deleteEmptydirData: 'spec.pods.withEmptyDir',
  gracePeriod: 'spec.pods.gracePeriodSeconds',
  byPriority: 'spec.pods.order',
  lastPods: 'spec.pods.last',
  waitCompleted: 'spec.pods.waitCompleted.timeout',
  waitDetached: 'spec.pods.waitDetached.timeout',
  restartSingleReplicas: 'spec.pods.singleReplicas',
  now: 'spec.tolerations',
  ignoreTolerations: 'spec.tolerations',
  pdbPolicy: 'spec.budgets',
  disableEviction: 'spec.budgets',
  maxParallelNodes: 'spec.limits.nodesAtOnce',
  heldUpNodes: 'spec.limits.heldUpNodes',
  maxParallelPods: 'spec.limits.podsAtOnce',
  maxUnavailable: 'spec.limits.maxUnavailable',
  zoneSerial: 'spec.order',
  wave: 'spec.waves',
  heed: 'spec.heeds.podAnnotations',
  pauseLabel: 'spec.heeds.pauseLabel',
  timeout: 'spec.timeouts.node',
  skipWaitForDeleteTimeout: 'spec.timeouts.terminatingPods',
  rollbackOnFailure: 'spec.onFailure',
  cordon: 'spec.cordon',
  name: 'metadata.name',
  podSelector: null,
  dryRun: null,
  ignoreDaemonsets: null,
  chunkSize: null,
  once: null,
  policy: null,
  ignorePolicies: null,
  allowOverlap: null,
  filename: null,
  serverSide: null,
  detach: null,
};

/** As it is typed: `--max-parallel-nodes`. */
export function flagText(flag: string): string {
  if (flag === 'cordon') return '--no-cordon';
  return `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The flags that set a field, or part of it. */
export function flagsOf(path: string, given: ReadonlySet<string>): readonly string[] {
  const isIn = (field: string): boolean =>
    path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
  return Object.entries(flagFields).flatMap(([flag, field]) => {
    return field !== null && given.has(flag) && isIn(field) ? flagText(flag) : [];
  });
}
