import assert from 'node:assert/strict';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { taint } from '../../src/builders.ts';
import { Cluster, type ClusterOptions } from '../../src/cluster.ts';
import { VirtualClock } from '../../src/kernel/clock.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import type { Topology } from '../../src/topology.ts';

export const start = Date.parse('2026-01-01T00:00:00Z');

/** A cluster on a virtual clock, with the few steps that tests take over and over. */
export interface VirtualCluster<Made extends Cluster = Cluster> {
  readonly clock: VirtualClock;
  readonly cluster: Made;
  readonly api: Made['api'];
  /** Lets `ms` pass. */
  pass(ms: number): void;
  /** Runs until the condition holds, at most 10 minutes; fails when it does not. */
  until(condition: () => boolean, what: string): void;
  untilIdle(): void;
}

/** Starts a cluster; pods start in 2 s and stop in 1 s, nodes are Ready after 1 s. */
export function virtualCluster<Made extends Cluster = Cluster>(
  options: Partial<ClusterOptions> = {},
  make = (given: ClusterOptions): Cluster => new Cluster(given),
): VirtualCluster<Made> {
  const clock = new VirtualClock(start);
  const cluster = make({
    clock,
    seed: 1,
    ...options,
    timing: {
      startupMs: [1000, 1000],
      podStartMs: [2000, 2000],
      podStopMs: [1000, 1000],
      ...options.timing,
    },
  }) as Made;
  cluster.start();
  const until = (condition: () => boolean, what: string): void =>
    assert.ok(clock.advanceUntil(condition, clock.now() + 600_000), `in vain: ${what}`);
  return {
    clock,
    cluster,
    api: cluster.api,
    pass: (ms) => clock.advanceTo(clock.now() + ms),
    until,
    untilIdle: () => until(() => cluster.isIdle(), 'an idle cluster'),
  };
}

/** Zones of one node each: `a-1`, `b-1`, ... */
export function small(
  zones: readonly string[],
  workloads: readonly KubeObject[] = [],
  budgets: readonly KubeObject[] = [],
): Topology {
  return { region: 'r', zones, nodesPerZone: 1, workloads, budgets };
}

/** The pods of an app, ended and ending ones too. */
export function podsOf(api: PlainServer, app: string): readonly KubeObject[] {
  return api.list('pods').filter(({ metadata }) => metadata.labels?.app === app);
}

/** The nodes of the pods of an app, sorted. */
export function placesOf(api: PlainServer, app: string): readonly string[] {
  return podsOf(api, app)
    .map(({ spec }) => spec.nodeName ?? 'nowhere')
    .sort();
}

/** Replaces the taints of a node by these. */
export function setTaints(api: PlainServer, nodeName: string, ...taints: readonly string[]): void {
  const node = stored(api, 'nodes', '', nodeName);
  api.update('nodes', { ...node, spec: { ...node.spec, taints: taints.map(taint) } });
}

/** The stored object; fails when there is none. */
export function stored(
  api: PlainServer,
  resource: string,
  namespace: string,
  name: string,
): KubeObject {
  const object = api.get(resource, namespace, name);
  assert.ok(object, `${resource} ${namespace}/${name}`);
  return object;
}

/** Changes fields of an object's spec. */
export function setSpec(
  api: PlainServer,
  resource: string,
  object: KubeObject,
  spec: object,
): void {
  const { namespace = '', name } = object.metadata;
  const current = stored(api, resource, namespace, name);
  api.update(resource, { ...current, spec: { ...current.spec, ...spec } });
}

/** Asks for the eviction of a pod over the wire; returns the HTTP status of the answer. */
export function evict(api: PlainServer, namespace: string, name: string): number {
  let code = 0;
  api.exchange(
    {
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods/${name}/eviction`,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace },
      }),
    },
    {
      head: (status) => {
        code = status;
      },
      data: () => {},
      end: () => {},
      reset: () => {},
    },
  );
  return code;
}
