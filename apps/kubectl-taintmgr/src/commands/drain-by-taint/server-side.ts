// `drain-by-taint --server-side`: makes a NodeDrain and follows it.
import { formatTaint } from '@taintmgr/core';
import { type Connection, withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type Output, warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import {
  createNodeDrain,
  drainControllerFault,
  type NodeDrainObject,
  nodeDrainReference,
  readDrainControllers,
} from '../../cluster/node-drains.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { surveyNodes } from '../../cluster/survey.ts';
import { printAnswer, readFormat } from '../../render/printer.ts';
import { UsageError } from '../../usage-error.ts';
import { type DrainFlags, flagText } from './flags.ts';
import { followDrain } from './follow.ts';
import { overlapFault, refuseNodeName } from './refusals.ts';
import { type DrainRequest, nobodyMatches, readRequest, readTargets } from './settings.ts';

const dryRunTexts = { none: '', server: ' (server dry run)', client: ' (dry run)' } as const;

/** Makes the object, and follows it where nobody says --detach. */
export async function runOnServer(
  invocation: Invocation<DrainFlags>,
  taintText: string | undefined,
  nodeNames: readonly string[],
): Promise<ExitCode> {
  const { flags, output } = invocation;
  refuseLocalFlags(flags);
  const request = await readRequest(invocation, taintText, nodeNames);
  const { dryRun, manifest } = request;
  const { name } = request.drain;
  const format = await readFormat(flags.output);
  const isTable = format.kind === 'table';
  const print = async (object: object): Promise<void> => {
    if (isTable) return;
    const names = [nodeDrainReference(name)];
    const answer = { document: object, rows: [object], names, table: () => '' };
    output.write(await printAnswer(answer, format, flags.headers !== false));
  };
  const say = isTable ? output.out : output.err;
  return await withConnection(invocation, async (connection) => {
    const hasNodes = await checkNodes(connection, taintText, request, output);
    if (!hasNodes) return exitCode.done;
    if (dryRun !== 'client') await refuseInTheWay(connection, request, output);
    const object =
      dryRun === 'client'
        ? manifest
        : await createNodeDrain(connection.client, manifest, dryRun === 'server');
    say(`${nodeDrainReference(name)} created${dryRunTexts[dryRun]}`);
    if (dryRun !== 'none' || flags.detach) {
      await print(object);
      if (dryRun === 'none') sayHints(output, name);
      return exitCode.done;
    }
    const { code, last, isGone } = await followDrain(
      { connection, output, say, live: await output.live(), interrupt: invocation.interrupt },
      object as NodeDrainObject,
    );
    await print(last);
    if (code === exitCode.interrupted) {
      output.err(`interrupted; ${nodeDrainReference(name)} goes on`);
      sayHints(output, name);
    } else if (!isGone) {
      output.err(undoHint(name));
    }
    return code;
  });
}

function sayHints(output: Output, name: string): void {
  output.err(`hint: to follow: kubectl get nodedrain ${name} -w`);
  // Drained, Failed or TimedOut: the condition Drained is waited for in vain where pods stay.
  const isOver = "--for=jsonpath='{.status.endedAt}'";
  output.err(`hint: to wait for its end: kubectl wait ${isOver} nodedrain/${name} --timeout=1h`);
  output.err(undoHint(name));
}

function undoHint(name: string): string {
  return `hint: to undo: kubectl taintmgr undo ${name}`;
}

/** True where there are nodes to drain, as far as we may see them. Throws ApiError for one that is not there. */
async function checkNodes(
  { client }: Connection,
  taintText: string | undefined,
  request: DrainRequest,
  output: Output,
): Promise<boolean> {
  const { flags, drain } = request;
  // Such a drain waits for the first node that matches.
  if (drain.spec.laterNodes === 'Drain') return true;
  const reader = new ClusterReader(client, flags.chunkSize);
  const found = await reader.ifAllowed(async () => {
    if (taintText !== undefined) await refuseNodeName(reader, taintText);
    return await readTargets(reader, request);
  });
  if (found === null || found.length > 0) return true;
  output.err(nobodyMatches(flags));
  return false;
}

/** Throws UsageError where nobody would carry the drain out, or somebody else would evict for its taint. */
async function refuseInTheWay(
  { client }: Connection,
  { taint, budgets, flags }: DrainRequest,
  output: Output,
): Promise<void> {
  const controllers = await readDrainControllers(client);
  if (controllers === null) {
    warn(
      output,
      'no permission to list taintmanagers: whether a controller carries out NodeDrains is unknown',
    );
  }
  const nobody = drainControllerFault(controllers);
  if (nobody) {
    const { why, advice } = nobody;
    const instead = 'or drain from here, without --server-side';
    throw new UsageError(
      `${why}, so nobody would carry out a NodeDrain: ${advice}, ${instead}; nothing was changed`,
    );
  }
  if (taint.effect !== 'NoExecute') return;
  const whole = { ...taint, effect: taint.effect, timeAdded: null };
  const overlap = overlapFault(whole, await surveyNodes(new ClusterReader(client), []), budgets);
  if (overlap === null) return;
  if (!flags.allowOverlap && budgets.kind !== 'ignore') throw new UsageError(overlap);
  warn(output, `${formatTaint(whole)}: ${overlap}`);
}

/** Flags that only a drain by this command has, and what to do instead. */
const localFlags = [
  ['podSelector', 'an EvictionPolicy with action Keep leaves pods where they are'],
  ['once', '--timeout limits how long a node may take'],
  ['ignorePolicies', 'a NodeDrain goes by the policies of the cluster'],
  ['policy', 'a NodeDrain goes by the policies of the cluster'],
] as const satisfies readonly (readonly [flag: keyof DrainFlags, instead: string])[];

/** Throws UsageError for a flag that a NodeDrain has no field for. */
function refuseLocalFlags(flags: DrainFlags): void {
  for (const [flag, instead] of localFlags) {
    const value = flags[flag];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined;
    if (!isGiven) continue;
    throw new UsageError(`${flagText(flag)} and --server-side exclude each other: ${instead}`);
  }
}
