// The API server of bench/explain.ts, in a separate process: a process that starts others is slow
// for a while afterwards, since the memory it writes to is copied. Takes the number of pods; prints
// its address as a line of JSON.

import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { nodeObjects, podObject } from './cluster-objects.ts';
import { quietCluster, serveApi } from './served-api.ts';

/** The address, and the node with all pods. */
export interface Served {
  readonly node: string;
  readonly kubeconfig: string;
}

/** A cluster of some nodes, with all pods on one of them. */
async function serve(pods: number): Promise<Served> {
  const cluster = quietCluster();
  const { api } = cluster;
  const taints = [{ key: 'maintenance', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }];
  const nodes = nodeObjects(pods).map((node) => ({ ...(node as KubeObject), spec: { taints } }));
  const node = nodes[0]?.metadata.name ?? '';
  api.load([...nodes, ...Array.from({ length: pods }, (_, at) => podOn(node, at))]);
  // Its timers keep no process alive; a server does.
  const served = await serveApi(cluster);
  await installDefinitions(api, customResourceDefinitions());
  for (const [resource, object] of controllerObjects()) {
    const created = api.create(resource, object);
    // Only an update of the status changes the status.
    if ('status' in object) api.update(resource, { ...created, status: object.status }, 'status');
  }
  return { node, kubeconfig: served.kubeconfig };
}

const holder = 'taintmgr-controller-0_1';
const policyCount = 20;

/** A controller that leads, its published status, and its policies. */
function controllerObjects(): readonly (readonly [resource: string, object: KubeObject])[] {
  const apiVersion = 'taintmgr.dev/v1alpha1';
  const now = new Date().toISOString().replace('Z', '000Z');
  const lease = { holderIdentity: holder, leaseDurationSeconds: 3600, renewTime: now };
  const settings = { mode: 'evict-then-delete', 'delete-after': '10m', semantics: 'precise' };
  const controllers = ['taint-eviction-controller', 'node-lifecycle-controller'];
  // The bench may take longer than a heartbeat holds.
  const renewTime = new Date(Date.now() + 3_600_000).toISOString().replace('Z', '000Z');
  const status = { renewTime, startedAt: now, leader: holder, settings, controllers };
  const policies = Array.from({ length: policyCount }, (_, at): KubeObject => {
    const match = { podSelector: { matchLabels: { app: `app-${at}` } } };
    const spec = { priority: at, match, action: 'Evict', minTaintAge: '1m' };
    return { apiVersion, kind: 'EvictionPolicy', metadata: { name: `policy-${at}` }, spec };
  });
  const metadata = { name: 'taintmgr-controller', namespace: 'kube-system' };
  return [
    ['leases', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: lease }],
    [
      'taintmanagers.taintmgr.dev',
      { apiVersion, kind: 'TaintManager', metadata: { name: 'taintmgr' }, status },
    ],
    ...policies.map((policy) => ['evictionpolicies.taintmgr.dev', policy] as const),
  ];
}

function podOn(nodeName: string, index: number): object {
  const pod = podObject(index) as KubeObject;
  return { ...pod, spec: { ...pod.spec, nodeName } };
}

process.stdout.write(`${JSON.stringify(await serve(Number(process.argv[2])))}\n`);
