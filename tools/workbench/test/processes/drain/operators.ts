// Stand-ins for operators that move their own pods: CloudNativePG when it sees a taint, KubeVirt when it is asked.
import assert from 'node:assert/strict';
import { type KubeObject, pdb, pod } from '@taintmgr/sim-cluster';
import { until, type WatchedCluster } from './programs.ts';

const roleLabel = 'cnpg.io/instanceRole';

function ownedBy(object: KubeObject, apiVersion: string, kind: string, name: string): KubeObject {
  const owner = { apiVersion, kind, name, uid: `uid-of-${name}`, controller: true };
  return { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } };
}

/** One database: a primary on one node, a replica on another, and a budget that keeps the primary. */
export class PostgresOperator {
  readonly #watched: WatchedCluster;
  /** What it has done, in order. */
  readonly done: string[] = [];

  constructor(watched: WatchedCluster, nodes: readonly [primary: string, replica: string]) {
    this.#watched = watched;
    const { api } = watched.cluster;
    const [primary, replica] = nodes;
    this.#create('main-1', 'primary', { nodeName: primary });
    this.#create('main-2', 'replica', { nodeName: replica });
    const ofPrimary = { matchLabels: { [roleLabel]: 'primary' } };
    const budget = pdb('data', 'main-primary', { minAvailable: 1 }, ofPrimary);
    api.create('poddisruptionbudgets', ownedBy(budget, 'postgresql.cnpg.io/v1', 'Cluster', 'main'));
    api.subscribe(({ resource, object, type }) => {
      if (resource === 'pods' && type === 'DELETED' && object.metadata.name === 'main-1')
        setImmediate(() => this.#recreate());
      if (resource !== 'nodes' || object.metadata.name !== primary) return;
      const taints: readonly { readonly key: string }[] = object.spec.taints ?? [];
      if (taints.some(({ key }) => key === 'node.example.com/drain'))
        setImmediate(() => this.#switchOver());
    });
  }

  #create(name: string, role: string, spec: Record<string, string>): void {
    const made = pod('data', name, { labels: { [roleLabel]: role }, spec });
    this.#watched.cluster.api.create(
      'pods',
      ownedBy(made, 'postgresql.cnpg.io/v1', 'Cluster', 'main'),
    );
  }

  /** The replica is promoted first, then the old primary follows it. */
  #switchOver(): void {
    if (this.done.includes('switched over')) return;
    this.done.push('switched over');
    this.#label('main-2', 'primary');
    this.#label('main-1', 'replica');
  }

  #label(name: string, role: string): void {
    const { api } = this.#watched.cluster;
    const found = api.get('pods', 'data', name) ?? assert.fail(`no pod ${name}`);
    const labels = { ...found.metadata.labels, [roleLabel]: role };
    api.update('pods', { ...found, metadata: { ...found.metadata, labels } });
  }

  #recreate(): void {
    this.done.push('made another replica');
    this.#create('main-3', 'replica', {});
  }
}

/** One virtual machine: its pod refuses to be evicted, and is migrated for that. */
export class VirtualMachine {
  readonly #watched: WatchedCluster;
  readonly #uid: string;
  /** What it has done, in order. */
  readonly done: string[] = [];

  constructor(watched: WatchedCluster, nodeName: string) {
    this.#watched = watched;
    const { api } = watched.cluster;
    const launcher = this.#launcher('virt-launcher-vm-1', { nodeName });
    this.#uid = api.create('pods', launcher).metadata.uid ?? '';
    const webhook = 'virt-launcher-eviction-interceptor.kubevirt.io';
    const message = 'Eviction triggered evacuation of VMI "data/vm"';
    const fault = { kind: 'deny', webhook, code: 429, message } as const;
    api.faults.add({ fault, resource: 'pods/eviction', name: launcher.metadata.name });
  }

  #launcher(name: string, spec: Record<string, string>): KubeObject {
    const made = pod('data', name, { spec });
    return ownedBy(made, 'kubevirt.io/v1', 'VirtualMachineInstance', 'vm');
  }

  /** Starts the machine elsewhere when its eviction was asked for, and then ends this pod. */
  async migrate(): Promise<void> {
    const { cluster, removals } = this.#watched;
    const { api } = cluster;
    await until('the eviction to be asked for', () => removals.has(this.#uid));
    this.done.push('asked');
    api.create('pods', this.#launcher('virt-launcher-vm-2', {}));
    await until('the machine to run elsewhere', () => {
      return api.get('pods', 'data', 'virt-launcher-vm-2')?.status?.phase === 'Running';
    });
    this.done.push('migrated');
    api.delete('pods', 'data', 'virt-launcher-vm-1');
  }
}
