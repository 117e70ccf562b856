// Cordons and taints a node, each with its mark in one write.
import { formatTaint, type Taint } from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import type { ApiClient, TaintObject } from '@taintmgr/k8s-adapter';
import {
  changeNode,
  formatTaintObject,
  type NodePatch,
  patchNodeRequest,
  type WritableNode,
} from '../../cluster/change-node.ts';
import { type DrainMark, readMarks } from '../../cluster/drain-marks.ts';
import type { NodeFacts } from '../../cluster/facts.ts';

/** What a drain sets on its nodes. */
export interface CordonAndTaint {
  /** Names the drain on nodes that no earlier run of it has changed. */
  readonly id: string;
  readonly taint: Taint;
  readonly cordon: boolean;
}

/** What was not yet so before a node was changed, and under which name it is written down. */
export interface NodeChanges {
  readonly cordoned: boolean;
  readonly tainted: boolean;
  /** Of this run, or of the earlier one that it goes on with; null: there is nothing to undo. */
  readonly id: string | null;
}

/**
 * Cordons or taints a node, as far as that is not yet so, and writes down on the node that it was this
 * drain: in one write. Other people's changes are not overwritten: on a conflict the node is read again.
 */
export async function applyTo(
  client: ApiClient,
  nodeName: string,
  step: 'cordoned' | 'tainted',
  wanted: CordonAndTaint,
  now: Instant,
): Promise<NodeChanges> {
  return await changeNode(client, nodeName, (node) => {
    const { metadata, spec } = node;
    const { taints = [], unschedulable: isCordoned = false } = spec ?? {};
    const { id, ...all } = changesTo(taints, isCordoned, metadata.annotations, wanted);
    const changes = { cordoned: false, tainted: false, [step]: all[step], id };
    if (!changes[step]) return { request: null, result: changes };
    const patch =
      step === 'tainted'
        ? taintPatch(node, wanted, changes, now)
        : { unschedulable: true as const, marks: marksWith(node, wanted, changes) };
    return { request: patchNodeRequest(node, patch), result: changes };
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

/** Puts the taint on, with the time; one of the same key and effect gives way. */
function taintPatch(
  node: WritableNode,
  wanted: CordonAndTaint,
  changes: NodeChanges,
  now: Instant,
): NodePatch {
  const { key, value, effect } = wanted.taint;
  const all = node.spec?.taints ?? [];
  const isSameKind = (one: TaintObject): boolean => one.key === key && one.effect === effect;
  const added = { key, ...(value !== '' && { value }), effect, timeAdded: formatTime(now) };
  return {
    taints: [...all.filter((one) => !isSameKind(one)), added],
    marks: marksWith(node, wanted, changes, {
      taint: { ...wanted.taint, timeAdded: now },
      tainted: true,
      replaced: all.find(isSameKind) ?? null,
    }),
  };
}

/** The node's marks, with what this drain has set by now. */
function marksWith(
  node: WritableNode,
  { id, taint }: CordonAndTaint,
  changes: NodeChanges,
  set: Pick<DrainMark, 'taint' | 'tainted' | 'replaced'> | null = null,
): readonly DrainMark[] {
  const marks = readMarks(node.metadata.annotations);
  const before = markOf(marks, taint);
  const fresh = { taint: { ...taint, timeAdded: null }, tainted: false, replaced: null };
  const mark: DrainMark = {
    ...(before ?? fresh),
    id: changes.id ?? id,
    cordoned: changes.cordoned || before?.cordoned === true,
    ...set,
  };
  return [...marks.filter((one) => one !== before), mark];
}

/** The mark of an earlier run with the same taint. */
export function markOf(marks: readonly DrainMark[], taint: Taint): DrainMark | undefined {
  const name = formatTaint(taint);
  return marks.find((one) => formatTaint(one.taint) === name);
}
