// Reads and writes the marks of drains on nodes: their changes there, for the undo, and the sign
// that they are at work.

import { drainStaleMs, drainText, nodeDrainer } from '@taintmgr/core/drain';
import { formatTaint, parseTaint, type Taint } from '@taintmgr/core/model';
import { formatTime, type Instant, parseTime } from '@taintmgr/core/time';
import { drainMarksAnnotation } from '../proto/drain-annotation.ts';
import { asList, asRecord, asText, type JsonRecord, parseJson } from '../proto/json.ts';
import { isTaintObject, type TaintObject } from '../proto/requests.ts';

/** A drain as it is written down on a node, for its undo and for others who evict there. */
export interface DrainMark {
  /** The name of the drain; the same on all its nodes. */
  readonly id: string;
  /** The taint of the drain. */
  readonly taint: Taint;
  /** True where the drain put the taint on. */
  readonly tainted: boolean;
  /** True where the drain cordoned the node. */
  readonly cordoned: boolean;
  /** The taint that gave way; null: none. */
  readonly replaced: TaintObject | null;
  /** The user or program that runs the drain; '': unknown. */
  readonly by: string;
  /** The run that is at work there; null: none is, or not yet. */
  readonly work: DrainWork | null;
}

/** A run of a drain that evicts the pods of a node. */
interface DrainWork {
  /** Distinguishes this run from others of the same drain. */
  readonly run: string;
  /** The API server's time at its last sign of life. */
  readonly heartbeat: Instant;
  /** The run has ended, and left pods on the node. */
  readonly hasEnded: boolean;
}

/** Reads the annotation; invalid marks are left out. */
export function readMarks(
  annotations: Readonly<Record<string, unknown>> | undefined,
): readonly DrainMark[] {
  const text = asText(annotations?.[drainMarksAnnotation]);
  return text === '' ? [] : asList(parseJson(text)).flatMap(readMark);
}

/** The mark of the drain of a taint, of this run or of an earlier one. */
export function markOf(marks: readonly DrainMark[], taint: Taint): DrainMark | undefined {
  const name = formatTaint(taint);
  return marks.find((one) => formatTaint(one.taint) === name);
}

/** True while a drain is at work, as far as its last sign of life shows. */
export function isAtWork({ work }: DrainMark, now: Instant): boolean {
  return work !== null && !work.hasEnded && now - work.heartbeat < drainStaleMs;
}

/** The annotation's value; null: none is needed. */
export function writeMarks(marks: readonly DrainMark[]): string | null {
  if (marks.length === 0) return null;
  const objects = marks.map(({ id, taint, tainted, cordoned, replaced, by, work }) => {
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
  const mark = asRecord(value);
  const { id, taint } = mark;
  if (typeof id !== 'string' || typeof taint !== 'string') return [];
  try {
    return [
      {
        id,
        taint: { ...parseTaint(taint), timeAdded: parseTime(asText(mark.timeAdded)) },
        tainted: mark.tainted === true,
        cordoned: mark.cordoned === true,
        replaced: isTaintObject(mark.replaced) ? mark.replaced : null,
        by: asText(mark.by),
        work: readWork(mark),
      },
    ];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function readWork({ run, heartbeat, ended }: JsonRecord): DrainWork | null {
  const at = parseTime(asText(heartbeat));
  if (at === null || typeof run !== 'string') return null;
  return { run, heartbeat: at, hasEnded: ended === true };
}

/** `drain drain-20261122-041830-a4d8 of alice` */
export function drainName({ id, by }: Pick<DrainMark, 'id' | 'by'>): string {
  if (by === nodeDrainer) return drainText({ id, by });
  return `drain ${id}${by === '' ? '' : ` of ${by}`}`;
}
