// The words of a command line for what people own who own no nodes: workloads, disruption budgets, namespaces.
import type { WorkloadKind } from '@taintmgr/k8s-adapter/survey';
import { isObjectName } from './values.ts';

/** As kubectl has them; the first of each is listed. */
const workloadWords: Readonly<Record<WorkloadKind, readonly string[]>> = {
  Deployment: ['deployment', 'deployments', 'deploy'],
  StatefulSet: ['statefulset', 'statefulsets', 'sts'],
  DaemonSet: ['daemonset', 'daemonsets', 'ds'],
  ReplicaSet: ['replicaset', 'replicasets', 'rs'],
  Job: ['job', 'jobs'],
  PodDisruptionBudget: ['pdb', 'poddisruptionbudget', 'poddisruptionbudgets'],
  Namespace: ['namespace', 'namespaces', 'ns'],
};

/** The kinds of workloads as completion lists them. */
export const workloadKindWords: readonly string[] = Object.values(workloadWords).map(
  ([word = '']) => word,
);

/** Stands for the kind where the user typed a name alone. */
const eitherWord = 'node-or-pod';

/** The kind that a word stands for; null: it is none of a workload. */
export function workloadKindOf(word: string): WorkloadKind | typeof eitherWord | null {
  if (word === eitherWord) return word;
  const plain = word.replace(/\.(apps|batch|policy)$/, '');
  const kinds = Object.keys(workloadWords) as readonly WorkloadKind[];
  return kinds.find((kind) => workloadWords[kind].includes(plain)) ?? null;
}

/** True: the word names a kind to explain; `isKind`: true for a kind with a separate command. */
export function namesKind(word: string, isKind: (word: string) => boolean): boolean {
  const [, kind = word] = /^([a-z.]+)\/.+$/s.exec(word) ?? [];
  return workloadKindOf(kind) !== null || isKind(kind);
}

/**
 * The words after `explain`, with the command that they mean: `deployment/web` is `workload deployment web`, and a
 * name alone that is no kind is a node or a pod.
 */
export function subjectWords(
  word: string,
  isAlone: boolean,
  isKind: (word: string) => boolean,
): readonly string[] {
  const [, kind = word, name] = /^([a-z0-9.-]+)\/(.+)$/s.exec(word) ?? [];
  const words = name === undefined ? [kind] : [kind, name];
  if (workloadKindOf(kind) !== null) return ['workload', ...words];
  if (isKind(kind)) return words;
  if (isAlone && /[=:]/.test(word)) return ['taint', word];
  if (isAlone && isObjectName(word)) return ['workload', eitherWord, word];
  // That command says which kinds there are.
  return isAlone && name === undefined ? [word] : ['workload', ...words];
}
