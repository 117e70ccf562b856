import type { Pod } from '@taintmgr/core';
import type { DrainPlan } from '@taintmgr/core/drain';
import { ApiError, deletePodRequest, evictPodRequest } from '@taintmgr/k8s-adapter';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import { missingOn, type NodeChanges, readMarks } from '@taintmgr/k8s-adapter/drain';
import { warn } from '../../cli/output.ts';
import { type DrainReport, drainReport, plannedOutcomes } from './documents.ts';
import { changeText, type Drain, nameOf } from './drain.ts';
import { cannotFinish } from './plan-table.ts';

/** Prints what a drain would do, and asks the API server about it where that is wanted. */
export async function dryRun(drain: Drain, plan: DrainPlan): Promise<DrainReport> {
  const { settings, survey, wanted } = drain;
  const changes = new Map<string, NodeChanges>();
  for (const facts of survey.nodes) {
    const { annotations, cordoned: isCordoned } = facts;
    const { name, taints } = facts.node;
    const marks = readMarks(annotations);
    const would = missingOn({ taints, isCordoned, marks }, wanted);
    changes.set(name, would);
    if (wanted.cordon) drain.say(`${changeText(name, 'cordoned', would)} (dry run)`);
    drain.say(`${changeText(name, 'tainted', would)} (dry run)`);
  }
  const isRefused = settings.dryRun === 'server' && (await askServer(drain, plan));
  const result = isRefused || cannotFinish(plan) ? 'Blocked' : 'Planned';
  return drainReport(drain, result, plannedOutcomes(drain.config.targets, plan.pods, changes));
}

/**
 * Asks the API server about each eviction of the plan, once, without changing anything; whether it refuses
 * one. The server judges each eviction alone: two pods under one budget may both be allowed here and not one
 * after the other.
 */
async function askServer(drain: Drain, plan: DrainPlan): Promise<boolean> {
  const verb = drain.settings.budgets.kind === 'ignore' ? 'deleted' : 'evicted';
  let isRefused = false;
  for (const { pod, fate } of plan.pods) {
    if (fate.kind !== 'evict') continue;
    const refusal = await refusalOf(drain, pod);
    if (refusal === null) {
      drain.say(`pod/${pod.name} ${verb} (${pod.namespace}, server dry run)`);
    } else {
      isRefused = true;
      const who = `${nameOf(pod)} on ${pod.nodeName}`;
      warn(drain.output, `${who} is blocked: ${printable(refusal)}`);
    }
  }
  return isRefused;
}

/** The reason for which the API server would refuse the eviction now; null: it would not. */
async function refusalOf({ connection, settings }: Drain, pod: Pod): Promise<string | null> {
  const { drain, budgets } = settings;
  const { gracePeriodSeconds } = drain.spec.pods;
  const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
  const options = { ...grace, dryRun: true };
  const request = budgets.kind === 'ignore' ? deletePodRequest : evictPodRequest;
  try {
    await connection.client.send(request(pod, options));
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message, causes } = error.failure;
    if (status === 404) return null;
    // Without the right no other pod is answered either; whatever else is forbidden is about this one.
    if (status === 401 || (status === 403 && lacksRight(message))) throw error;
    return causes[0]?.message || message;
  }
}

/** As the API server words it: `User "jane" cannot create resource "pods/eviction" in ...` */
function lacksRight(message: string): boolean {
  return message.includes('User "') && /" cannot \S+ resource "/.test(message);
}
