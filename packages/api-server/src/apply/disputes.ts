// Finds the managers that conflict with an apply.
import type {
  Cause,
  FieldTree,
  Json,
  KubeObject,
  ManagedFields,
} from '@taintmgr/sim-cluster/server';
import {
  equal,
  type FieldPath,
  hasField,
  pathsOf,
  selfKey,
  showField,
  treeAt,
  union,
  valueAtField,
} from '@taintmgr/sim-cluster/server';

interface Objections {
  readonly others: readonly ManagedFields[];
  /** A field that is taken from others without a word. */
  readonly isNoted: (path: FieldPath) => boolean;
}

/**
 * The conflicts of an apply with other managers, and the fields in question. A field is disputed
 * where the apply changes its value; `together` is the merged object.
 */
export function disputes(
  live: KubeObject | null,
  together: Json,
  wanted: FieldTree,
  { others, isNoted }: Objections,
): { readonly causes: readonly Cause[]; readonly fields: FieldTree } {
  const causes: Cause[] = [];
  const changing = [...changedPaths(live ?? {}, together, wanted)].sort(fieldsFirst);
  let fields: FieldTree = {};
  for (const entry of others) {
    for (const path of changing) {
      if (!hasField(entry.fieldsV1 ?? {}, path)) continue;
      fields = union(fields, treeAt(path));
      if (isNoted(path)) continue;
      const through = entry.subresource ? ` with subresource "${entry.subresource}"` : '';
      const using = entry.operation === 'Update' ? ` using ${entry.apiVersion}` : '';
      causes.push({
        reason: 'FieldManagerConflict',
        message: `conflict with ${JSON.stringify(entry.manager)}${through}${using}`,
        field: showField(path),
      });
    }
  }
  return { causes, fields };
}

/** The wanted fields whose values differ in the live object, and the parts that it lacks. */
function changedPaths(live: Json, together: Json, wanted: FieldTree): readonly FieldPath[] {
  const paths = new Map<string, FieldPath>();
  for (const path of pathsOf(wanted)) {
    if (equal(valueAtField(live, path), valueAtField(together, path))) continue;
    const absent = path.findIndex(
      (_element, at) => valueAtField(live, path.slice(0, at + 1)) === undefined,
    );
    const from = absent < 0 ? path.length : absent + 1;
    for (let length = from; length <= path.length; length++) {
      const part = path.slice(0, length);
      paths.set(part.join('/'), part);
    }
  }
  return [...paths.values()];
}

/** The order in which the real server names fields: those of a map before those within them. */
function fieldsFirst(a: FieldPath, b: FieldPath): number {
  const [mine, other] = [withoutSelf(a), withoutSelf(b)];
  const at = mine.findIndex((element, index) => element !== other[index]);
  const [isLast, isOtherLast] = [mine.length <= at + 1, other.length <= at + 1];
  if (at < 0 || isLast !== isOtherLast) return isLast ? -1 : 1;
  return (mine[at] ?? '') < (other[at] ?? '') ? -1 : 1;
}

function withoutSelf(path: FieldPath): FieldPath {
  return path.filter((element) => element !== selfKey);
}
