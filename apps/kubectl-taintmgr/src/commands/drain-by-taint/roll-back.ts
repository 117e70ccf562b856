// How what a drain has set is taken back: by itself, or by a command that it names.
import { ApiClient } from '@taintmgr/k8s-adapter/client';
import { isNamed } from '@taintmgr/k8s-adapter/drain';
import { warn } from '../../cli/output.ts';
import { undoOnNodes } from '../../cluster/undo-drain.ts';
import { printable } from '../../render/printable.ts';
import { shellWord } from '../../render/shell-word.ts';
import type { Drain } from './drain.ts';

/**
 * Takes back what this drain has set on nodes; the names of those where that failed. Once begun it goes
 * on after Ctrl-C; a second one ends the process.
 */
export async function rollBack(drain: Drain, names: Iterable<string>): Promise<readonly string[]> {
  const { connection, wanted, output, say } = drain;
  const { transport, cluster } = connection;
  const { access, requestTimeout } = cluster;
  const client = new ApiClient({ transport, server: access.server, requestTimeout });
  const options = { say, warn: (text: string) => warn(output, text) };
  return await undoOnNodes(client, names, isNamed(wanted.id), options);
}

/** Says how to take it back by hand. The name may be that of a mark which anybody has written. */
export function hintUndo({ output, wanted }: Drain): void {
  output.err(`hint: to undo: kubectl taintmgr undo ${printable(shellWord(wanted.id))}`);
}
