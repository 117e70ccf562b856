// Undoes a NodeDrain: deletes the object, and says what its controller takes back.
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '@taintmgr/core/time';
import type { ApiClient } from '@taintmgr/k8s-adapter';
import { isMarkOf, readMarks } from '@taintmgr/k8s-adapter/drain';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type Output, warn } from '../../cli/output.ts';
import { undoOnNodes } from '../../cluster/change-node.ts';
import { drainControllerFault, readDrainControllers } from '../../cluster/drain-controllers.ts';
import { takeBackTraces } from '../../cluster/drain-traces.ts';
import type { NodeFacts } from '../../cluster/facts.ts';
import {
  deleteNodeDrain,
  type NodeDrainObject,
  nodeDrainReference,
  readNodeDrain,
  releaseNodeDrain,
} from '../../cluster/node-drains.ts';
import { ClusterReader } from '../../cluster/reader.ts';

const lookEveryMs: Millis = 250;
/** How often it is looked whether somebody still undoes it. */
const looksBetween = 20;

export interface Undo {
  readonly client: ApiClient;
  readonly output: Output;
  readonly interrupt: AbortSignal;
  readonly isDryRun: boolean;
}

/**
 * Its controller takes back what it has set before the object goes. Where none acts, that is done from
 * here, as for a drain by this program. `nodes`: those that bear its mark.
 */
export async function undoNodeDrain(
  undo: Undo,
  drain: NodeDrainObject,
  nodes: readonly NodeFacts[],
): Promise<ExitCode> {
  const { client, output, interrupt, isDryRun } = undo;
  const { name } = drain.metadata;
  const reference = nodeDrainReference(name);
  await deleteNodeDrain(client, drain, isDryRun);
  output.out(`${reference} deleted${isDryRun ? ' (dry run)' : ''}`);
  if (isDryRun) {
    return await undoHere(undo, drain, nodes);
  }
  for (let looks = 0; await isThere(undo, drain); looks++) {
    const managers = looks % looksBetween === 0 ? await readDrainControllers(client) : null;
    const fault = drainControllerFault(managers);
    if (fault) {
      warn(output, `${fault.why}: the drain is undone from here`);
      const code = await undoHere(undo, drain, nodes);
      if (code === exitCode.done) await releaseNodeDrain(client, name);
      else
        output.err(
          `hint: ${reference} stays until the rest is undone; run this command again then`,
        );
      return code;
    }
    await setTimeout(lookEveryMs, undefined, { signal: interrupt }).catch(() => undefined);
    if (!interrupt.aborted) continue;
    output.err(`interrupted; taintmgr-controller goes on to undo ${reference}`);
    return exitCode.interrupted;
  }
  await sayUndone(undo, name, nodes);
  return exitCode.done;
}

async function isThere({ client }: Undo, { metadata }: NodeDrainObject): Promise<boolean> {
  return (await readNodeDrain(client, metadata.name))?.metadata.uid === metadata.uid;
}

/** The exit code: an error where EvictionRequests, conditions or nodes are left. In a dry run a controller may see to the first two. */
async function undoHere(
  { client, output, isDryRun }: Undo,
  drain: NodeDrainObject,
  nodes: readonly NodeFacts[],
): Promise<ExitCode> {
  const options = { say: output.out, warn: (text: string) => warn(output, text), isDryRun };
  const isTakenBack = (await takeBackTraces(client, drain, options)) || isDryRun;
  const isMeant = isMarkOf(drain.metadata.name);
  const failed = await undoOnNodes(client, namesOf(nodes), isMeant, options);
  return isTakenBack && failed.length === 0 ? exitCode.done : exitCode.error;
}

/** What has become of the nodes, as they are read now. */
async function sayUndone(
  { client, output }: Undo,
  name: string,
  nodes: readonly NodeFacts[],
): Promise<void> {
  const reader = new ClusterReader(client);
  for (const before of nodes) {
    const { node, annotations } = before;
    const after = await reader.nodeIfThere(node.name);
    const mark = readMarks(annotations).find(isMarkOf(name));
    if (!after || !mark) continue;
    const isCordoned = after.node.unschedulable === true;
    const has = (one: { readonly key: string; readonly effect: string }): boolean =>
      one.key === mark.taint.key && one.effect === mark.taint.effect;
    if (mark.cordoned && node.unschedulable === true) {
      if (isCordoned) warn(output, `node ${node.name} stays cordoned`);
      else output.out(`node/${node.name} uncordoned`);
    }
    if (mark.tainted && node.taints.some(has) && !after.node.taints.some(has)) {
      output.out(`node/${node.name} untainted`);
    }
  }
}

function namesOf(nodes: readonly NodeFacts[]): readonly string[] {
  return nodes.map(({ node }) => node.name);
}
