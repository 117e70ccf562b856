// Patterns of names, as policies and pauses have them.

/** True when the text is as the pattern says, in which `*` stands for any characters, or none. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= end;
}

/** True when one of the patterns matches; none given: anything does. */
export function matchesSome(patterns: readonly string[], text: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matchesPattern(pattern, text));
}
