// Whether YAML aliases have made more of a value than the file holds.

/** A configuration has a few hundred values, a snapshot of a large cluster a few million. */
const valuesMaxDefault = 100_000;
const depthMax = 100;

/**
 * What keeps a value from being read as a tree; null: nothing. By YAML's anchors a value may contain
 * itself, or by a few lines stand for more than any memory holds.
 */
export function treeFault(value: unknown, valuesMax: number = valuesMaxDefault): string | null {
  let values = 0;
  const around = new Set<object>();
  const visit = (part: unknown): string | null => {
    values += 1;
    if (values > valuesMax) return `it stands for more than ${valuesMax} values`;
    if (typeof part !== 'object' || part === null) return null;
    if (around.has(part)) return 'a value contains itself';
    if (around.size === depthMax) return `it is nested more than ${depthMax} deep`;
    around.add(part);
    for (const member of Object.values(part)) {
      const fault = visit(member);
      if (fault !== null) return fault;
    }
    around.delete(part);
    return null;
  };
  return visit(value);
}
