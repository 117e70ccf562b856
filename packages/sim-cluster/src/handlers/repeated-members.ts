// Members that a JSON text has twice in one object, which JSON.parse says nothing of.

interface Level {
  readonly path: string;
  /** Null for a list. */
  readonly names: Set<string> | null;
  at: number;
}

/** The paths of the members that are there again, each as often as it is; the text is one that parses. */
export function repeatedMembers(json: string): readonly string[] {
  const repeated: string[] = [];
  const levels: Level[] = [];
  let name = '';
  const here = (): string => {
    const level = levels.at(-1);
    if (!level) return '';
    if (!level.names) return `${level.path}[${level.at}]`;
    return level.path === '' ? name : `${level.path}.${name}`;
  };
  for (const [token, text] of json.matchAll(
    /("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[[\]{},]/g,
  )) {
    const level = levels.at(-1);
    if (text !== undefined) {
      name = JSON.parse(text) as string;
      if (level?.names?.has(name)) repeated.push(here());
      level?.names?.add(name);
    } else if (token === '{') levels.push({ path: here(), names: new Set(), at: 0 });
    else if (token === '[') levels.push({ path: here(), names: null, at: 0 });
    else if (token === '}' || token === ']') levels.pop();
    else if (token === ',' && level && !level.names) level.at++;
  }
  return repeated;
}
