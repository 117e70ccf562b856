// The marks of drains on nodes that were read.

import { formatTaint } from '@taintmgr/core/model';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import type { ApiClient } from '../client/client.ts';
import { type DrainMark, drainName, isAtWork, readMarks } from '../drain/marks.ts';
import type { IsMeant } from '../drain/undo.ts';
import { getNodeRequest } from '../proto/requests.ts';
import { ApiError } from '../transport/errors.ts';
import { evictsPods, type NodeFacts } from './facts.ts';

/** The drains at work that make pods leave the node though their taint alone would not. */
export function drainedBy({ node, annotations }: NodeFacts, now: Instant): readonly DrainMark[] {
  const names = new Set(node.taints.map(formatTaint));
  return readMarks(annotations).filter((mark) => {
    const { tainted, taint } = mark;
    const isTheirs = tainted && taint.effect !== 'NoExecute' && names.has(formatTaint(taint));
    return isTheirs && isAtWork(mark, now);
  });
}

/** True when pods have to leave the node, by a NoExecute taint or by a drain. */
export function losesPods(facts: NodeFacts, now: Instant): boolean {
  return evictsPods(facts) || drainedBy(facts, now).length > 0;
}

/** The nodes that pods have to leave. */
export function losingPods(nodes: readonly NodeFacts[], now: Instant): readonly NodeFacts[] {
  return nodes.filter((facts) => losesPods(facts, now));
}

/** A drain for which a node waits that it has not tainted yet, if it still runs. */
export interface AwaitedDrain {
  readonly id: string;
  readonly node: string;
  /** The program that runs it; '': unknown. */
  readonly by: string;
}

/** Drains that have cordoned these nodes and not begun there yet. */
export function awaitedDrains(nodes: readonly NodeFacts[]): readonly AwaitedDrain[] {
  return nodes.flatMap(({ node, annotations }) => {
    const names = new Set(node.taints.map(formatTaint));
    return readMarks(annotations).flatMap(({ id, by, tainted, cordoned, work, taint }) => {
      const isToCome = cordoned && node.unschedulable === true && !tainted && work === null;
      return isToCome && !names.has(formatTaint(taint)) ? [{ id, node: node.name, by }] : [];
    });
  });
}

/** A drain that has left marks on nodes. */
export interface MarkedDrain {
  /** The name of the drain. */
  readonly id: string;
  /** Its taint as `key=value:effect`. */
  readonly taint: string;
  /** The names of the nodes that have its marks. */
  readonly nodes: readonly string[];
}

/** The drains that have left marks on these nodes. */
export function drainsOn(nodes: readonly NodeFacts[]): readonly MarkedDrain[] {
  const drains = new Map<string, { readonly taint: string; readonly nodes: string[] }>();
  for (const { node, annotations } of nodes) {
    for (const { id, taint } of readMarks(annotations)) {
      const drain = drains.get(id) ?? { taint: formatTaint(taint), nodes: [] };
      drain.nodes.push(node.name);
      drains.set(id, drain);
    }
  }
  return Array.from(drains, ([id, drain]) => ({ id, ...drain }));
}

/** A drain that is at work on a node, in words: `drain d1 of ann is at work on n1 (its mark is 3s old)`. */
export interface WorkOnNode {
  readonly node: string;
  readonly text: string;
}

/** The marks of these nodes by which drains are at work, as far as the API server's clock shows. */
export async function workOn(
  client: ApiClient,
  nodes: readonly NodeFacts[],
  isMeant: IsMeant = () => true,
): Promise<readonly WorkOnNode[]> {
  const working = nodes.flatMap(({ node: { name }, annotations }) =>
    readMarks(annotations).flatMap((mark) => {
      return mark.work && isMeant(mark) ? [{ name, mark, work: mark.work }] : [];
    }),
  );
  const [first] = working;
  if (!first) return [];
  const now = await clockOf(client, first.name);
  return working.flatMap(({ name: node, mark, work }) => {
    const ago = formatDuration(Math.max(0, now - work.heartbeat));
    const text = `${drainName(mark)} is at work on ${node} (its mark is ${ago} old)`;
    return isAtWork(mark, now) ? [{ node, text }] : [];
  });
}

/** The API server's time, as far as it says so; a node that is gone by now, or refuses, ends nothing. */
async function clockOf(client: ApiClient, nodeName: string): Promise<Instant> {
  try {
    return (await client.ask(getNodeRequest(nodeName))).serverTime ?? Date.now();
  } catch (error) {
    if (error instanceof ApiError) return Date.now();
    throw error;
  }
}

/** A drain that evicts the pods of a node, or did when it was last heard of. */
export interface RunningDrain {
  /** The name of the drain. */
  readonly id: string;
  /** The name of the node. */
  readonly node: string;
  /** The program that runs it; '': unknown. */
  readonly by: string;
  /** The API server's time at its last sign of life. */
  readonly heartbeat: Instant;
}

/** The drains at work on these nodes that have not said that they ended. */
export function runningDrains(nodes: readonly NodeFacts[]): readonly RunningDrain[] {
  return nodes.flatMap(({ node, annotations }) =>
    readMarks(annotations).flatMap(({ id, by, work }) => {
      if (work === null || work.hasEnded) return [];
      return [{ id, node: node.name, by, heartbeat: work.heartbeat }];
    }),
  );
}
