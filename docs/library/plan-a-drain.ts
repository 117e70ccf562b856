import { describeReason, makeNode, makePod } from '@taintmgr/core';
import { drainFaultText, planDrain, resolveDrainConfig } from '@taintmgr/core/drain';
import { plainDrainSpec } from '@taintmgr/core/policy';
import { formatDuration } from '@taintmgr/core/time';
import { budgetFromJson } from '@taintmgr/k8s-adapter';

const taint = { key: 'maintenance', value: 'kernel', effect: 'NoExecute' } as const;
const config = resolveDrainConfig({ spec: { ...plainDrainSpec, taint } });
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
const tolerations = [
  { key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
];
const pods = [
  makePod({ name: 'db-0', nodeName: 'node-1', owner, labels: { app: 'db' }, tolerations }),
  makePod({ name: 'debug', nodeName: 'node-1' }),
];
// An object of the API, or of @kubernetes/client-node.
const budget = budgetFromJson({
  metadata: { namespace: 'default', name: 'db' },
  spec: { selector: { matchLabels: { app: 'db' } } },
  status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
});

const plan = planDrain(0, {
  config,
  nodes: [makeNode({ name: 'node-1' })],
  pods: pods.map((pod) => ({ pod, finalizers: [] })),
  budgets: [budget],
  nodeAnswers: () => true,
});
for (const { pod, fate, because, blockers } of plan.pods) {
  const when = fate.kind === 'evict' ? ` in ${formatDuration(fate.at)}` : '';
  console.log(`${pod.name}: ${fate.kind}${when} (${because.map(describeReason)})`);
  if (fate.kind === 'refuse') console.log(`  ${fate.faults.map((fault) => drainFaultText[fault])}`);
  for (const { message } of blockers) console.log(`  ${message}`);
}
