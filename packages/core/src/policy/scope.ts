// The scope of policies, pauses and drains: patterns of names, nodes and taints of a pause, groups of
// pods, and namespaces that were handed over.

import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { type LabelSelector, type Labels, selects } from '../model/selector.ts';
import type { EvictionPause, EvictionPauseScope } from './values.ts';

/** True when the text is as the pattern says, in which `*` stands for any characters, or none. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= end;
}

/** True when one of the patterns matches; none given: anything does. */
export function matchesSome(patterns: readonly string[], text: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matchesPattern(pattern, text));
}

/** True when the pause is for anything on this node. */
export function coversNode({ zones, nodes }: EvictionPauseScope, node: Node): boolean {
  if (zones.length > 0 && !zones.includes(node.zone ?? '')) return false;
  return nodes === null || selects(nodes, node.labels ?? {});
}

/** True when it is for this taint, on a node that it is for. */
export function coversTaint({ taintKeys }: EvictionPauseScope, key: string): boolean {
  return matchesSome(taintKeys, key);
}

/** True when a pause with this scope holds pods of this namespace, on a node that it is for. */
export function coversNamespace({ namespaces }: EvictionPauseScope, name: string): boolean {
  return matchesSome(namespaces, name);
}

/** True when a pause holds every eviction, wherever and whatever for. */
export function holdsAll({
  deadlines,
  scope: { zones, nodes, taintKeys, namespaces },
}: Pick<EvictionPause, 'deadlines' | 'scope'>): boolean {
  const lists = [zones, taintKeys, namespaces];
  return deadlines && nodes === null && lists.every((list) => list.length === 0);
}

/** Everything given must match. */
export interface PodGroup {
  /** Patterns, of which one must match; none: every namespace. */
  readonly namespaces?: readonly string[];
  /** Left out: all pods. */
  readonly podSelector?: LabelSelector;
}

export function isInGroup(
  { namespaces = [], podSelector }: PodGroup,
  { namespace, labels = {} }: Pick<Pod, 'namespace' | 'labels'>,
): boolean {
  return matchesSome(namespaces, namespace) && (!podSelector || selects(podSelector, labels));
}

/** The label that lets us decide about the evictions of a namespace's pods. */
export const takeoverLabel = { key: 'taintmgr.dev/takeover', value: 'enabled' } as const;

/**
 * The program that acts in namespaces that are taken over, as the API server names it in managed
 * fields.
 */
export const takeoverProgram = 'taintmgr-controller';

/** True when a namespace with these labels was handed over; one that is not known (null) was not. */
export function isTakenOver(labels: Labels | null): boolean {
  return labels?.[takeoverLabel.key] === takeoverLabel.value;
}
