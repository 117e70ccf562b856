// Cordons and taints a node, each with its mark in one write.
import { formatTaint } from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import type { ApiClient, TaintObject } from '@taintmgr/k8s-adapter';
import {
  changeNode,
  formatTaintObject,
  type NodePatch,
  patchNodeRequest,
  type WritableNode,
} from '../../cluster/change-node.ts';
import { type DrainMark, markOf, readMarks } from '../../cluster/drain-marks.ts';
import type { NodeFacts } from '../../cluster/facts.ts';
import { type DrainRunName, refuseAnother } from './working-mark.ts';

/** What a drain sets on its nodes. */
export interface CordonAndTaint extends DrainRunName {
  /** Names the drain on nodes that no earlier run of it has changed. */
  readonly id: string;
  readonly cordon: boolean;
  /** Who drains; '': nobody knows. */
  readonly by: string;
}

/** What was not yet so before a node was changed, and under which name it is written down. */
export interface NodeChanges {
  readonly cordoned: boolean;
  readonly tainted: boolean;
  /** Of this run, or of the earlier one that it goes on with; null: there is nothing to undo. */
  readonly id: string | null;
}

/**
 * Cordons a node, if it is not, and writes down on it that it was this drain: in one write. Other
 * people's changes are not overwritten: on a conflict the node is read again.
 */
export async function cordonNode(
  client: ApiClient,
  nodeName: string,
  wanted: CordonAndTaint,
): Promise<NodeChanges> {
  return await changeNode(client, nodeName, (node) => {
    const changes = { ...changesOf(node, wanted), tainted: false };
    if (!changes.cordoned) return { request: null, result: changes };
    const patch = { unschedulable: true as const, marks: marksWith(node, wanted, changes) };
    return { request: patchNodeRequest(node, patch), result: changes };
  });
}

/**
 * Taints a node, if it is not, and writes down on it that it was this drain, and that it is at work
 * there: in one write, so that nobody else evicts for the taint in between. Throws AnotherDrainError.
 */
export async function taintNode(
  client: ApiClient,
  nodeName: string,
  wanted: CordonAndTaint,
  now: Instant,
): Promise<NodeChanges> {
  return await changeNode(client, nodeName, (node, at) => {
    refuseAnother(node, wanted, at);
    const changes = { ...changesOf(node, wanted), cordoned: false };
    const { taints, set } = changes.tainted ? taintSet(node, wanted, now) : untouched;
    const work = { run: wanted.run, heartbeat: at, hasEnded: false };
    const marks = marksWith(node, wanted, changes, { ...set, by: wanted.by, work });
    return { request: patchNodeRequest(node, { ...taints, marks }), result: changes };
  });
}

/** What the drain would change on a node, as it was read. */
export function missingOn(
  { node, cordoned, annotations }: NodeFacts,
  wanted: CordonAndTaint,
): NodeChanges {
  return changesTo(node.taints, cordoned, annotations, wanted);
}

function changesTo(
  taints: readonly Pick<TaintObject, 'key' | 'value' | 'effect'>[],
  isCordoned: boolean,
  annotations: WritableNode['metadata']['annotations'],
  { id, taint, cordon }: CordonAndTaint,
): NodeChanges {
  const name = formatTaint(taint);
  const tainted = !taints.some((one) => formatTaintObject(one) === name);
  const cordoned = cordon && !isCordoned;
  const mark = markOf(readMarks(annotations), taint);
  return { cordoned, tainted, id: mark?.id ?? (tainted || cordoned ? id : null) };
}

function changesOf({ metadata, spec }: WritableNode, wanted: CordonAndTaint): NodeChanges {
  const { taints = [], unschedulable = false } = spec ?? {};
  return changesTo(taints, unschedulable, metadata.annotations, wanted);
}

/** What putting the taint on changes, on the node and in the mark. */
interface TaintSet {
  readonly taints: Pick<NodePatch, 'taints'>;
  readonly set: Partial<DrainMark>;
}

const untouched: TaintSet = { taints: {}, set: {} };

/** The taint is put on with the time; one of the same key and effect gives way. */
function taintSet(node: WritableNode, wanted: CordonAndTaint, now: Instant): TaintSet {
  const { key, value, effect } = wanted.taint;
  const all = node.spec?.taints ?? [];
  const isSameKind = (one: TaintObject): boolean => one.key === key && one.effect === effect;
  const added = { key, ...(value !== '' && { value }), effect, timeAdded: formatTime(now) };
  return {
    taints: { taints: [...all.filter((one) => !isSameKind(one)), added] },
    set: {
      taint: { ...wanted.taint, timeAdded: now },
      tainted: true,
      replaced: all.find(isSameKind) ?? null,
    },
  };
}

/** The node's marks, with what this drain has set by now. */
function marksWith(
  node: WritableNode,
  { id, taint, by }: CordonAndTaint,
  changes: NodeChanges,
  set: Partial<DrainMark> = {},
): readonly DrainMark[] {
  const marks = readMarks(node.metadata.annotations);
  const before = markOf(marks, taint);
  const none = { tainted: false, replaced: null, by, work: null };
  const fresh = { taint: { ...taint, timeAdded: null }, ...none };
  const mark: DrainMark = {
    ...(before ?? fresh),
    id: changes.id ?? id,
    cordoned: changes.cordoned || before?.cordoned === true,
    ...set,
  };
  return [...marks.filter((one) => one !== before), mark];
}
