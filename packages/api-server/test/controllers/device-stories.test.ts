// Claims for devices, beside what kube-scheduler and resourceclaim-controller 1.36.2 made of the same.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Condition } from '@taintmgr/sim-cluster/server';
import { virtualCluster } from '../world/virtual-cluster.ts';

type Played = ReturnType<typeof virtualCluster>;

/** The claims of a pod by their names, `@t` for one by the template t; or those and more of its spec. */
type PodStory = readonly string[] | readonly [readonly string[], object];

/** Recorded with nothing else at work, in a namespace of its own. */
interface Story {
  readonly name: string;
  /** Whether the namespace is one for administrators. */
  readonly admin?: true;
  /** Whether a pool is there that is not whole. */
  readonly half?: true;
  /** Whether any node will do, of which the scheduler draws one. */
  readonly lot?: true;
  /** A claim that is going away. */
  readonly going?: string;
  readonly template?: object;
  readonly claims: Readonly<Record<string, object>>;
  readonly pods: Readonly<Record<string, PodStory>>;
  readonly seen: Outcome;
  /** A pod that ends then, and what is seen afterwards. */
  readonly finish?: string;
  readonly after?: Outcome;
  /** The claims that are there after all pods were deleted. */
  readonly left: readonly object[];
}

interface Outcome {
  readonly pods: readonly object[];
  readonly claims: readonly object[];
}

const stories: readonly Story[] = readFileSync(
  new URL('device-stories.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

const group = 'resource.k8s.io/v1';
const namespace = 'shop';

function node(name: string, zone: string): KubeObject {
  const allocatable = { cpu: '8', memory: '8Gi', pods: '50' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, zone } },
    spec: {},
    status: { allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

function deviceClass(name: string, spec: object): KubeObject {
  return { apiVersion: group, kind: 'DeviceClass', metadata: { name }, spec };
}

const byExpression = (expression: string): object => ({ selectors: [{ cel: { expression } }] });

function slice(name: string, pool: string, generation: number, spec: object): KubeObject {
  const counted = { name: pool, generation, resourceSliceCount: name === 'half' ? 2 : 1 };
  return {
    apiVersion: group,
    kind: 'ResourceSlice',
    metadata: { name },
    spec: { driver: `${name.replace(/\d$/, '')}.example.com`, pool: counted, ...spec },
  };
}

const timeAdded = '2026-01-01T00:00:00Z';
const inZoneB = {
  nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }],
};
const opaque = { driver: 'lic.example.com', parameters: { a: 1 } };
const half = slice('half', 'h', 1, { nodeName: 'n1', devices: [{ name: 'h0' }] });

const objects: readonly KubeObject[] = [
  node('n1', 'a'),
  node('n2', 'b'),
  ...'gpu net lic half gen per'
    .split(' ')
    .map((name) => deviceClass(name, byExpression(`device.driver == "${name}.example.com"`))),
  deviceClass('badclass', byExpression('device.attributes["gpu.example.com"].nothing == "x"')),
  deviceClass('conf', { config: [{ opaque }] }),
  slice('n1', 'n1', 1, {
    driver: 'gpu.example.com',
    nodeName: 'n1',
    devices: [
      { name: 'g0', attributes: { model: { string: 'a' }, numa: { int: 0 } } },
      {
        name: 'g1',
        attributes: { model: { string: 'b' }, numa: { int: 1 } },
        capacity: { memory: { value: '40Gi' } },
      },
      {
        name: 'g2',
        attributes: { model: { string: 'c' } },
        taints: [{ key: 'bad', effect: 'NoSchedule', timeAdded }],
      },
    ],
  }),
  slice('net', 'net', 1, {
    nodeSelector: inZoneB,
    devices: [
      { name: 'x0' },
      { name: 'x1', taints: [{ key: 'bad', effect: 'NoExecute', timeAdded }] },
    ],
  }),
  slice('lic', 'glob', 1, { allNodes: true, devices: [{ name: 'l0' }] }),
  slice('gen1', 'g', 1, { nodeName: 'n1', devices: [{ name: 'old' }] }),
  slice('gen2', 'g', 2, { nodeName: 'n1', devices: [{ name: 'new' }] }),
  slice('per', 'per', 1, {
    perDeviceNodeSelection: true,
    devices: [
      { name: 'p0', nodeName: 'n2' },
      { name: 'p1', nodeSelector: inZoneB },
      { name: 'p2', allNodes: true },
    ],
  }),
];

describe('claims for devices as kube-scheduler and resourceclaim-controller have them', () => {
  for (const story of stories) {
    it(story.name, () => {
      const cluster = virtualCluster({ snapshot: [...objects, ...(story.half ? [half] : [])] });
      tell(cluster, story);
      assert.deepEqual(outcome(cluster, story), story.seen);
      const { api, pass } = cluster;
      if (story.finish !== undefined) {
        const pod = api.get('pods', namespace, story.finish);
        assert.ok(pod);
        api.update('pods', { ...pod, status: { ...pod.status, phase: 'Succeeded' } }, 'status');
        pass(1000);
        assert.deepEqual(outcome(cluster, story), story.after);
      }
      for (const name of Object.keys(story.pods)) {
        api.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
      }
      pass(1000);
      const left = api
        .list('resourceclaims')
        .map(({ metadata, status }) => ({ name: metadata.name, status }));
      assert.deepEqual(left, story.left);
    });
  }
});

function tell({ api, pass }: Played, story: Story): void {
  const labels = story.admin ? { 'resource.kubernetes.io/admin-access': 'true' } : {};
  api.create('namespaces', { metadata: { name: namespace, labels } });
  for (const [name, devices] of Object.entries(story.claims)) {
    api.create('resourceclaims', {
      metadata: {
        ...{ name, namespace },
        ...(story.going === name ? { finalizers: ['a/b'] } : {}),
      },
      spec: { devices },
    });
    if (story.going === name) api.delete('resourceclaims', namespace, name);
  }
  if (story.template) {
    const metadata = { labels: { a: 'b' }, annotations: { x: 'y' } };
    api.create('resourceclaimtemplates', {
      metadata: { name: 't', namespace },
      spec: { metadata, spec: { devices: story.template } },
    });
  }
  for (const [name, given] of Object.entries(story.pods)) {
    const isMore = Array.isArray(given[0]);
    const [claims, more] = (isMore ? given : [given, {}]) as [readonly string[], object];
    api.create('pods', {
      metadata: { name, namespace },
      spec: {
        containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '10m' } } }],
        resourceClaims: claims.map((claim) =>
          claim === '@t'
            ? { name: 't', resourceClaimTemplateName: 't' }
            : { name: claim, resourceClaimName: claim },
        ),
        ...more,
      },
    });
    pass(500);
  }
}

