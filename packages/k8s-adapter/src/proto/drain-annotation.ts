// Reads the marks of drains on their nodes: their changes there, and the sign that they are at
// work.
import type { DrainMarkName, WorkingDrain } from '@taintmgr/core';
import { asList, asRecord, asText, parseJson } from './json.ts';

/** On a node: a JSON list of one mark for each drain. */
export const drainMarksAnnotation = 'taintmgr.dev/drain';

/** More drains on one node, or longer names, are not ours. */
const drainsMax = 10;
const textMax = 253;

/** The drains at work on a node, by its annotation: those whose marks name a heartbeat. */
export function workingDrains(annotation: unknown): readonly WorkingDrain[] {
  const text = asText(annotation);
  if (text === '') return [];
  const marks = asList(parseJson(text)).flatMap(workingDrain);
  const isFirst = ({ taint }: WorkingDrain, index: number): boolean =>
    marks.findIndex((mark) => mark.taint === taint) === index;
  return marks.filter(isFirst).slice(0, drainsMax);
}

/** The drains that have set something on a node, at work or not. */
export function drainMarkNames(annotation: unknown): readonly DrainMarkName[] {
  const text = asText(annotation);
  if (text === '') return [];
  return asList(parseJson(text)).slice(0, drainsMax).flatMap(markName);
}

function markName(value: unknown): readonly DrainMarkName[] {
  const { id, taint, by } = asRecord(value);
  const name = { id: asText(id), taint: asText(taint), by: asText(by) };
  const isOurs = Object.values(name).every((text) => text.length <= textMax);
  return isOurs && name.id !== '' && name.taint !== '' ? [name] : [];
}

function workingDrain(value: unknown): readonly WorkingDrain[] {
  const { id, taint, by, heartbeat } = asRecord(value);
  const drain = {
    id: asText(id),
    taint: asText(taint),
    by: asText(by),
    heartbeat: asText(heartbeat),
  };
  const { length } = Object.values(drain).filter((text) => text.length > textMax);
  return length === 0 && drain.id !== '' && drain.taint !== '' && drain.heartbeat !== ''
    ? [drain]
    : [];
}
