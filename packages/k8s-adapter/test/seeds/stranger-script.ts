// What people and kubelets may do who may not evict, and namespaces in which requests go wrong.
import { type KubeObject, namespace, pod } from '@taintmgr/sim-cluster';
import type { Duty, Evictors, LeaseSight } from '../../src/evictors/judge.ts';
import { evictorsIn, type Look, LookMemory } from '../../src/evictors/look.ts';
import type { Draw } from './draw.ts';
import { type Actions, current } from './script.ts';
import type { Story } from './story.ts';

export const strangerActions: Actions = [
  [3, claimLease],
  [2, dropLease],
  [3, claimPod],
  [2, dropPod],
];
/** Seldom, for it takes long. */
export const slowNamespaceActions: Actions = [[6, hang]];

/** A health checker that takes every node for a bad one, and who takes that back. */
export const healthCheckerActions: Actions = [
  [2, taintAll],
  [3, untaintAll],
];

const slow = 'slow';
const tenant = 'tenant';
/** All pods of the other namespaces are to be asked for within this, however slow that one is. */
const besideMs = 20_000;
const slowPods = 40;

/** A webhook of one namespace does not answer while everything of its nodes has to go. */
function hang(story: Story, draw: Draw): string {
  const { api, stage, troubles } = story;
  story.rest(draw);
  const nodes = api.list('nodes');
  if (nodes.length === 0 || api.list('pods', slow).length > 0) return 'no namespace is slow';
  const [node] = nodes;
  for (let index = 0; index < slowPods; index++) {
    const spec = { nodeName: node?.metadata.name ?? '', terminationGracePeriodSeconds: 0 };
    api.create('pods', pod(slow, `slow-${index}`, { spec }));
  }
  const rule = { verbs: ['create', 'patch', 'delete'], namespace: slow } as const;
  const words = { webhook: 'slow.example.com', code: 500, message: 'context deadline exceeded' };
  troubles.strike({ ...rule, fault: { kind: 'deny', ...words, afterMs: 29_000 } }, 200_000);
  const taints = [{ key: 'maintenance', effect: 'NoExecute' }];
  for (const one of nodes) api.update('nodes', { ...current(one), spec: { ...one.spec, taints } });
  const since = story.now();
  stage.passUntil(since + 90_000);
  story.judgeBeside(since, slow, besideMs);
  troubles.end();
  stage.passUntil(story.now() + 60_000);
  return `requests of namespace ${slow} were answered after 29 s`;
}

function taintAll({ api }: Story): string {
  const taints = [{ key: 'example.com/unhealthy', effect: 'NoExecute' }];
  for (const one of api.list('nodes')) {
    api.update('nodes', { ...current(one), spec: { ...one.spec, taints } });
  }
  return 'every node is taken for unhealthy';
}

function untaintAll({ api }: Story): string {
  for (const one of api.list('nodes')) {
    api.update('nodes', { ...current(one), spec: { ...one.spec, taints: [] } });
  }
  return 'no node is taken for unhealthy any more';
}

/** A tenant writes a lease in his namespace, as that of another installation. */
function claimLease({ api, stage }: Story): string {
  if (api.get('leases', tenant, 'taintmgr-controller')) return 'a tenant claims a lease already';
  stage.strangers?.renew();
  return 'a tenant claims a lease';
}

function dropLease({ api }: Story): string {
  if (!api.get('leases', tenant, 'taintmgr-controller')) return 'no tenant claims a lease';
  api.delete('leases', tenant, 'taintmgr-controller');
  return 'a tenant drops his lease';
}

/** A kubelet makes a pod of kube-controller-manager, which says what it likes. */
function claimPod({ api, nodeNames }: Story, draw: Draw): string {
  const node = draw.of(nodeNames);
  const name = `kube-controller-manager-${node}`;
  const uid = api.get('nodes', '', node)?.metadata.uid;
  if (uid === undefined || api.get('pods', 'kube-system', name)) return 'no new claim';
  const flags = draw.of(['--controllers=*', '--controllers=*,-taint-eviction-controller']);
  const command = ['kube-controller-manager', flags];
  const container = { name: 'kube-controller-manager', image: 'x', command };
  const spec = { nodeName: node, containers: [container], tolerations: [{ operator: 'Exists' }] };
  const made = pod('kube-system', name, { spec, labels: { component: 'kube-controller-manager' } });
  const annotations = { 'kubernetes.io/config.mirror': 'x' };
  const owner = { apiVersion: 'v1', kind: 'Node', name: node, uid, controller: true };
  const ownerReferences = [owner];
  api.create('pods', { ...made, metadata: { ...made.metadata, annotations, ownerReferences } });
  return `the kubelet of ${node} claims ${flags}`;
}

