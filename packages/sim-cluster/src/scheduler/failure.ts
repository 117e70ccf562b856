// Why a pod fits on no node, in kube-scheduler's words.
import type { Filter, Rejection, Subject } from './filter.ts';
import type { Place } from './place.ts';

/** A fault of a pod that rules out every node. */
export interface Refusal {
  readonly text: string;
  readonly subject: Subject;
}

/** The failure to find a node, as the pod's condition reports it. */
export interface Failure {
  /** The number of nodes. */
  readonly nodes: number;
  /**
   * The fault of the pod itself, which made a check of the nodes unnecessary; null: the nodes were
   * checked.
   */
  readonly refusal: Refusal | null;
  /** By node, but for those that its affinity does not name. */
  readonly rejections: ReadonlyMap<Place, Rejection>;
  /** The rules that rejected it. */
  readonly filters: readonly Filter[];
}

const elsewhere = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
export function failureText({ nodes, refusal, rejections }: Failure): string {
  if (nodes === 0) return 'no nodes available to schedule pods';
  // The next plugin then has no result to work with, and the message says so too.
  if (refusal !== null) {
    const text = `0/${nodes} nodes are available: ${refusal.text}.`;
    return refusal.subject === 'devices' ? text : `${text} not found`;
  }
  const counts = new Map<string, number>();
  for (const { reasons } of rejections.values()) {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  if (nodes > rejections.size) counts.set(elsewhere, nodes - rejections.size);
  return availableText(nodes, counts);
}

/** The reasons with how often each was given, sorted as texts. */
export function availableText(nodes: number, counts: ReadonlyMap<string, number>): string {
  const texts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodes} nodes are available: ${texts.join(', ')}.`;
}

/** The subjects of changes that could help the pod. */
export function subjectsOf({ nodes, refusal, rejections }: Failure): ReadonlySet<Subject> {
  if (nodes === 0) return new Set(['node']);
  if (refusal !== null) return new Set([refusal.subject]);
  const subjects = new Set<Subject>(['node']);
  for (const { subject } of rejections.values()) subjects.add(subject);
  return subjects;
}
