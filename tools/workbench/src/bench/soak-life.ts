// What kubelets and people do in the cluster of bench/soak.ts: leases are renewed, policies and pauses
// come and go.
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { type ApiServer, installDefinitions, type KubeObject } from '@taintmgr/sim-cluster';

const apiVersion = 'taintmgr.dev/v1alpha1';
const leaseNamespace = 'kube-node-lease';
const renewMs = 10_000;
const policyMs = 3_000;
/** As many of each kind are there at once; the one that was first goes. */
const objectsMax = 5;

/** They match nothing of this cluster: what is due stays due. */
const matchLabels = { app: 'nobody' };
const kinds = [
  {
    resource: 'evictionpolicies.taintmgr.dev',
    kind: 'EvictionPolicy',
    spec: { priority: 10, match: { podSelector: { matchLabels } }, action: 'Keep' },
  },
  {
    resource: 'evictionpauses.taintmgr.dev',
    kind: 'EvictionPause',
    spec: { reason: 'soak', scope: { nodeSelector: { matchLabels } } },
  },
] as const;

/** Lets the cluster live beside its churn; returns the way to end it. */
export async function startLife(api: ApiServer): Promise<() => void> {
  await installDefinitions(api, customResourceDefinitions());
  takeOver(api);
  for (const { metadata } of api.list('nodes')) api.create('leases', lease(metadata.name));
  const policies = new Policies(api);
  const timers = [
    setInterval(() => renew(api), renewMs),
    setInterval(() => policies.next(), policyMs),
  ];
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

/** With takeover the controller decides about pods of such namespaces alone. */
function takeOver(api: ApiServer): void {
  const namespace = api.get('namespaces', '', 'default');
  if (!namespace) return;
  const labels = { ...namespace.metadata.labels, 'taintmgr.dev/takeover': 'enabled' };
  api.update('namespaces', { ...namespace, metadata: { ...namespace.metadata, labels } });
}

class Policies {
  readonly #api: ApiServer;
  readonly #names: string[] = [];
  #serial = 0;

  constructor(api: ApiServer) {
    this.#api = api;
  }

  next(): void {
    const name = `soak-${this.#serial++}`;
    this.#names.push(name);
    const old = this.#names.length > objectsMax ? this.#names.shift() : undefined;
    for (const { resource, kind, spec } of kinds) {
      this.#api.create(resource, { apiVersion, kind, metadata: { name }, spec });
      if (old !== undefined) this.#api.delete(resource, '', old);
    }
  }
}

function renew(api: ApiServer): void {
  for (const one of api.list('leases', leaseNamespace)) {
    api.update('leases', { ...one, spec: { ...one.spec, renewTime: renewTime() } });
  }
}

function lease(name: string): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: leaseNamespace },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: renewTime() },
  };
}

/** To the microsecond, as leases have it. */
function renewTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