function dropPod({ api }: Story, draw: Draw): string {
  const claims = api.list('pods', 'kube-system');
  if (claims.length === 0) return 'no kubelet claims anything';
  const { metadata } = draw.of(claims);
  api.delete('pods', 'kube-system', metadata.name, { gracePeriodSeconds: 0 });
  return `claim ${metadata.name} is dropped`;
}

const taintEviction: Duty = 'taint-eviction-controller';
const lookEveryMs = 30_000;

/**
 * Whom a controller finds beside itself: it stands by while another evicts, and does not begin where nobody
 * knows. kube-controller-manager leaves evictions to it where its administrator has said so, and evicts, but is
 * not to be seen, where he has not.
 */
export class Strangers {
  readonly #story: Story;
  readonly #memory = new LookMemory();
  readonly #isLeftToUs: boolean;
  #lookAt: number;

  constructor(story: Story, isLeftToUs: boolean) {
    this.#story = story;
    this.#isLeftToUs = isLeftToUs;
    const { api } = story;
    this.#lookAt = story.now();
    for (const name of [tenant, slow]) api.create('namespaces', namespace(name));
  }

  nextWake(): number {
    return this.#lookAt;
  }

  runUntil(instant: number): void {
    this.#moveOn();
    if (instant < this.#lookAt) return;
    this.#lookAt = instant + lookEveryMs;
    this.#look();
  }

  /** Where the pod of the controller is gone, or it runs in none, it starts in another replica. */
  #moveOn(): void {
    const { api, cast, stage } = this.#story;
    const { own = null } = cast.evictions ?? {};
    const [controller] = stage.controllers;
    if (!own || !controller || controller.state !== 'running') return;
    const pod = own.name === null ? null : api.get('pods', own.namespace, own.name);
    if (pod && !pod.metadata.deletionTimestamp) return;
    const next = api.list('pods', own.namespace).find(isReady)?.metadata.name ?? null;
    if (next === own.name) return;
    own.name = next;
    controller.crash();
    stage.start(controller);
  }

  /** Finds out whether the controllers may act. */
  #look(): void {
    const { api, stage } = this.#story;
    if (api.get('leases', tenant, 'taintmgr-controller')) this.renew();
    const { upstream, taintmgr } = this.#find();
    const others = [upstream[taintEviction].kind, taintmgr.kind];
    if (others.includes('acts')) stage.standBy(true);
    else if (upstream[taintEviction].kind === 'doesNotAct') stage.standBy(false);
  }

  renew(): void {
    const { api, now } = this.#story;
    const renewTime = new Date(now()).toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'mallory', leaseDurationSeconds: 15, renewTime };
    const known = api.get('leases', tenant, 'taintmgr-controller');
    if (known) api.update('leases', { ...known, spec });
    else
      api.create('leases', { metadata: { namespace: tenant, name: 'taintmgr-controller' }, spec });
  }

  #find(): Evictors {
    const { api, now, sabotage } = this.#story;
    const serverTime = now();
    const leases = api.list('leases').filter(({ metadata }) => {
      return metadata.name === 'taintmgr-controller';
    });
    const isClaim = ({ metadata }: KubeObject): boolean =>
      metadata.labels?.component === 'kube-controller-manager';
    const look: Look = {
      lease: { kind: 'read', value: null, serverTime },
      pods: { kind: 'read', value: api.list('pods', 'kube-system').filter(isClaim), serverTime },
      controlPlane: { kind: 'read', value: [], serverTime },
      installations: { leases: leases.map(sightOf), serverTime, missingRight: null },
      published: { all: [], now: serverTime },
      version: 'v1.36.2',
      asker: {
        lease: { namespace: 'kube-system', name: 'taintmgr-controller' },
        manager: 'taintmgr',
        controllers: [taintEviction],
        declared: this.#isLeftToUs ? [] : null,
      },
    };
    return evictorsIn(sabotage.look?.(look) ?? look, this.#memory, serverTime);
  }
}

function isReady({ metadata, status }: KubeObject): boolean {
  const conditions: readonly { readonly type: string; readonly status: string }[] =
    status?.conditions ?? [];
  const isTrue = conditions.some((one) => one.type === 'Ready' && one.status === 'True');
  return isTrue && !metadata.deletionTimestamp;
}

function sightOf({ metadata, spec }: KubeObject): LeaseSight {
  const { namespace = '', name, uid = '', resourceVersion = '' } = metadata;
  const { holderIdentity, leaseDurationSeconds, renewTime } = spec;
  return {
    ...{ namespace, name, uid, resourceVersion },
    ...{ holder: holderIdentity, duration: leaseDurationSeconds * 1000 },
    ...{ renewedAt: Date.parse(renewTime), acquiredAt: null },
  };
}
