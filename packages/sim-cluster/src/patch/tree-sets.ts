// Set operations on trees of fields.
import type { FieldTree } from '../objects/kube-object.ts';
import type { FieldPath } from './field-set.ts';

/** The member of a node that makes the node a field beside its parts. */
export const selfKey = '.';
/** The node of a field without parts. */
export const leaf: FieldTree = {};

/** The ways to all fields of a tree. */
export function pathsOf(tree: FieldTree): readonly FieldPath[] {
  return Object.entries(tree).flatMap(([element, node]): readonly FieldPath[] =>
    isEmpty(node) ? [[element]] : pathsOf(node).map((path) => [element, ...path]),
  );
}

/** True if the tree has a field at the end of the path. */
export function hasField(tree: FieldTree, path: FieldPath): boolean {
  const node = nodeAt(tree, path);
  return node !== undefined && isEmpty(node);
}

/** True if the tree has a field at the end of the path, or within it. */
export function hasFieldWithin(tree: FieldTree, path: FieldPath): boolean {
  return nodeAt(tree, path) !== undefined;
}

function nodeAt(tree: FieldTree, path: FieldPath): FieldTree | undefined {
  return path.reduce<FieldTree | undefined>((inner, element) => inner?.[element], tree);
}

/** The tree of one field. */
export function treeAt(path: FieldPath): FieldTree {
  return path.reduceRight<FieldTree>((inner, element) => ({ [element]: inner }), leaf);
}

/** The fields of both; the same tree when the other has no more. */
export function union(tree: FieldTree, other: FieldTree): FieldTree {
  if (covers(tree, other)) return tree;
  const result: Record<string, FieldTree> = { ...withSelf(tree, other) };
  for (const element in other) {
    if (element === selfKey) continue;
    const added = other[element] as FieldTree;
    const had = result[element];
    result[element] = had ? unionOfNodes(had, added) : added;
  }
  return sorted(result) ?? leaf;
}

/** True if every field of `other` is in `tree`. */
function covers(tree: FieldTree, other: FieldTree): boolean {
  for (const element in other) {
    const here = tree[element];
    const added = other[element] as FieldTree;
    if (here === undefined) return false;
    if (here === added || element === selfKey) continue;
    if ((ownsItself(added) && !ownsItself(here)) || !covers(here, added)) return false;
  }
  return true;
}

function unionOfNodes(one: FieldTree, other: FieldTree): FieldTree {
  const both = union(one, other);
  const isField = ownsItself(one) || ownsItself(other);
  if (!isField || isEmpty(both) || selfKey in both) return both;
  return { [selfKey]: leaf, ...both };
}

function withSelf(tree: FieldTree, other: FieldTree): FieldTree {
  return selfKey in other && !(selfKey in tree) ? { [selfKey]: leaf, ...tree } : tree;
}

/** The fields of `tree` that are not in `other`; the same tree when nothing goes, null for none. */
export function without(tree: FieldTree, other: FieldTree): FieldTree | null {
  let result: Record<string, FieldTree> | null = null;
  for (const element in other) {
    const here = tree[element];
    if (element === selfKey || here === undefined) continue;
    const left = withoutInNode(here, other[element] as FieldTree);
    if (left === here) continue;
    result ??= { ...tree };
    if (left) result[element] = left;
    else delete result[element];
  }
  if (!result) return tree;
  return isEmpty(result) ? null : result;
}

function withoutInNode(node: FieldTree, other: FieldTree): FieldTree | null {
  const { [selfKey]: _self, ...parts } = without(node, other) ?? {};
  const isField = ownsItself(node) && !ownsItself(other);
  if (isEmpty(parts)) return isField ? leaf : null;
  return isField ? { [selfKey]: leaf, ...parts } : parts;
}

function ownsItself(node: FieldTree): boolean {
  return selfKey in node || isEmpty(node);
}

/** True if a tree has no parts: as a node it is a field itself. */
export function isEmpty(tree: FieldTree): boolean {
  for (const _element in tree) return false;
  return true;
}

/** The tree in the order in which the real server writes it; null for an empty one. */
export function sorted(tree: Record<string, FieldTree>): FieldTree | null {
  const elements = Object.keys(tree);
  if (elements.length === 0) return null;
  if (elements.every((element, at) => at === 0 || (elements[at - 1] as string) < element)) {
    return tree;
  }
  return Object.fromEntries(
    elements.sort().map((element) => [element, tree[element]]),
  ) as FieldTree;
}
