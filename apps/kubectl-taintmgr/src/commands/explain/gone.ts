// The answer about a pod that does not exist: its history, or that it is unknown.
import { type ApiError, printable } from '@taintmgr/k8s-adapter/command-line';
import { history } from '@taintmgr/k8s-adapter/history';
import type { OutputFlags } from '../../cli/common-flags.ts';
import type { Connection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { writeNotes } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { podElsewhere } from '../../cluster/elsewhere.ts';
import { type Format, printAnswer } from '../../render/printer.ts';
import { historyAnswer } from '../../report/history.ts';

/** `explain pod` of one that is not there: the history of its name, or `missing`, and where it was looked. */
export async function explainGone(
  missing: ApiError,
  { client, cluster: { namespace } }: Connection,
  name: string,
  format: Format,
  { flags, output }: Invocation<OutputFlags & { readonly exitCode?: true | undefined }>,
): Promise<ExitCode> {
  const found = await history(client, { kind: 'pod', namespace, name });
  if (found.stories.length > 0) {
    output.write(
      await printAnswer(historyAnswer(found, true), format, flags.headers !== false, output),
    );
    writeNotes(output, found.notes);
    return exitCode.done;
  }
  output.err(printable(missing.message));
  output.err(`No source says that it left. Looked at: ${printable(found.looked)}.`);
  const hint = await podElsewhere(client, 'explain', name);
  if (hint !== null) output.err(`hint: ${printable(hint)}`);
  return flags.exitCode ? exitCode.noAnswer : exitCode.error;
}
