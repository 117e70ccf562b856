// Pods that use devices in a prediction run: claims of every kind, and what befalls their devices.
import type { ClusterApi, Json, KubeObject } from '@taintmgr/sim-cluster';
import {
  type Act,
  type CastPod,
  namespaceName,
  type Scenario,
  type Seconds,
  tolerating,
} from './scenario.ts';

const driver = 'gpu.example.com';
const node = 'z-1';
/** A node that is tainted as well, at a second. */
const taintedNode = 'z-2';
const taintedAt = 11;
const forEver = null;
const resource = 'example.com/gpu';

type Toleration = Readonly<Record<string, Json>>;

/** A claim with one allocated device, and its users. */
interface Use {
  readonly device: string;
  readonly tolerations: readonly Toleration[];
  readonly pods: readonly string[];
  /** True if the scheduler makes it for an extended resource. */
  readonly isExtended?: boolean;
}

function timed(times: Seconds): readonly Toleration[] {
  return tolerating(times) as readonly Toleration[];
}

function use(device: string, pod: string, times: Seconds = {}): Use {
  return { device, tolerations: timed(times), pods: [pod] };
}

function ofValue(value: string): Toleration {
  return { key: 'k', value, effect: 'NoExecute' };
}

/** Devices `r-` are tainted by rules, those called `s-` by their driver. */
const uses: readonly Use[] = [
  use('r-1', 'rule-20', { k: 20 }),
  use('r-1', 'rule-45', { k: 45 }),
  use('r-1', 'rule-ever', { k: forEver }),
  use('r-1', 'rule-any', { '': 35 }),
  use('r-1', 'shortest', { k: 60, '': 25 }),
  use('r-1', 'ever-wins', { k: 10, '': forEver }),
  use('s-1', 'slice-15', { k: 15 }),
  use('s-1', 'slice-50', { k: 50 }),
  use('s-1', 'slice-ever', { k: forEver }),
  use('r-2', 'no-toleration'),
  use('r-2', 'other-key', { k2: 90 }),
  use('r-2', 'tolerates-some', { k: 12 }),
  { ...use('r-2', 'no-effect'), tolerations: [{ key: 'k', operator: 'Exists' }] },
  { ...use('r-1', 'same-value'), tolerations: [{ ...ofValue('bad'), tolerationSeconds: 26 }] },
  {
    ...use('r-1', 'one-value'),
    tolerations: [{ ...ofValue('good'), tolerationSeconds: 5 }, ...timed({ k: 47 })],
  },
  {
    ...use('r-1', 'no-effect-beside'),
    tolerations: [{ key: 'k', operator: 'Exists' }, ...timed({ k: 52 })],
  },
  { ...use('r-2', 'other-value'), tolerations: [ofValue('good')] },
  { ...use('r-1', 'extended'), isExtended: true },
  { ...use('r-1', 'shared-1', { k: 28 }), pods: ['shared-1', 'shared-2'] },
  use('r-1', 'two-claims', { k: 70 }),
  use('s-1', 'two-claims', { k: 40 }),
  use('r-1', 'two-others', { k: 32 }),
  use('s-1', 'two-others', { k: 80 }),
  use('r-3', 'moved', { k: 30 }),
  use('r-3', 'moved-ever', { k: forEver }),
  use('r-4', 'cancelled', { k: 60 }),
  use('r-5', 'preview'),
  use('r-5', 'preview-20', { k: 20 }),
  use('s-2', 'republished', { k: 50 }),
  use('s-3', 'untainted', { k: 60 }),
  use('r-6', 'budget', { k: 38 }),
  use('r-7', 'node-first', { k: 80 }),
  use('r-7', 'device-first', { k: 22 }),
  use('r-7', 'device-only', { k: 55 }),
  use('r-7', 'node-only', { k: forEver }),
  use('s-1', 'node-kept', { k: forEver }),
  use('s-5', 'two-taints', { k: 40, k2: 20 }),
  use('s-5', 'second-taint', { k: forEver, k2: 44 }),
  use('s-5', 'both-ever', { k: forEver, k2: forEver }),
  use('s-4', 'untouched'),
  use('s-4', 'untouched-2', { k: 5 }),
  use('r-8', 'moved-sooner', { k: 70 }),
  use('r-9', 'no-device', { k: 33 }),
  use('r-9', 'no-device-ever', { k: forEver }),
];

/** The toleration times of pods for the tainted node's taint. */
const nodeSeconds: Readonly<Record<string, Seconds>> = {
  'node-first': { k: 30 },
  'device-first': { k: 75 },
  'device-only': { k: forEver },
  'node-only': { k: 42 },
  'node-kept': { k: forEver },
};

const names: readonly string[] = [...new Set(uses.flatMap(({ pods }) => pods))];

function claimsOf(name: string): readonly Use[] {
  return uses.filter(({ pods, isExtended }) => pods.includes(name) && !isExtended);
}

function claimName({ device, pods }: Use): string {
  return `${pods.join('-')}-${device}`;
}

function castPod(name: string): CastPod {
  const times = nodeSeconds[name];
  return {
    ...{ name, kind: name === 'budget' ? 'budget' : 'with devices', at: 2 },
    node: times ? taintedNode : node,
    tolerations: tolerating(times ?? {}),
    object: (made) => ({ ...made, spec: { ...made.spec, ...deviceSpec(name) } }),
  };
}

