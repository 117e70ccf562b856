import { formatTaint, parseTaint, type Taint } from '@taintmgr/core';
import { drainStaleMs } from '@taintmgr/core/drain';
import { formatTime, type Instant, parseTime } from '@taintmgr/core/time';
import type { TaintObject } from '@taintmgr/k8s-adapter';
import { drainMarksAnnotation } from '@taintmgr/k8s-adapter';
import { evictsPods, type NodeFacts } from './facts.ts';

/** What drains write down on nodes, so that they can be undone, and that they are at work there. */
export interface DrainMark {
  /** Which drain it was; the same on all its nodes. */
  readonly id: string;
  readonly taint: Taint;
  /** Whether it put the taint on. */
  readonly tainted: boolean;
  readonly cordoned: boolean;
  /** The taint that gave way; null: none. */
  readonly replaced: TaintObject | null;
  /** Who runs it; '': nobody knows. */
  readonly by: string;
  /** That it is at work there; null: it is not, or not yet. */
  readonly work: DrainWork | null;
}

/** A run of a drain that evicts the pods of a node. */
interface DrainWork {
  /** Distinguishes this run from others of the same drain. */
  readonly run: string;
  /** The API server's time at its last sign of life. */
  readonly heartbeat: Instant;
  /** It has ended, and left pods on the node. */
  readonly hasEnded: boolean;
}

interface MarkObject {
  readonly id?: unknown;
  readonly taint?: unknown;
  readonly timeAdded?: unknown;
  readonly tainted?: unknown;
  readonly cordoned?: unknown;
  readonly replaced?: TaintObject;
  readonly by?: unknown;
  readonly run?: unknown;
  readonly heartbeat?: unknown;
  readonly ended?: unknown;
}

/** Reads the annotation; what is no mark is left out. */
export function readMarks(
  annotations: Readonly<Record<string, string>> | undefined,
): readonly DrainMark[] {
  const text = annotations?.[drainMarksAnnotation];
  if (text === undefined) return [];
  const value = parsed(text);
  return Array.isArray(value) ? value.flatMap(readMark) : [];
}

/** The mark of the drain of a taint, be it of this run or of an earlier one. */
export function markOf(marks: readonly DrainMark[], taint: Taint): DrainMark | undefined {
  const name = formatTaint(taint);
  return marks.find((one) => formatTaint(one.taint) === name);
}

/** Whether a drain is at work, as far as its last sign of life shows. */
export function isAtWork({ work }: DrainMark, now: Instant): boolean {
  return work !== null && !work.hasEnded && now - work.heartbeat < drainStaleMs;
}

/** The drains that make pods leave the node though their taint alone would not. */
export function drainedBy({ node, annotations }: NodeFacts): readonly DrainMark[] {
  const names = new Set(node.taints.map(formatTaint));
  return readMarks(annotations).filter(({ tainted, taint }) => {
    return tainted && taint.effect !== 'NoExecute' && names.has(formatTaint(taint));
  });
}

/** Whether pods have to leave the node, be it by a NoExecute taint or by a drain. */
export function losesPods(facts: NodeFacts): boolean {
  return evictsPods(facts) || drainedBy(facts).length > 0;
}

/** A drain that has left marks on nodes. */
export interface MarkedDrain {
  readonly id: string;
  readonly taint: string;
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

/** The annotation's value; null: none is needed. */
export function writeMarks(marks: readonly DrainMark[]): string | null {
  if (marks.length === 0) return null;
  const objects = marks.map(({ id, taint, tainted, cordoned, replaced, by, work }): MarkObject => {
    return {
      id,
      taint: formatTaint(taint),
      ...(taint.timeAdded !== null && { timeAdded: formatTime(taint.timeAdded) }),
      tainted,
      cordoned,
      ...(replaced && { replaced }),
      ...(by !== '' && { by }),
      ...(work && { run: work.run, heartbeat: formatTime(work.heartbeat) }),
      ...(work?.hasEnded && { ended: true }),
    };
  });
  return JSON.stringify(objects);
}

function readMark(value: unknown): readonly DrainMark[] {
  const { id, taint, timeAdded, tainted, cordoned, replaced, ...more } = (value ??
    {}) as MarkObject;
  if (typeof id !== 'string' || typeof taint !== 'string') return [];
  const time = typeof timeAdded === 'string' ? parseTime(timeAdded) : null;
  try {
    return [
      {
        id,
        taint: { ...parseTaint(taint), timeAdded: time },
        tainted: tainted === true,
        cordoned: cordoned === true,
        replaced: replaced ?? null,
        by: typeof more.by === 'string' ? more.by : '',
        work: readWork(more),
      },
    ];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function readWork({ run, heartbeat, ended }: MarkObject): DrainWork | null {
  const at = typeof heartbeat === 'string' ? parseTime(heartbeat) : null;
  if (at === null || typeof run !== 'string') return null;
  return { run, heartbeat: at, hasEnded: ended === true };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
