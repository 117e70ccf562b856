// What `snapshot` keeps of a value: all of it, some members of it, its items, or what a function
// makes of it.

/** What is kept of a value: all of it, some members of it, its items, or what a function makes of it. */
export type Shape =
  | 'all'
  | { readonly [member: string]: Shape }
  | readonly [item: Shape]
  | ((value: unknown) => unknown);

/** Only what the shape names; the rest is left out. */
export function keep(shape: Shape, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (shape === 'all') return value;
  if (typeof shape === 'function') return shape(value);
  if (isItemShape(shape)) {
    return Array.isArray(value) ? value.map((item) => keep(shape[0], item)) : undefined;
  }
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const kept = Object.hasOwn(shape, name) ? keep(shape[name] ?? 'all', member) : undefined;
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return Object.fromEntries(members);
}

function isItemShape(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}
