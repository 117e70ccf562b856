// Takes back what a NodeDrain has made beside cordons and taints: EvictionRequests, and conditions of nodes.
import type { DrainCondition } from '@taintmgr/core/drain';
import { formatTime } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  type ApiRequest,
  ConnectionError,
} from '@taintmgr/k8s-adapter/client';
import {
  deleteEvictionRequest,
  evictionRequestsFrom,
  lifecyclePath,
  patchConditionsRequest,
} from '@taintmgr/k8s-adapter/drain';
import { printable } from '../render/printable.ts';
import { fieldManager, type UndoOptions } from './change-node.ts';
import type { NodeDrainObject } from './node-drains.ts';
import { ClusterReader } from './reader.ts';

/**
 * Does what a controller would do when the drain is undone: its EvictionRequests are deleted, so that
 * nobody goes on moving pods for it, and its conditions of nodes become False. Whether all of that is
 * done; what was refused is told. A controller tries conditions once and lets the drain go; here nobody
 * is left to make them False, so that they count.
 */
export async function takeBackTraces(
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
    ? 'which EvictionRequests would go is not known'
    : 'EvictionRequests are not taken back';
  let isLeft = false;
  const isRead = await tryTo(what, options, async () => {
    const reader = new ClusterReader(client);
    const requests = await reader.objectsIfServed(`${lifecyclePath}/evictionrequests`);
    for (const { namespace, name, drain } of evictionRequestsFrom(requests ?? [], [])) {
      if (drain !== uid) continue;
      const reference = `evictionrequest.lifecycle.k8s.io/${name}`;
      // One that is refused keeps none of the others.
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

/** Those that stand for this drain, as they are once it does not. */
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

/** What is gone is done with. */
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
