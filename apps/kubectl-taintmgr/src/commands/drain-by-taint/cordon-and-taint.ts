// Cordons and taints a node, each with its mark in one write.
import { formatTaint, formatTime, type Instant, type Taint } from '@taintmgr/core';
import type { ApiClient, ApiRequest, TaintObject } from '@taintmgr/k8s-adapter';
import {
  changeNode,
  formatTaintObject,
  type NodeObject,
  type NodePatch,
  patchNodeRequest,
} from '../../cluster/change-node.ts';
import { type DrainMark, readMarks } from '../../cluster/drain-marks.ts';

/** What a node is to be given. */
export interface Closing {
  /** Names the drain on nodes that no earlier run of it has closed. */
  readonly id: string;
  readonly taint: Taint;
  readonly cordon: boolean;
}

/** What was not yet so before a node was closed, and under which name it is written down. */
export interface NodeChanges {
  readonly cordoned: boolean;
  readonly tainted: boolean;
  /** Of this run, or of the earlier one that it goes on with; null: there is nothing to undo. */
  readonly id: string | null;
}

/**
 * Cordons a node, as far as it is not yet, and writes down on the node that it was this drain: in one
 * write. Other people's changes are not overwritten: on a conflict the node is read again.
 */
export async function cordonNode(
  client: ApiClient,
  nodeName: string,
  closing: Closing,
): Promise<NodeChanges> {
  return await changeNode(client, nodeName, (node) => {
    const changes = { ...missing(stateOf(node), closing), tainted: false };
    if (!changes.cordoned) return { request: null, result: changes };
    const patch: NodePatch = { unschedulable: true, marks: marksWith(node, closing, changes) };
    return { request: patchNodeRequest(node, patch), result: changes };
  });
}

/**
 * Puts the taint on a node, with the time it was put there, as far as it is not there already, and
 * writes that down on the node as well.
 */
export async function taintNode(
  client: ApiClient,
  nodeName: string,
  closing: Closing,
  now: Instant,
): Promise<NodeChanges> {
  return await changeNode(client, nodeName, (node) => {
    const changes = { ...missing(stateOf(node), closing), cordoned: false };
    if (!changes.tainted) return { request: null, result: changes };
    return { request: taintRequest(node, closing, changes, now), result: changes };
  });
}

/** What decides whether a node is closed already. */
export interface ClosedState {
  readonly taints: readonly TaintObject[] | readonly Taint[];
  readonly isCordoned: boolean;
  readonly annotations: NodeObject['metadata']['annotations'];
}

/** What closing the node would change. */
export function missing(state: ClosedState, { id, taint, cordon }: Closing): NodeChanges {
  const name = formatTaint(taint);
  const tainted = !state.taints.some((one) => formatTaintObject(one) === name);
  const cordoned = cordon && !state.isCordoned;
  const mark = markOf(readMarks(state.annotations), taint);
  return { cordoned, tainted, id: mark?.id ?? (tainted || cordoned ? id : null) };
}

function stateOf({ metadata, spec }: NodeObject): ClosedState {
  return {
    taints: spec?.taints ?? [],
    isCordoned: spec?.unschedulable === true,
    annotations: metadata.annotations,
  };
}

function taintRequest(
  node: NodeObject,
  closing: Closing,
  changes: NodeChanges,
  now: Instant,
): ApiRequest {
  const { key, value, effect } = closing.taint;
  const all = node.spec?.taints ?? [];
  const isSameKind = (one: TaintObject): boolean => one.key === key && one.effect === effect;
  const added = { key, ...(value !== '' && { value }), effect, timeAdded: formatTime(now) };
  return patchNodeRequest(node, {
    taints: [...all.filter((one) => !isSameKind(one)), added],
    marks: marksWith(node, closing, changes, {
      taint: { ...closing.taint, timeAdded: now },
      tainted: true,
      replaced: all.find(isSameKind) ?? null,
    }),
  });
}

/** The node's marks, with what this drain has set by now. */
function marksWith(
  node: NodeObject,
  { id, taint }: Closing,
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

function markOf(marks: readonly DrainMark[], taint: Taint): DrainMark | undefined {
  const name = formatTaint(taint);
  return marks.find((one) => formatTaint(one.taint) === name);
}
