import type { VirtualClock } from '@taintmgr/sim-cluster';
// @boundaries-ignore the cluster's own tests live in the same world
import { Client, strategic } from '../../../sim-cluster/test/world/client.ts';
import type { ApiServer } from '../../src/server/api-server.ts';

const containers = [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }];

/** The hand that prepared the cluster of each recorded case. */
export class Hand {
  readonly api: ApiServer;
  readonly client: Client;
  readonly clock: VirtualClock;
  readonly #namespace: string;

  /** Creates the case's namespace. */
  constructor(api: ApiServer, clock: VirtualClock, namespace: string) {
    this.api = api;
    this.clock = clock;
    this.client = new Client(api);
    this.#namespace = namespace;
    if (namespace !== 'default') api.create('namespaces', { metadata: { name: namespace } });
  }

  pod(name: string, spec: object = {}, metadata: object = {}): string {
    const { uid } = this.api.create('pods', {
      metadata: { name, namespace: this.#namespace, ...metadata },
      spec: { containers: containers, ...spec },
    }).metadata;
    return uid ?? '';
  }

  /** A pod on a node, running and Ready or not, labelled for the budgets of the eviction cases. */
  running(name: string, ready: boolean = true): string {
    const uid = this.pod(name, { nodeName: 'wire-e1' }, { labels: { app: 'x' } });
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    this.podStatus(name, { phase: 'Running', conditions });
    return uid;
  }

  podStatus(name: string, status: object): void {
    const path = `/api/v1/namespaces/${this.#namespace}/pods/${name}/status`;
    this.client.patch(path, { status }, strategic);
  }

  node(name: string, spec: object = {}, metadata: object = {}): string {
    const labels = { 'kubernetes.io/hostname': name };
    const { uid } = this.api.create('nodes', {
      metadata: { name, labels, ...metadata },
      spec,
    }).metadata;
    return uid ?? '';
  }

  patchNode(name: string, patch: object): void {
    this.client.patch(`/api/v1/nodes/${name}`, patch);
  }

  budget(name: string, spec: object, status: object | null): void {
    const selector = { matchLabels: { app: 'x' } };
    const metadata = { name, namespace: this.#namespace };
    this.api.create('poddisruptionbudgets', { metadata, spec: { selector, ...spec } });
    if (status) this.budgetStatus(name, status);
  }

  budgetSpec(name: string, spec: object): void {
    this.client.patch(this.#budgetPath(name), { spec });
  }

  budgetStatus(name: string, status: object): void {
    const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0 };
    const { generation } = this.client.get(this.#budgetPath(name)).body.metadata;
    const whole = { observedGeneration: generation, ...counts, ...status };
    this.client.patch(`${this.#budgetPath(name)}/status`, { status: whole });
  }

  removeBudgets(): void {
    const { plural, namespace } = { plural: 'poddisruptionbudgets', namespace: this.#namespace };
    for (const { metadata } of this.api.list(plural, namespace)) {
      this.api.delete(plural, namespace, metadata.name);
    }
  }

  #budgetPath(name: string): string {
    return `/apis/policy/v1/namespaces/${this.#namespace}/poddisruptionbudgets/${name}`;
  }
}
