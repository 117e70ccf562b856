import { type Config, createEngine, type Engine, type Node, type Pod } from '@taintmgr/core';
import { type ApiClient, getNodeRequest, podFromJson, podsPath } from '@taintmgr/k8s-adapter';

/** Reads one node as the API has it. Throws ApiError (NotFound) and ConnectionError. */
export async function readNode(client: ApiClient, name: string): Promise<unknown> {
  return await client.send(getNodeRequest(name));
}

/** Reads the pods of one node. */
export async function readPodsOn(client: ApiClient, nodeName: string): Promise<readonly Pod[]> {
  const objects = await client.list(podsPath, { fieldSelector: `spec.nodeName=${nodeName}` });
  return objects.map(podFromJson);
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