const withoutSuffix = (name: string): string => name.replace(/-[a-z0-9]{5}$/, '-?');

function outcome({ api }: Played, { lot }: Story): Outcome {
  return {
    pods: api.list('pods').map((pod) => {
      const seen = podOutcome(pod);
      return lot && pod.spec.nodeName ? { ...seen, node: 'any' } : seen;
    }),
    claims: api.list('resourceclaims').map(claimOutcome),
  };
}

function podOutcome({ metadata, spec, status }: KubeObject): object {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const failed = conditions.find(
    ({ type, status }) => type === 'PodScheduled' && status !== 'True',
  );
  const claims:
    | readonly { readonly name: string; readonly resourceClaimName: string }[]
    | undefined = status?.resourceClaimStatuses;
  return {
    name: metadata.name,
    ...(spec.nodeName ? { node: spec.nodeName } : {}),
    ...(failed ? { reason: failed.reason, message: failed.message } : {}),
    ...(claims
      ? {
          claims: claims.map(({ name, resourceClaimName }) => ({
            name,
            resourceClaimName: withoutSuffix(resourceClaimName),
          })),
        }
      : {}),
  };
}

function claimOutcome({ metadata, status }: KubeObject): object {
  const { allocation, reservedFor } = status ?? {};
  const { annotations, labels, finalizers, ownerReferences = [] } = metadata;
  return {
    name: withoutSuffix(metadata.name),
    ...(allocation ? { allocation: { ...allocation, allocationTimestamp: 'T' } } : {}),
    ...(reservedFor ? { reservedFor: reservedFor.map(({ name }: { name: string }) => name) } : {}),
    ...(finalizers ? { finalizers } : {}),
    ...(annotations ? { annotations, labels } : {}),
    ...(metadata.generateName
      ? { owner: ownerReferences.map(({ uid: _, ...owner }) => owner) }
      : {}),
  };
}
