import { type Config, createEngine, type Engine, type Node, type Pod } from '@taintmgr/core';
import {
  type ApiClient,
  ApiError,
  getNodeRequest,
  podFromJson,
  podsPath,
  type Selectors,
} from '@taintmgr/k8s-adapter';
import { UsageError } from './exit.ts';

/** Reads one node as the API has it. Throws ApiError (NotFound) and ConnectionError. */
export async function readNode(client: ApiClient, name: string): Promise<unknown> {
  return await client.send(getNodeRequest(name));
}

/** Reads the pods of one node, or of those what --pod-selector leaves. */
export async function readPodsOn(
  client: ApiClient,
  nodeName: string,
  podSelector?: string,
): Promise<readonly Pod[]> {
  const onNode = { fieldSelector: `spec.nodeName=${nodeName}` };
  const objects =
    podSelector === undefined
      ? await client.list(podsPath, onNode)
      : await listSelected(client, podsPath, '--pod-selector', podSelector, onNode);
  return objects.map(podFromJson);
}

/**
 * Lists what the value of a flag selects, and of that what the other selectors leave. Throws
 * UsageError for a selector that the API server cannot read.
 */
export async function listSelected(
  client: ApiClient,
  path: string,
  flag: string,
  labelSelector: string,
  others: Selectors = {},
): Promise<readonly unknown[]> {
  try {
    return await client.list(path, { ...others, labelSelector });
  } catch (error) {
    if (!(error instanceof ApiError) || error.failure.status !== 400) throw error;
    const got = JSON.stringify(labelSelector);
    const want = 'a label selector such as pool=blue,tier!=db';
    throw new UsageError(`${flag}: got ${got}, want ${want} (${error.failure.message})`);
  }
}

/** An engine that has seen these nodes and pods at `now` and may not act. */
export function engineWith(
  now: number,
  nodes: readonly Node[],
  pods: readonly Pod[],
  config: Partial<Config> = {},
): Engine {
  const engine = createEngine({ ...config, leader: false });
  for (const node of nodes) engine.handle(now, { kind: 'nodeUpsert', node });
  for (const pod of pods) engine.handle(now, { kind: 'podUpsert', pod });
  engine.handle(now, { kind: 'synced' });
  return engine;
}
