/** The paths of the fields that `look` looks at, such as `spec.taints[].key`; a map's keys are none. */
export function lookedAt(
  object: object,
  maps: ReadonlySet<string>,
  look: (object: unknown) => unknown,
): ReadonlySet<string> {
  const paths = new Set<string>();
  const seen = (value: unknown, path: string): unknown => {
    if (typeof value !== 'object' || value === null || maps.has(path)) return value;
    return new Proxy(value, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof key === 'symbol' || (Array.isArray(target) && !/^\d+$/.test(key))) return member;
        const below = Array.isArray(target) ? `${path}[]` : `${path}${path && '.'}${key}`;
        paths.add(below);
        return seen(member, below);
      },
    });
  };
  look(seen(object, ''));
  return paths;
}
