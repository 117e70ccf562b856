// A change that a drain makes to a node beside other writers: its reading of the node, and its one
// write.
import { formatTaint } from '@taintmgr/core/model';
import { formatTime, type Instant, parseTime } from '@taintmgr/core/time';
import { drainMarksAnnotation } from '../proto/drain-annotation.ts';
import { asList, asRecord, asText } from '../proto/json.ts';
import { managersOf } from '../proto/managed-fields.ts';
import {
  type ApiRequest,
  isTaintObject,
  nodePath,
  patchRequest,
  type TaintObject,
  withQuery,
} from '../proto/requests.ts';
import { timeFromJson } from '../proto/taint-starts.ts';
import { type DrainMark, readMarks, writeMarks } from './marks.ts';

/** The fields of a node that a drain reads. */
export interface DrainableNode {
  readonly name: string;
  readonly resourceVersion: string;
  /** As the API has them: they are written back whole. */
  readonly taints: readonly TaintObject[];
  readonly isCordoned: boolean;
  /** The managers that have set or taken off the cordon, by metadata.managedFields; empty where these do not say. */
  readonly cordonManagers: readonly string[];
  readonly marks: readonly DrainMark[];
}

/** The fields of a node that a drain writes; those that are left out stay. */
export interface NodePatch {
  readonly taints?: readonly TaintObject[];
  readonly unschedulable?: true | null;
  readonly marks: readonly DrainMark[];
}

/** The change to a node as it was read at an instant of the API server's clock. */
export type NodeChange<T> = (node: DrainableNode, at: Instant) => ChangedNode<T>;

export type ChangedNode<T> =
  /** `patch` null: the node is as wanted. */
  | { readonly kind: 'changed'; readonly patch: NodePatch | null; readonly result: T }
  | RefusedChange;

/** The node belongs to another drain, or does not have to be drained any more; in words. */
export interface RefusedChange {
  readonly kind: 'refused';
  readonly message: string;
  /** Another run continues the same drain; left out: none does. */
  readonly takenOver?: true;
}

/**
 * Reads from a v1 Node what a drain changes. Never throws: a field of a wrong type is read as an
 * absent one.
 */
export function drainableNode(object: unknown): DrainableNode {
  const { metadata: meta, spec } = asRecord(object);
  const metadata = asRecord(meta);
  const { taints, unschedulable } = asRecord(spec);
  return {
    name: asText(metadata.name),
    resourceVersion: asText(metadata.resourceVersion),
    taints: asList(taints).filter(isTaintObject).map(asWritten),
    isCordoned: unschedulable === true,
    cordonManagers: managersOf('f:unschedulable', metadata),
    marks: readMarks(asRecord(metadata.annotations)),
  };
}

/** A taint of @kubernetes/client-node has a Date, which the API takes as text. */
function asWritten({ timeAdded, ...taint }: TaintObject): TaintObject {
  const at = typeof timeAdded === 'string' ? null : timeFromJson(timeAdded);
  const text = at === null ? timeAdded : formatTime(at);
  return { ...taint, ...(text !== undefined && { timeAdded: text }) };
}

/**
 * A single PATCH for all of it, refused with 409 when the node is no longer at its resourceVersion.
 */
export function patchNodeRequest(
  { name, resourceVersion }: DrainableNode,
  { taints, unschedulable, marks }: NodePatch,
  fieldManager: string,
): ApiRequest {
  return patchRequest('strategicMerge', withQuery(nodePath(name), { fieldManager }), {
    metadata: { resourceVersion, annotations: { [drainMarksAnnotation]: writeMarks(marks) } },
    spec: {
      ...(unschedulable !== undefined && { unschedulable }),
      // The list has no merge key: it is written whole.
      ...(taints && { taints: taints.length === 0 ? null : taints }),
    },
  });
}

/** `key=value:effect` */
export function formatTaintObject({
  key,
  value = '',
  effect,
}: Pick<TaintObject, 'key' | 'value' | 'effect'>): string {
  return formatTaint({ key, value, effect });
}

/** True for the very taint that the drain has put on, false for one that was put on again. */
export function isTaintOf({ taint, tainted }: DrainMark, there: TaintObject): boolean {
  if (!tainted || formatTaintObject(there) !== formatTaint(taint)) return false;
  // The API keeps whole seconds.
  const ours = taint.timeAdded === null ? null : Math.floor(taint.timeAdded / 1000) * 1000;
  return parseTime(there.timeAdded ?? '') === ours;
}

/**
 * The marks when the taint of `gone` is not to come back: where it gave way to another drain's, what
 * gave way to it comes back instead. The same list where it gave way to none.
 */
export function passedOn(marks: readonly DrainMark[], gone: DrainMark): readonly DrainMark[] {
  const hides = ({ replaced }: DrainMark): boolean => {
    return replaced !== null && isTaintOf(gone, replaced);
  };
  if (!marks.some(hides)) return marks;
  return marks.map((mark) => (hides(mark) ? { ...mark, replaced: gone.replaced } : mark));
}
