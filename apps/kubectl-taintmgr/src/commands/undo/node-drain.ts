// Undoes a NodeDrain: deletes the object, and reports the changes that its controller takes back, or takes
// them back itself.
import { setTimeout } from 'node:timers/promises';
import type { DrainCondition } from '@taintmgr/core/drain';
import { formatTime, type Millis } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  type ApiRequest,
  ConnectionError,
} from '@taintmgr/k8s-adapter/client';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import {
  deleteEvictionRequest,
  evictionRequestsFrom,
  isMarkOf,
  lifecyclePath,
  patchConditionsRequest,
  readMarks,
} from '@taintmgr/k8s-adapter/drain';
import {
  ClusterReader,
  deleteNodeDrain,
  drainControllerFault,
  type NodeDrainObject,
  type NodeFacts,
  nodeDrainReference,
  readDrainControllers,
  readNodeDrain,
  releaseNodeDrain,
} from '@taintmgr/k8s-adapter/survey';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type Output, warn } from '../../cli/output.ts';
import { fieldManager, type UndoOptions, undoOnNodes } from '../../cluster/change-node.ts';

const lookEveryMs: Millis = 250;
/** The looks at the drain between two checks that a controller still undoes it. */
const looksBetween = 20;

export interface Undo {
  readonly client: ApiClient;
  readonly output: Output;
  readonly interrupt: AbortSignal;
  readonly isDryRun: boolean;
}

/**
 * The controller takes its changes back before the object is removed. Where none acts, that is done from
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
    output.err(`interrupted; taintmgr-controller continues to undo ${reference}`);
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

/** Reports the state of the nodes, as they are read now. */
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

/**
 * Does the work of a controller when the drain is undone: deletes its EvictionRequests, so that no
 * interceptor continues to move pods, and sets its conditions of nodes to False. Returns true where all of
 * that is done; refusals are reported. A controller tries conditions once and releases the drain; here no
 * controller is left to set them to False, so that failures count.
 */
async function takeBackTraces(
  client: ApiClient,
  drain: NodeDrainObject,
  options: UndoOptions,
): Promise<boolean> {
  const { pods, nodeConditions } = drain.spec ?? {};
  const asks = pods?.evictBy === 'EvictionRequest';
  const isWithdrawn = !asks || (await withdrawRequests(client, drain, options));
  const isUnsaid = nodeConditions !== 'Publish' || (await clearConditions(client, drain, options));
  return isWithdrawn && isUnsaid;
}

async function withdrawRequests(
  client: ApiClient,
  { metadata: { uid = '' } }: NodeDrainObject,
  options: UndoOptions,
): Promise<boolean> {
  const what = options.isDryRun
    ? 'which EvictionRequests would be deleted is unknown'
    : 'EvictionRequests are not taken back';
  let isLeft = false;
  const isRead = await tryTo(what, options, async () => {
    const reader = new ClusterReader(client);
    const requests = await reader.objectsIfServed(`${lifecyclePath}/evictionrequests`);
    for (const { namespace, name, drain } of evictionRequestsFrom(requests ?? [], [])) {
      if (drain !== uid) continue;
      const reference = `evictionrequest.lifecycle.k8s.io/${name}`;
      // A refused change does not stop the others.
      const isDone = await tryTo(`${reference} is not taken back`, options, async () => {
        await send(client, deleteEvictionRequest(namespace, name), options);
        options.say(`${reference} deleted (${namespace}${dry(options)})`);
      });
      isLeft ||= !isDone;
    }
  });
  return isRead && !isLeft;
}

/** A node, as far as its conditions are of interest. */
interface NodeObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status?: { readonly conditions?: readonly DrainCondition[] };
}

async function clearConditions(
  client: ApiClient,
  { metadata }: NodeDrainObject,
  options: UndoOptions,
): Promise<boolean> {
  let isLeft = false;
  const isRead = await tryTo('conditions of nodes are not taken back', options, async () => {
    const reader = new ClusterReader(client);
    const nodes = await reader.objects('/api/v1/nodes');
    const at = formatTime(reader.now());
    const times = { lastHeartbeatTime: at, lastTransitionTime: at };
    for (const one of nodes) {
      const { metadata: node, status } = one as NodeObject;
      const ended = endedConditions(status?.conditions ?? [], metadata.name);
      if (ended.length === 0) continue;
      const written = ended.map((condition) => ({ ...condition, ...times }));
      const what = `conditions of node ${node.name} are not taken back`;
      const isDone = await tryTo(what, options, async () => {
        await send(client, patchConditionsRequest(node, written, fieldManager), options);
        const types = ended.map(({ type }) => type).join(', ');
        options.say(`node/${node.name} ${types}: False${options.isDryRun ? ' (dry run)' : ''}`);
      });
      isLeft ||= !isDone;
    }
  });
  return isRead && !isLeft;
}

/** The conditions of this drain, as they are after its end. */
function endedConditions(
  conditions: readonly DrainCondition[],
  drain: string,
): readonly DrainCondition[] {
  const said = { reason: 'NodeDrain', message: `NodeDrain ${drain}` };
  return conditions
    .filter(({ reason, message, status }) => {
      return status === 'True' && reason === said.reason && message === said.message;
    })
    .map(({ type }) => ({ type, status: 'False', ...said }));
}

async function tryTo(
  what: string,
  { warn }: UndoOptions,
  act: () => Promise<void>,
): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
    warn(`${what}: ${printable(error.message)}`);
    return false;
  }
}

/** An object that is gone is done. */
async function send(
  client: ApiClient,
  request: ApiRequest,
  { isDryRun }: UndoOptions,
): Promise<void> {
  if (isDryRun) return;
  try {
    await client.send(request);
  } catch (error) {
    if (!(error instanceof ApiError) || error.failure.status !== 404) throw error;
  }
}

function dry({ isDryRun }: UndoOptions): string {
  return isDryRun ? ', dry run' : '';
}
