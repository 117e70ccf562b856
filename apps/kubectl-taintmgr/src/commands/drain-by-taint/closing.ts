import { formatTaint, formatTime, type Instant, type Taint } from '@taintmgr/core';
import type { ApiClient, ApiRequest, TaintObject } from '@taintmgr/k8s-adapter';
import {
  changeNode,
  formatTaintObject,
  type NodeObject,
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
 * Cordons a node and puts the taint on it, with the time it was put there, as far as that is not so
 * already, and writes down on the node what was changed: all in one write. Other people's changes
 * are not overwritten: on a conflict the node is read again.
 */
export async function closeNode(
  client: ApiClient,
  nodeName: string,
  closing: Closing,
  now: Instant,
): Promise<NodeChanges> {
  return await changeNode(client, nodeName, (node) => {
    const { metadata, spec } = node;
    const state = {
      taints: spec?.taints ?? [],
      isCordoned: spec?.unschedulable === true,
      annotations: metadata.annotations,
    };
    const changes = missing(state, closing);
    if (!changes.cordoned && !changes.tainted) return { request: null, result: changes };
    return { request: closeRequest(node, changes, closing, now), result: changes };
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
  const mark = readMarks(state.annotations).find((one) => formatTaint(one.taint) === name);
  return { cordoned, tainted, id: mark?.id ?? (tainted || cordoned ? id : null) };
}

function closeRequest(
  node: NodeObject,
  { cordoned, tainted, id }: NodeChanges,
  { taint, id: ownId }: Closing,
  now: Instant,
): ApiRequest {
  const { key, value, effect } = taint;
  const all = node.spec?.taints ?? [];
  const isSameKind = (one: TaintObject): boolean => one.key === key && one.effect === effect;
  const others = all.filter((one) => !isSameKind(one));
  const added = { key, ...(value !== '' && { value }), effect, timeAdded: formatTime(now) };
  const marks = readMarks(node.metadata.annotations);
  const before = marks.find((one) => formatTaint(one.taint) === formatTaint(taint));
  const mark: DrainMark = {
    id: id ?? ownId,
    taint: { ...taint, timeAdded: tainted ? now : (before?.taint.timeAdded ?? null) },
    tainted: tainted || before?.tainted === true,
    cordoned: cordoned || before?.cordoned === true,
    replaced: tainted ? (all.find(isSameKind) ?? null) : (before?.replaced ?? null),
  };
  return patchNodeRequest(node, {
    ...(tainted && { taints: [...others, added] }),
    ...(cordoned && { unschedulable: true }),
    marks: [...marks.filter((one) => one !== before), mark],
  });
}
