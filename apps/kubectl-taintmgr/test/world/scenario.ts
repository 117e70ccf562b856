import assert from 'node:assert/strict';
import { deployment, type KubeObject, type WorkloadOptions } from '@taintmgr/sim-cluster';
import type { TestCluster } from './test-cluster.ts';

// Each scenario has a zone of two nodes and a namespace of its own, both with its name, so that
// many can be played on one cluster at the same time.

const zoneLabel = 'topology.kubernetes.io/zone';

/** Keeps the pods of a workload in its scenario's zone. */
export function inZone(zone: string, podSpec: object = {}): Pick<WorkloadOptions, 'podSpec'> {
  return { podSpec: { nodeSelector: { [zoneLabel]: zone }, ...podSpec } };
}

/** A Deployment of a scenario. */
export function app(zone: string, name: string, options: WorkloadOptions = {}): KubeObject {
  return deployment(zone, name, { ...inZone(zone, options.podSpec), ...omitPodSpec(options) });
}

/** What a test asks about its scenario. */
export class Scenario {
  readonly zone: string;
  readonly #cluster: TestCluster;

  constructor(cluster: TestCluster, zone: string) {
    this.#cluster = cluster;
    this.zone = zone;
  }

  /** The label selector of its nodes. */
  get selector(): string {
    return `${zoneLabel}=${this.zone}`;
  }

  /** Whether an object belongs to it. */
  readonly owns = ({ metadata }: KubeObject): boolean =>
    metadata.namespace === this.zone || metadata.name.startsWith(`${this.zone}-`);

  pods(name: string): readonly KubeObject[] {
    const pods = this.#cluster.api.list('pods', this.zone);
    return pods.filter(({ metadata }) => metadata.labels?.app === name);
  }

  /** The only pod of a workload. */
  pod(name: string): KubeObject {
    const [pod, ...more] = this.pods(name);
    assert.ok(pod && more.length === 0, `one pod of ${name}, not ${more.length + 1}`);
    return pod;
  }

  /** Whether all pods of a workload, that many, run on other nodes than this one. */
  runElsewhere(name: string, count: number, nodeName: string): boolean {
    const ready = this.pods(name).filter(
      ({ spec, status, metadata }) =>
        spec.nodeName !== nodeName && status.phase === 'Running' && !metadata.deletionTimestamp,
    );
    return ready.length === count && this.pods(name).length === count;
  }

  /** The keys of a node's NoExecute taints. */
  taints(nodeName: string): readonly string[] {
    const taints: readonly { key: string; effect: string }[] =
      this.#cluster.api.get('nodes', '', nodeName)?.spec.taints ?? [];
    return taints.filter(({ effect }) => effect === 'NoExecute').map(({ key }) => key);
  }
}

function omitPodSpec({ podSpec: _, ...options }: WorkloadOptions): WorkloadOptions {
  return options;
}
