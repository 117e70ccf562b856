import process from 'node:process';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { createEngine, describeReason } from '@taintmgr/core';
import { formatTime } from '@taintmgr/core/time';
import { nodeFromJson, podFromJson } from '@taintmgr/k8s-adapter';

const kubeConfig = new KubeConfig();
kubeConfig.loadFromDefault();
const core = kubeConfig.makeApiClient(CoreV1Api);
const lists = Promise.all([core.listNode(), core.listPodForAllNamespaces()]);
const [nodes, pods] = await lists.catch((error: Error) => {
  console.error(`cannot read the cluster: ${error.cause ?? error.message}`);
  process.exit(1);
});

// Without leadership, the engine explains and sends nothing.
const engine = createEngine({ leader: false });
const now = Date.now();
for (const item of nodes.items) {
  engine.handle(now, { kind: 'nodeUpsert', node: nodeFromJson(item) });
}
for (const item of pods.items) {
  engine.handle(now, { kind: 'podUpsert', pod: podFromJson(item) });
}
engine.handle(now, { kind: 'synced' });

for (const { metadata: { name = '' } = {} } of nodes.items) {
  const node = engine.explain(now, { kind: 'node', name });
  if (node?.kind !== 'node') continue;
  for (const { pod, decision } of node.pods) {
    if (decision.kind !== 'evict') continue;
    const why = decision.because.map(describeReason);
    console.log(`${pod.name} on ${name} leaves at ${formatTime(decision.deadline)}: ${why}`);
  }
}
