// Undoes drains on nodes, and says what was undone and what was not.
import type { ApiClient } from '@taintmgr/k8s-adapter/client';
import { type IsMeant, undoing } from '@taintmgr/k8s-adapter/drain';
import { changeNode } from './change-node.ts';

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
    const undone = await changeNode(client, name, undoing(isMeant), isDryRun);
    const how = isDryRun ? ' (dry run)' : '';
    if (undone.uncordoned) say(`node/${name} uncordoned${how}`);
    if (undone.untainted) say(`node/${name} untainted${how}`);
    for (const text of undone.left) warn(`node ${name} ${text}`);
  }
}
