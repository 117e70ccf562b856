// Takes back what a drain has set on a node, and only that.
import { formatTaint, type Taint } from '@taintmgr/core';
import type { ApiClient, ApiRequest, TaintObject } from '@taintmgr/k8s-adapter';
import {
  changeNode,
  fieldManager,
  formatTaintObject,
  patchNodeRequest,
  type WritableNode,
} from './change-node.ts';
import { type DrainMark, readMarks } from './drain-marks.ts';
import { managersOf } from './managed-fields.ts';

/** What was undone on a node, and what was not. */
interface NodeUndone {
  readonly uncordoned: boolean;
  readonly untainted: boolean;
  /** What is left as it is, and why; one line each. */
  readonly left: readonly string[];
}

/** Which drains are undone: by their id, or by their taint as `key=value:effect`. */
type IsMeant = (mark: DrainMark) => boolean;

/** The marks of a name: the id of a drain, or its taint with its effect or without. */
export function isNamed(name: string): IsMeant {
  return ({ id, taint }) => {
    const full = formatTaint(taint);
    return [id, full, full.slice(0, full.lastIndexOf(':'))].includes(name);
  };
}

/** Where it is said what was undone and what was not, and whether it is only said. */
export interface UndoOptions {
  readonly say: (line: string) => void;
  readonly warn: (text: string) => void;
  readonly isDryRun?: boolean;
}

/**
 * Takes back what drains have set on these nodes, and only that: what somebody else has changed since
 * is left. Says, in kubectl's words, what was undone and what was not.
 */
export async function undoOnNodes(
  client: ApiClient,
  nodeNames: Iterable<string>,
  isMeant: IsMeant,
  { say, warn, isDryRun = false }: UndoOptions,
): Promise<void> {
  for (const name of nodeNames) {
    const { uncordoned, untainted, left } = await changeNode(client, name, (node) => {
      const { request, undone } = undoRequest(node, isMeant);
      return { request: isDryRun ? null : request, result: undone };
    });
    const how = isDryRun ? ' (dry run)' : '';
    if (uncordoned) say(`node/${name} uncordoned${how}`);
    if (untainted) say(`node/${name} untainted${how}`);
    for (const text of left) warn(`node ${name} ${text}`);
  }
}

/**
 * Takes back the taints that drains have put on a node and leaves it cordoned; whether there were any.
 * The cordon stays theirs, to be taken back later.
 */
export async function takeTaintBack(
  client: ApiClient,
  nodeName: string,
  isMeant: IsMeant,
): Promise<boolean> {
  return await changeNode(client, nodeName, (node) => {
    const marks = readMarks(node.metadata.annotations);
    const { taints, removed } = withoutTaints(node.spec?.taints ?? [], marks.filter(isMeant));
    if (!removed) return { request: null, result: false };
    const left = marks.map((mark) => (isMeant(mark) ? untainted(mark) : mark));
    const changes = left.filter((mark) => mark.tainted || mark.cordoned || mark.work);
    return { request: patchNodeRequest(node, { taints, marks: changes }), result: true };
  });
}

function untainted(mark: DrainMark): DrainMark {
  const taint = { ...mark.taint, timeAdded: null };
  return { ...mark, taint, tainted: false, replaced: null, work: null };
}

/** One write for all of it; null: no such drain has left a mark on the node. */
function undoRequest(
  node: WritableNode,
  isMeant: IsMeant,
): { readonly request: ApiRequest | null; readonly undone: NodeUndone } {
  const marks = readMarks(node.metadata.annotations);
  const meant = marks.filter(isMeant);
  if (meant.length === 0) {
    return { request: null, undone: { uncordoned: false, untainted: false, left: [] } };
  }
  const rest = marks.filter((mark) => !isMeant(mark));
  const { taints, removed, left } = withoutTaints(node.spec?.taints ?? [], meant);
  const cordon = cordonFate(node, meant, rest);
  const uncordoned = cordon.kind === 'off';
  const request = patchNodeRequest(node, {
    ...(removed && { taints }),
    ...(uncordoned && { unschedulable: null }),
    marks: rest.map((mark) =>
      cordon.kind === 'inherited' && mark === cordon.heir ? { ...mark, cordoned: true } : mark,
    ),
  });
  return { request, undone: { uncordoned, untainted: removed, left: [...left, ...kept(cordon)] } };
}

/** What becomes of the cordon of a node. */
type CordonFate =
  /** There is none, or these drains have not set it. */
  | { readonly kind: 'none' }
  | { readonly kind: 'off' }
  /** Another drain still counts on it: it is the one to take it off. */
  | { readonly kind: 'inherited'; readonly heir: DrainMark }
  /** The drain's was taken off, and somebody has cordoned the node since. */
  | { readonly kind: 'foreign'; readonly manager: string };

function cordonFate(
  { metadata, spec }: WritableNode,
  meant: readonly DrainMark[],
  rest: readonly DrainMark[],
): CordonFate {
  const isCordoned = spec?.unschedulable === true;
  if (!isCordoned || !meant.some(({ cordoned }) => cordoned)) return { kind: 'none' };
  const managers = managersOf('f:unschedulable', metadata);
  const [manager] = managers;
  // Without managedFields only the mark can be believed.
  if (manager !== undefined && !managers.includes(fieldManager))
    return { kind: 'foreign', manager };
  const [heir] = rest;
  return heir ? { kind: 'inherited', heir } : { kind: 'off' };
}

function kept(cordon: CordonFate): readonly string[] {
  if (cordon.kind === 'inherited') return [`stays cordoned for ${cordon.heir.id}`];
  if (cordon.kind === 'foreign') return [`stays cordoned: ${cordon.manager} has cordoned it since`];
  return [];
}

/** The taints without those that the marks have put on; those that gave way come back. */
function withoutTaints(
  taints: readonly TaintObject[],
  marks: readonly DrainMark[],
): {
  readonly taints: readonly TaintObject[];
  readonly removed: boolean;
  readonly left: readonly string[];
} {
  let result = taints;
  let removed = false;
  const left: string[] = [];
  for (const { taint, tainted, replaced } of marks) {
    if (!tainted) continue;
    const name = formatTaint(taint);
    const there = result.find((one) => formatTaintObject(one) === name);
    if (!there) continue;
    if (!isOurs(there, taint)) {
      left.push(`keeps ${name}: somebody else has added it since`);
      continue;
    }
    removed = true;
    result = result.filter((one) => one !== there);
    if (replaced) result = [...result, replaced];
  }
  return { taints: result, removed, left };
}

/** Whether it is the very taint that the drain has put on, and not one put on anew. */
function isOurs({ timeAdded }: TaintObject, taint: Taint): boolean {
  const at = timeAdded === undefined ? null : Date.parse(timeAdded);
  // The API keeps whole seconds.
  const ours = taint.timeAdded === null ? null : Math.floor(taint.timeAdded / 1000) * 1000;
  return at === ours;
}
