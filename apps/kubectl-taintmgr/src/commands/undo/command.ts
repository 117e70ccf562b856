import { formatTaint } from '@taintmgr/core';
import { type DrainMark, isNamed, readMarks } from '@taintmgr/k8s-adapter/drain';
import { withConnection } from '../../cli/connection.ts';
import { readDryRun } from '../../cli/dry-run-flag.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { warn } from '../../cli/output.ts';
import { drainsOn } from '../../cluster/drain-marks.ts';
import type { NodeFacts } from '../../cluster/facts.ts';
import { namedNodes } from '../../cluster/named-nodes.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { undoOnNodes } from '../../cluster/undo-drain.ts';
import { renderTable } from '../../render/table.ts';
import { UsageError } from '../../usage-error.ts';
import type { UndoFlags } from './flags.ts';

/** `undo [DRAIN] [NODE...]`: takes back what a drain has set, or lists what can be. */
export async function run(
  invocation: Invocation<UndoFlags>,
  name: string | undefined,
  nodeNames: readonly string[],
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const isDryRun = readDryRun(flags.dryRun, ['none', 'client'], output) === 'client';
  return await withConnection(invocation, async (connection) => {
    const nodes = await namedNodes(new ClusterReader(connection.client), nodeNames, flags.selector);
    if (name === undefined) {
      output.out(renderMarks(nodes));
      return exitCode.done;
    }
    const isMeant = isNamed(name);
    const marked = nodes.filter(({ annotations }) => readMarks(annotations).some(isMeant));
    if (marked.length === 0) throw new UsageError(nothingToUndo(name, nodes));
    const names = marked.map(({ node }) => node.name);
    const warnOf = (text: string): void => warn(output, text);
    const options = { say: output.out, warn: warnOf, isDryRun };
    await undoOnNodes(connection.client, names, isMeant, options);
    return exitCode.done;
  });
}

function nothingToUndo(name: string, nodes: readonly NodeFacts[]): string {
  const known = drainsOn(nodes).map(({ id }) => id);
  const list = known.length === 0 ? 'there are no drains to undo' : `drains: ${known.join(', ')}`;
  return `no drain ${JSON.stringify(name)} found; ${list}`;
}

/** A line for each drain and node. */
function renderMarks(nodes: readonly NodeFacts[]): string {
  const rows = nodes.flatMap(({ node, annotations }) =>
    readMarks(annotations).map((mark) => [
      mark.id,
      node.name,
      formatTaint(mark.taint),
      setBy(mark),
    ]),
  );
  if (rows.length === 0) return 'No drains to undo.';
  return renderTable(['DRAIN', 'NODE', 'TAINT', 'CHANGES'], rows.sort(byText));
}

function setBy({ tainted, cordoned }: DrainMark): string {
  return [...(cordoned ? ['cordon'] : []), ...(tainted ? ['taint'] : [])].join(', ') || 'nothing';
}

function byText(a: readonly string[], b: readonly string[]): number {
  return a.join(' ') < b.join(' ') ? -1 : 1;
}
