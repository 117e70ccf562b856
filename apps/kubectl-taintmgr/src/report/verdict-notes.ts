// Notes about pods that are to go: what will not resolve by itself, and what is lost with them.
import { type Budget, operatorOf, type PredictedBlocker } from '@taintmgr/core/drain';
import { count, listText } from '../render/count.ts';
import { printable } from '../render/printable.ts';
import { isBare } from './bare-pods.ts';
import type { PodReport } from './report.ts';
import { operatorSignText } from './words.ts';

/** What somebody has to see to, one line each. */
export function verdictWarnings(pods: readonly PodReport[]): readonly string[] {
  return [
    ...eachBudget(
      pods,
      ({ verdict }) => verdict === 'never' || verdict === 'askOperator',
      shutText,
    ),
    ...unreadyTexts(pods),
    ...bareTexts(pods),
  ].map(printable);
}

/** What others see to. */
export function verdictNotes(pods: readonly PodReport[]): readonly string[] {
  const isOperators = ({ verdict, budgets }: PredictedBlocker): boolean =>
    verdict === 'othersAct' && budgets.length > 0;
  return [...eachBudget(pods, isOperators, operatorText), ...interceptedTexts(pods)].map(printable);
}

/** One line for each thing that a webhook says. */
function interceptedTexts(pods: readonly PodReport[]): readonly string[] {
  const kept = new Map<string, string[]>();
  for (const { facts, blockers } of pods) {
    for (const { code, message } of blockers) {
      if (code !== 'Intercepted') continue;
      const { namespace, name } = facts.pod;
      kept.set(message, [...(kept.get(message) ?? []), `${namespace}/${name}`]);
    }
  }
  return Array.from(
    kept,
    ([message, names]) => `${podsText(names, 'that somebody else may move')}: ${message}`,
  );
}

/** One line for each set of budgets that blocks a pod in such a way. */
function eachBudget(
  pods: readonly PodReport[],
  isMeant: (blocker: PredictedBlocker) => boolean,
  textOf: (names: string, blocker: PredictedBlocker) => string,
): readonly string[] {
  const texts = new Map<string, string>();
  for (const blocker of pods.flatMap(({ blockers }) => blockers).filter(isMeant)) {
    texts.set(keyOf(blocker.budgets), textOf(namesOf(blocker.budgets), blocker));
  }
  return [...texts.values()];
}

/** A budget that lets nobody go, however long one waits. */
function shutText(names: string, blocker: PredictedBlocker): string {
  const { message, budgets, operatorSign } = blocker;
  const why = `PDB ${names}: ${message.replace(/[.]$/, '')}`;
  const operator = budgets.flatMap((budget) => operatorOf(budget) ?? [])[0];
  if (operator) {
    const owner = `${operator.kind}/${operator.name} (${operator.apiVersion})`;
    return `${why}; will not resolve by itself: see to it by way of ${owner}, to which a PDB belongs`;
  }
  if (operatorSign) {
    return (
      `${why}; an operator may keep it so on purpose, and end that itself ` +
      `(${operatorSignText(operatorSign)}): ask that operator before you scale up, relax or delete the PDB`
    );
  }
  const cure = budgets.length > 1 ? 'leave one PDB for each pod' : 'scale up or relax the PDB';
  return `${why}; will not resolve by itself: ${cure}`;
}

function operatorText(names: string, { budgets: [budget] }: PredictedBlocker): string {
  const operator = budget ? operatorOf(budget) : null;
  const { kind = '', name = '', apiVersion = '' } = operator ?? {};
  return (
    `PDB ${names} belongs to ${kind}/${name} (${apiVersion}): its operator acts, ` +
    'by moving the pod in its own way; neither scale up nor relax the PDB'
  );
}

function unreadyTexts(pods: readonly PodReport[]): readonly string[] {
  const held = new Map<string, string[]>();
  for (const { facts, blockers } of pods) {
    for (const { remedy, budgets } of blockers) {
      if (remedy === undefined) continue;
      // Only one that is alone over a pod has a remedy, so no name is cut.
      const names = namesOf(budgets);
      held.set(names, [...(held.get(names) ?? []), facts.pod.name]);
    }
  }
  return Array.from(
    held,
    ([names, unready]) =>
      `PDB ${names} holds back ${podsText(unready, 'not ready')}: ` +
      'set unhealthyPodEvictionPolicy: AlwaysAllow in it, and pods that are not ready may go',
  );
}

function bareTexts(pods: readonly PodReport[]): readonly string[] {
  const bare = pods.filter(
    ({ facts: { pod }, explanation }) => explanation.decision.kind !== 'keep' && isBare(pod),
  );
  if (bare.length === 0) return [];
  const names = bare.map(({ facts: { pod } }) => `${pod.namespace}/${pod.name}`);
  return [
    `${podsText(names, 'without a controller')}: nobody recreates ${bare.length === 1 ? 'it' : 'them'}`,
  ];
}

/** `1 pod not ready (shop/web-0)` */
function podsText(names: readonly string[], what: string): string {
  return `${count(names.length, 'pod')} ${what} (${listText(names)})`;
}

function namesOf(budgets: readonly Budget[]): string {
  return listText(
    budgets.map(({ namespace, name }) => `${namespace}/${name}`),
    ' and ',
  );
}

function keyOf(budgets: readonly Budget[]): string {
  return budgets.map(({ namespace, name }) => `${namespace}/${name}`).join(' ');
}
