// The order of API versions: stable ones by number, then beta, then alpha, then others by name.

const pattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const stages: readonly (string | undefined)[] = ['alpha', 'beta', undefined];

/** Sorts versions, the one that clients prefer first. */
export function byPriority(a: string, b: string): number {
  const [mine, theirs] = [pattern.exec(a), pattern.exec(b)];
  if (!mine || !theirs) return mine ? -1 : theirs ? 1 : a < b ? -1 : a > b ? 1 : 0;
  return (
    stages.indexOf(theirs[2]) - stages.indexOf(mine[2]) ||
    Number(theirs[1]) - Number(mine[1]) ||
    Number(theirs[3] ?? 0) - Number(mine[3] ?? 0)
  );
}
