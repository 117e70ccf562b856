import {
  type ApiClient,
  getNodeRequest,
  setTaintsRequest,
  type TaintObject,
} from '@taintmgr/k8s-adapter';

/** Puts taints on a node or takes them off, as `kubectl taint` does. */
export async function setTaints(
  client: ApiClient,
  nodeName: string,
  taints: readonly TaintObject[],
  wanted: boolean,
): Promise<void> {
  const node = (await client.send(getNodeRequest(nodeName))) as {
    readonly metadata: { readonly resourceVersion: string };
    readonly spec: { readonly taints?: readonly TaintObject[] };
  };
  const others = (node.spec.taints ?? []).filter(
    (one) => !taints.some(({ key, effect }) => key === one.key && effect === one.effect),
  );
  const list = wanted ? [...others, ...taints] : others;
  await client.send(setTaintsRequest(nodeName, node.metadata.resourceVersion, list));
}
