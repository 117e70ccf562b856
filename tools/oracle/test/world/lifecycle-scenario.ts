import assert from 'node:assert/strict';
import type { ApiServer, ServedCluster } from '@taintmgr/api-server';
import { type Exchange, type KubeObject, pod, type Topology } from '@taintmgr/sim-cluster';
// @boundaries-ignore the cluster's own tests play on the same one
import {
  start,
  stored,
  virtualCluster,
} from '../../../../packages/api-server/test/world/virtual-cluster.ts';
import { LifecycleCheckers } from '../../src/lifecycle/lifecycle-checkers.ts';
import { type LifecycleTerms, lifecycleDefaults } from '../../src/lifecycle/lifecycle-terms.ts';
import type { Violation } from '../../src/terms.ts';

// @boundaries-ignore as above
export {
  setSpec,
  start,
  stored,
  virtualCluster,
} from '../../../../packages/api-server/test/world/virtual-cluster.ts';

const unreachable = 'node.kubernetes.io/unreachable';
export const reasons = {
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
} as const;

interface Taint {
  readonly key: string;
  readonly effect: string;
  readonly value?: string;
}

/** A cluster without a node lifecycle controller, and one who plays it by hand under watch. */
export class Scenario {
  readonly cluster: ServedCluster;
  readonly api: ApiServer;
  readonly checkers: LifecycleCheckers;
  readonly #pass: (ms: number) => void;
  readonly #line: Exchange;
  readonly #hangUps: (() => void)[] = [];

  constructor(zones: Readonly<Record<string, number>>, terms: Partial<LifecycleTerms> = {}) {
    const none: Topology = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };
    const running = virtualCluster({ topology: none, without: ['conditionTaints'] });
    this.cluster = running.cluster;
    this.api = running.api;
    this.#pass = running.pass;
    this.checkers = new LifecycleCheckers(running.api, { ...lifecycleDefaults, ...terms });
    const { apiHistory } = this.checkers;
    this.#line = apiHistory.first.client(apiHistory.server(this.api.exchange));
    for (const [zone, count] of Object.entries(zones)) {
      for (let number = 1; number <= count; number++) {
        this.cluster.addNode({ name: `${zone}-${number}`, region: 'r', zone });
      }
    }
    this.beginRun();
    this.at(5);
    for (const node of this.api.list('nodes')) this.setTaints(node.metadata.name, () => []);
  }

  /** The client starts and follows everything. */
  beginRun(): void {
    for (const hangUp of this.#hangUps.splice(0)) hangUp();
    this.checkers.apiHistory.first.beginRun();
    for (const path of [
      '/api/v1/nodes',
      '/api/v1/pods',
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    ]) {
      this.send('GET', path);
      this.send('GET', `${path}?watch=true`);
    }
  }

  /** Goes on to that second of the scenario. */
  at(second: number): void {
    const ms = start + second * 1000 - this.api.clock.now();
    assert.ok(ms >= 0, `second ${second} is over`);
    this.#pass(ms);
  }

  node(name: string): KubeObject {
    return stored(this.api, 'nodes', '', name);
  }

  /** A running pod on the node. */
  addPod(nodeName: string, name = `on-${nodeName}`): void {
    const { spec } = pod('default', name);
    this.api.create('pods', pod('default', name, { spec: { ...spec, nodeName } }));
  }

  /** The client's PUT of a node's status, with all conditions passed through `change`. */
  putConditions(name: string, change: (condition: { type: string }) => object): void {
    const node = this.node(name);
    const conditions = node.status.conditions.map(change);
    const body = { ...node, status: { ...node.status, conditions } };
    this.write('PUT', `/api/v1/nodes/${name}/status`, body);
  }

  markUnknown(...names: readonly string[]): void {
    for (const name of names) {
      this.putConditions(name, (condition) => ({ ...condition, status: 'Unknown', ...reasons }));
    }
  }

  /** The client's PATCH of the whole list of taints. */
  setTaints(name: string, change: (taints: readonly Taint[]) => readonly object[]): void {
    const { metadata, spec } = this.node(name);
    const taints = change(spec.taints ?? []);
    this.send('GET', `/api/v1/nodes/${name}`);
    this.write('PATCH', `/api/v1/nodes/${name}`, {
      metadata: { resourceVersion: metadata.resourceVersion },
      spec: { taints: taints.length > 0 ? taints : null },
    });
  }

  addTaint(name: string, effect: string, key: string = unreachable): void {
    this.setTaints(name, (taints) => [...taints, { key, effect }]);
  }

  removeTaint(name: string, effect: string): void {
    this.setTaints(name, (taints) => taints.filter((taint) => taint.effect !== effect));
  }

  /** All that is due for a node that is lost and whose turn it is. */
  lose(name: string): void {
    this.markUnknown(name);
    this.addTaint(name, 'NoSchedule');
    this.addTaint(name, 'NoExecute');
  }

  markPod(name: string): void {
    const one = stored(this.api, 'pods', 'default', name);
    const conditions = one.status.conditions.map((condition: { type: string }) =>
      condition.type === 'Ready' ? { ...condition, status: 'False' } : condition,
    );
    const body = { ...one, status: { ...one.status, conditions } };
    this.write('PUT', `/api/v1/namespaces/default/pods/${name}/status`, body);
  }

  /** A change that the API has to accept. */
  write(method: string, path: string, body: object): void {
    const status = this.send(method, path, body);
    assert.equal(status, 200, `${method} ${path}`);
  }

  /** Everything that was found when the scenario is over at that second. */
  end(second: number, calmSince = 0): readonly Violation[] {
    this.at(second);
    this.checkers.atRest(start + calmSince * 1000);
    this.checkers.atEnd();
    return this.checkers.violations;
  }

  /** A request of the client; returns the status of the answer. */
  send(method: string, path: string, body?: object): number {
    let code = 0;
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const request = {
      method,
      path,
      headers: { accept: 'application/json', 'content-type': type },
      body: body === undefined ? null : JSON.stringify(body),
    };
    const hangUp = this.#line(request, {
      head: (status) => {
        code = status;
      },
      data: () => {},
      end: () => {},
      reset: () => {},
    });
    if (path.includes('watch=true')) this.#hangUps.push(hangUp);
    return code;
  }
}

/** The names of the invariants that were broken, each once. */
export function brokenIn(violations: readonly Violation[]): readonly string[] {
  return [...new Set(violations.map(({ invariant }) => invariant))].sort();
}