function deviceSpec(name: string): KubeObject['spec'] {
  const claims = claimsOf(name);
  if (claims.length === 0) {
    const resources = { requests: { [resource]: '1' }, limits: { [resource]: '1' } };
    return { containers: [{ name: 'c', image: 'x', resources }] };
  }
  const resourceClaims = claims.map((claim, index) => {
    return { name: `gpu-${index}`, resourceClaimName: claimName(claim) };
  });
  return { resourceClaims };
}

/** Claims come with their allocations, as the scheduler leaves them. */
function allocate(api: ClusterApi): void {
  for (const one of uses) {
    const { device, tolerations, pods, isExtended = false } = one;
    const name = claimName(one);
    const exactly = { deviceClassName: 'gpu', tolerations: [...tolerations] };
    const made = api.create('resourceclaims', {
      ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim' },
      metadata: { name, namespace: namespaceName },
      spec: { devices: { requests: [{ name: 'r', exactly }] } },
    });
    const results = [{ request: 'r', driver, pool: node, device, tolerations: [...tolerations] }];
    const reservedFor = pods.map((pod) => {
      const { uid = '' } = stored(api, 'pods', pod, namespaceName).metadata;
      return { resource: 'pods', name: pod, uid };
    });
    const status = { allocation: { devices: { results } }, reservedFor };
    api.update('resourceclaims', { ...made, status }, 'status');
    if (isExtended) for (const pod of pods) extend(api, pod, name);
  }
}

function extend(api: ClusterApi, name: string, resourceClaimName: string): void {
  const found = stored(api, 'pods', name, namespaceName);
  const requestMappings = [{ containerName: 'c', requestName: 'r', resourceName: resource }];
  const status = {
    ...found.status,
    extendedResourceClaimStatus: { resourceClaimName, requestMappings },
  };
  api.update('pods', { ...found, status }, 'status');
}

function stored(api: ClusterApi, kind: string, name: string, namespace = ''): KubeObject {
  const found = api.get(kind, namespace, name);
  if (!found) throw new Error(`there is no ${name} of ${kind}`);
  return found;
}

/** One slice for each device of the driver's own taints: they are rewritten one by one. */
function publish(device: string, taints: readonly string[]): Omit<Act, 'at'> {
  const written = taints.map((key) => ({ key, effect: 'NoExecute' }));
  const devices = [{ name: device, ...(written.length > 0 && { taints: written }) }];
  return {
    pods: usersOf(device),
    carryOut: (api) => {
      const known = api.get('resourceslices', '', device);
      const pool = { name: node, generation: 1, resourceSliceCount: 5 };
      const spec = { driver, nodeName: node, pool, devices };
      if (known) api.update('resourceslices', { ...known, spec: { ...known.spec, devices } });
      else api.create('resourceslices', { metadata: { name: device }, spec });
    },
  };
}

/** `seconds`: by how much later than it is written; left out: then. */
function taintByRule(device: string, effect: string, seconds?: number): Omit<Act, 'at'> {
  return {
    pods: usersOf(device),
    carryOut: (api) => {
      const known = api.get('devicetaintrules', '', device);
      const since = known && seconds !== undefined ? known.spec.taint.timeAdded : null;
      const timeAdded = since && moved(since, seconds ?? 0);
      const taint = { key: 'k', value: 'bad', effect, ...(timeAdded && { timeAdded }) };
      const spec = { deviceSelector: { driver, pool: node, device }, taint };
      if (known) api.update('devicetaintrules', { ...known, spec });
      else api.create('devicetaintrules', { metadata: { name: device }, spec });
    },
  };
}

function moved(since: string, seconds: number): string {
  return `${new Date(Date.parse(since) + seconds * 1000).toISOString().slice(0, 19)}Z`;
}

function withdraw(device: string): Omit<Act, 'at'> {
  return {
    pods: usersOf(device),
    carryOut: (api) => api.delete('devicetaintrules', '', device),
  };
}

function usersOf(device: string): readonly string[] {
  return uses.flatMap((one) => (one.device === device ? one.pods : []));
}

const acts: readonly Act[] = [
  { at: 3, pods: names, carryOut: allocate },
  ...['s-1', 's-2', 's-3', 's-4', 's-5'].map((device) => ({ at: 5, ...publish(device, []) })),
  { at: 9, ...taintByRule('r-1', 'NoExecute') },
  { at: 13, ...publish('s-1', ['k']) },
  // A preview, and then later than it is written.
  { at: 15, ...taintByRule('r-2', 'None') },
  { at: 17, ...taintByRule('r-2', 'NoExecute', 25) },
  { at: 9, ...taintByRule('r-3', 'NoExecute') },
  { at: 21, ...taintByRule('r-3', 'NoExecute', 40) },
  { at: 11, ...taintByRule('r-4', 'NoExecute') },
  { at: 47, ...withdraw('r-4') },
  { at: 11, ...taintByRule('r-5', 'None') },
  { at: 13, ...publish('s-2', ['k']) },
  { at: 41, ...publish('s-2', ['k']) },
  { at: 13, ...publish('s-3', ['k']) },
  { at: 51, ...publish('s-3', []) },
  { at: 23, ...publish('s-5', ['k', 'k2']) },
  { at: 17, ...taintByRule('r-6', 'NoExecute') },
  { at: 17, ...taintByRule('r-7', 'NoExecute') },
  { at: 17, ...taintByRule('r-8', 'NoExecute') },
  { at: 31, ...taintByRule('r-8', 'NoExecute', -20) },
  { at: 19, ...taintByRule('r-9', 'NoExecute') },
];

export const withDevices: Scenario = {
  pods: names.map(castPod),
  taintings: [{ at: taintedAt, node: taintedNode, taints: ['k:NoExecute'] }],
  policies: [],
  acts,
};
