import { type Json, pdb, pod } from '@taintmgr/sim-cluster';
import { startTestCluster, type TestCluster, type Users } from './test-cluster.ts';

// A cluster with devices: six of one driver, five of them held by claims, and the pods that use these.

const driver = 'gpu.example.com';
/** As the API server writes it of a pod that asks for an extended resource. */
const extendedResource = 'example.com/gpu';

interface Use {
  readonly claim: string;
  readonly device: string;
  readonly tolerations?: Json[];
  readonly pods: readonly string[];
  readonly isExtended?: true;
}

const uses: readonly Use[] = [
  { claim: 'gpu-a', device: 'gpu-0', pods: ['train-1', 'train-2'] },
  {
    claim: 'gpu-b',
    device: 'gpu-1',
    tolerations: [
      { key: 'health', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 86_430 },
    ],
    pods: ['train-3'],
  },
  {
    claim: 'gpu-c',
    device: 'gpu-2',
    tolerations: [{ key: 'health', operator: 'Exists' }],
    pods: ['batch-1'],
  },
  {
    claim: 'gpu-d',
    device: 'gpu-3',
    tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    pods: ['agent-1'],
  },
  { claim: 'gpu-e', device: 'gpu-4', pods: ['ext-1'], isExtended: true },
];

type Api = TestCluster['api'];

/** Starts a cluster with the devices and nothing that acts. */
export async function startDeviceCluster(users: Users = {}): Promise<TestCluster> {
  const cluster = await startTestCluster(null, users);
  fillDevices(cluster.api);
  return cluster;
}

/** One ResourceSlice, its claims, their pods in the namespace shop, and a budget that allows nothing. */
function fillDevices(api: Api): void {
  api.create('namespaces', { metadata: { name: 'shop' } });
  const devices = Array.from({ length: 6 }, (_, index) => ({ name: `gpu-${index}` }));
  api.create('resourceslices', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: 'n1-gpu' },
    spec: {
      driver,
      nodeName: 'n1',
      pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
      devices,
    },
  });
  for (const use of uses) addUse(api, use);
  const budget = api.create('poddisruptionbudgets', pdb('shop', 'train', { minAvailable: 3 }));
  const counts = {
    ...{ disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 3, expectedPods: 3 },
    observedGeneration: 1,
  };
  api.update('poddisruptionbudgets', { ...budget, status: counts }, 'status');
}

function addUse(api: Api, { claim, device, tolerations = [], pods, isExtended }: Use): void {
  const exactly = { deviceClassName: 'gpu', tolerations };
  const made = api.create('resourceclaims', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: claim, namespace: 'shop' },
    spec: { devices: { requests: [{ name: 'r', exactly }] } },
  });
  const reservedFor = pods.map((name) => {
    const uid = isExtended ? addExtended(api, name, claim) : addPod(api, name, claim);
    return { resource: 'pods', name, uid };
  });
  const results = [{ request: 'r', driver, pool: 'n1', device, tolerations }];
  const status = { allocation: { devices: { results } }, reservedFor };
  api.update('resourceclaims', { ...made, status }, 'status');
}

/** A pod that uses a claim; its uid. */
function addPod(api: Api, name: string, claim: string): string {
  const app = name.replace(/-\d+$/, '');
  const resourceClaims = [{ name: 'gpu', resourceClaimName: claim }];
  const made = api.create(
    'pods',
    pod('shop', name, { labels: { app }, spec: { nodeName: 'n1', resourceClaims } }),
  );
  return made.metadata.uid ?? '';
}

/** A pod whose claim the scheduler has made. */
function addExtended(api: Api, name: string, claim: string): string {
  const resources = { requests: { [extendedResource]: '1' }, limits: { [extendedResource]: '1' } };
  const containers = [{ name: 'c', image: 'x', resources }];
  const made = api.create('pods', pod('shop', name, { spec: { nodeName: 'n1', containers } }));
  const requestMappings = [
    { containerName: 'c', requestName: 'r', resourceName: extendedResource },
  ];
  const extendedResourceClaimStatus = { resourceClaimName: claim, requestMappings };
  const status = { ...made.status, extendedResourceClaimStatus };
  api.update('pods', { ...made, status }, 'status');
  return made.metadata.uid ?? '';
}

/** Another pod that uses a claim of the cluster, as the scheduler binds it. */
export function addHolder(api: Api, name: string, claim: string): void {
  const uid = addPod(api, name, claim);
  const made = api.get('resourceclaims', 'shop', claim) ?? fail(claim);
  const { reservedFor } = made.status as { readonly reservedFor: Json[] };
  const holders = [...reservedFor, { resource: 'pods', name, uid }];
  api.update(
    'resourceclaims',
    { ...made, status: { ...made.status, reservedFor: holders } },
    'status',
  );
}

function fail(name: string): never {
  throw new Error(`there is no ${name}`);
}

/** The words that kube-controller-manager writes of a rule. */
export function writeProgress(api: Api, name: string, reason: string, message: string): void {
  const rule = api.get('devicetaintrules', '', name) ?? fail(name);
  const condition = {
    type: 'EvictionInProgress',
    status: 'False',
    reason,
    message,
    observedGeneration: rule.metadata.generation ?? 0,
    lastTransitionTime: '2026-11-29T00:00:00Z',
  };
  api.update('devicetaintrules', { ...rule, status: { conditions: [condition] } }, 'status');
}
