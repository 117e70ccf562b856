// The cluster of the demo, and the acts on its buttons.
import { readPositioned } from '@taintmgr/k8s-adapter/manifests';
import type { DemoAct } from '@taintmgr/page';
import {
  readEvents,
  readScript,
  type Script,
  type ScriptEvent,
} from '../../simulate/script/script.ts';
import type { ClusterSource } from '../../simulate/source/source.ts';
import { topologySource } from '../../simulate/source/topology.ts';

/** The simulated time after which the demo ends. */
export const demoMsMax = 24 * 3_600_000;

const topology = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes:
  - { zone: zone-a, count: 6, capacity: { cpu: "4", memory: 16Gi, pods: "110" } }
  - { zone: zone-b, count: 6, capacity: { cpu: "4", memory: 16Gi, pods: "110" } }
  - { zone: zone-c, count: 6, capacity: { cpu: "4", memory: 16Gi, pods: "110" } }
workloads:
  - { kind: Deployment, name: shop/web, replicas: 30, requests: { cpu: 900m }, startTime: 20s-40s, stopTime: 5s-10s, budget: { maxUnavailable: 10% } }
  - { kind: Deployment, name: shop/api, replicas: 12, requests: { cpu: 500m }, startTime: 10s-20s, budget: { maxUnavailable: 25% } }
  - { kind: StatefulSet, name: shop/db, replicas: 3, requests: { cpu: "1" }, startTime: 30s-60s, budget: { maxUnavailable: 1 } }
`;

/** taintmgr asks budgets, but not about pods of dead machines; more evictions than expected trip a limit. */
const script = `
engine: { mode: evict }
policies:
  - apiVersion: taintmgr.dev/v1alpha1
    kind: EvictionPolicy
    metadata: { name: dead-machines }
    spec:
      match: { taints: [{ key: node.kubernetes.io/unreachable }, { key: node.kubernetes.io/not-ready }] }
      action: Delete
  - apiVersion: taintmgr.dev/v1alpha1
    kind: EvictionPolicy
    metadata: { name: at-most-twenty }
    spec:
      limits: [{ per: Total, podsPerSecond: 0.2, burst: 20, onLimit: Trip }]
events: []
`;

export function demoSource(): ClusterSource {
  return topologySource('demo', [readPositioned('demo', topology, 'a topology')]);
}

export function demoScript(): Script {
  return readScript('demo', script, demoMsMax);
}

/** An act with its events: those that begin it, and those that end it. */
interface PlayedAct extends DemoAct {
  readonly begins: readonly ScriptEvent[];
  readonly ends: readonly ScriptEvent[];
  /** The words of the page after its end. */
  readonly ended: string;
}

const wrongTaint = 'health.example/gpu=failed:NoExecute';
const kernelTaint = 'maintenance=kernel:NoExecute';

export function demoActs(): readonly PlayedAct[] {
  const resumed = 'resume: {limits: all}';
  return [
    {
      name: 'taint',
      label: 'A wrong taint on every node',
      undo: 'Remove the wrong taint',
      does: `A broken health checker taints all 18 nodes: ${wrongTaint}.`,
      look:
        'kube-controller-manager deletes every pod at once. taintmgr asks the disruption budgets, and its limit ' +
        'stops evictions until an operator looks. Now remove the wrong taint.',
      begins: eventsOf(`taint: {nodes: all, taint: "${wrongTaint}"}`),
      ends: eventsOf(`untaint: {nodes: all, taint: "${wrongTaint}"}`, resumed),
      ended: 'The wrong taint is gone, and the limit allows evictions again.',
    },
    {
      name: 'drain',
      label: 'Drain a zone',
      undo: 'End the drain',
      does: `The 6 nodes of zone-a get the taint ${kernelTaint}.`,
      look:
        'kube-controller-manager takes all pods of the zone down at once. taintmgr moves them step by step, ' +
        'as the disruption budgets allow.',
      begins: eventsOf(`taint: {zone: zone-a, taint: "${kernelTaint}"}`),
      ends: eventsOf(`untaint: {zone: zone-a, taint: "${kernelTaint}"}`, resumed),
      ended: 'The drain has ended: zone-a takes pods again.',
    },
    {
      name: 'zone',
      label: 'A zone dies',
      undo: 'The zone comes back',
      does: 'zone-b loses power: 6 of the 18 nodes stop.',
      look:
        'Both find out after 40 s and 5 minutes later move the pods: these tolerate a dead node for 5 minutes. ' +
        'Watch “Next to leave” count down, and restart the controllers meanwhile. ' +
        'shop/db stays one pod short until its node is back: a StatefulSet never runs a pod twice.',
      begins: eventsOf('stopKubelet: {zone: zone-b}'),
      ends: eventsOf('resumeKubelet: {zone: zone-b}', resumed),
      ended: 'The zone is back.',
    },
    {
      name: 'restart',
      label: 'Restart the controllers',
      undo: null,
      does: 'Both controllers stop, and start again after 5 s.',
      look:
        'Where pods count down, kube-controller-manager starts every countdown again. taintmgr continues it. ' +
        '(No countdown? Let a zone die first.)',
      begins: eventsOf('restartController: {}'),
      ends: [],
      ended: '',
    },
  ];
}

function eventsOf(...texts: readonly string[]): readonly ScriptEvent[] {
  return texts.flatMap((text) => readEvents('demo', `{at: 0s, ${text}}`, demoMsMax));
}
