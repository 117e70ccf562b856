import type { NodeUndone } from '../cluster/undo-drain.ts';

/** What was undone on a node, in kubectl's words. */
export function undoneLines(
  nodeName: string,
  undone: NodeUndone | null,
  isDryRun: boolean = false,
): readonly string[] {
  const how = isDryRun ? ' (dry run)' : '';
  return (['uncordoned', 'untainted'] as const)
    .filter((what) => undone?.[what] === true)
    .map((what) => `node/${nodeName} ${what}${how}`);
}
