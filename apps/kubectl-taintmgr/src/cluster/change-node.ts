// Undoes the changes that drains made to nodes, and reports the result.
import { type ApiClient, ApiError, ConnectionError, isMissing } from '@taintmgr/k8s-adapter/client';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import { type IsMeant, type NodeChange, nodeChanging, undoing } from '@taintmgr/k8s-adapter/drain';

/** Our name in metadata.managedFields: by it `undo` knows which fields are still as a drain set them. */
export const fieldManager = 'kubectl-taintmgr';

/** Makes a drain's change to a node; a dry run only says how the node would change. */
export async function changeNode<T>(
  client: ApiClient,
  nodeName: string,
  change: NodeChange<T>,
  isDryRun = false,
): Promise<T> {
  const unwritten: NodeChange<T> = (node, at) => ({ ...change(node, at), patch: null });
  const results: T[] = [];
  const heard = (result: T): void => void results.splice(0, 1, result);
  await client.carryOut(nodeChanging(nodeName, isDryRun ? unwritten : change, fieldManager, heard));
  return results[0] as T;
}

/** The audience of an undo; a dry run changes nothing. */
export interface UndoOptions {
  readonly say: (line: string) => void;
  readonly warn: (text: string) => void;
  readonly isDryRun?: boolean;
}

/**
 * Takes back the changes that drains made to these nodes, and only those: later changes by others stay. Says,
 * in kubectl's words, which changes were undone and which were not. The names of the nodes where the API
 * server refused or did not answer; one that is gone is done with.
 */
export async function undoOnNodes(
  client: ApiClient,
  nodeNames: Iterable<string>,
  isMeant: IsMeant,
  options: UndoOptions,
): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const name of nodeNames) {
    try {
      await undoOn(client, name, isMeant, options);
    } catch (error) {
      if (isGone(error)) {
        options.warn(`node ${name} was deleted: there is nothing left to undo`);
        continue;
      }
      if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
      options.warn(`node ${name} is not undone: ${printable(error.message)}`);
      failed.push(name);
    }
  }
  return failed;
}

/** True where there is no such node any more. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && isMissing(error.failure);
}

async function undoOn(
  client: ApiClient,
  name: string,
  isMeant: IsMeant,
  { say, warn, isDryRun = false }: UndoOptions,
): Promise<void> {
  const undone = await changeNode(client, name, undoing(isMeant), isDryRun);
  const how = isDryRun ? ' (dry run)' : '';
  if (undone.uncordoned) say(`node/${name} uncordoned${how}`);
  if (undone.untainted) say(`node/${name} untainted${how}`);
  for (const text of undone.left) warn(`node ${name} ${text}`);
}
