// Nodes that are alike are made of the first of them.

import type { NodeDescription } from '../kubelet/node-status.ts';
import { freeze } from '../objects/json.ts';
import type { KubeObject, ManagedFields } from '../objects/kube-object.ts';
import type { Taint } from '../objects/tolerations.ts';
import { storedResource } from '../resources/resources.ts';
import type { Backend } from '../write/backend.ts';
import { createObject, newMetadata } from '../write/create.ts';

const notReadyKey = 'node.kubernetes.io/not-ready';
const manager = { manager: 'kubelet' };

/** The first node of each description. */
export class NodeMoulds {
  readonly #backend: Backend;
  readonly #moulds: { readonly like: NodeDescription; readonly node: KubeObject }[] = [];

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** The node as the API server would store it, but for the taint that goes when it is ready. */
  node(description: NodeDescription, given: KubeObject): KubeObject {
    const nodes = storedResource('nodes');
    const mould = this.#moulds.find(({ like }) => isAlike(like, description))?.node;
    if (mould) {
      const { labels = {}, managedFields } = mould.metadata;
      const hostname = { 'kubernetes.io/hostname': description.name };
      const metadata = {
        ...newMetadata(this.#backend, nodes, given.metadata, ''),
        labels: 'kubernetes.io/hostname' in labels ? { ...labels, ...hostname } : labels,
        ...(managedFields ? { managedFields } : {}),
      };
      const { addresses, nodeInfo } = given.status;
      return { ...mould, metadata, status: { ...mould.status, addresses, nodeInfo } };
    }
    const created = createObject(this.#backend, nodes, given, '', { ...manager, dryRun: true });
    const node = freeze(withoutNotReady(created));
    this.#moulds.push({ like: description, node });
    return node;
  }
}

/** Whether two nodes differ in nothing but what each has of its own. */
function isAlike(a: NodeDescription, b: NodeDescription): boolean {
  return (
    a.region === b.region &&
    a.zone === b.zone &&
    a.labels === b.labels &&
    a.taints === b.taints &&
    a.capacity === b.capacity
  );
}

/** Whoever looks after nodes takes that taint away again. */
function withoutNotReady(node: KubeObject): KubeObject {
  const { taints, ...spec } = node.spec;
  const kept = (taints as readonly Taint[]).filter(({ key }) => key !== notReadyKey);
  if (kept.length > 0) return { ...node, spec: { ...spec, taints: kept } };
  const { managedFields = [] } = node.metadata;
  return {
    ...node,
    spec,
    metadata: { ...node.metadata, managedFields: managedFields.map(untainted) },
  };
}

function untainted({ fieldsV1, ...entry }: ManagedFields): ManagedFields {
  const { 'f:spec': _, ...fields } = fieldsV1 ?? {};
  return { ...entry, fieldsV1: fields };
}
