import { type Node, type Pod, parseTaint, type Taint } from '@taintmgr/core';
import type { Budget } from '@taintmgr/core/drain';
import { actorOf, type DutyVerdict, type Evictors } from '@taintmgr/k8s-adapter';
import { type Evictor, readEvictor } from '../../src/survey/evictors.ts';
import type { NodeFacts, PodFacts } from '../../src/survey/facts.ts';
import { noPolicies } from '../../src/survey/policies.ts';
import type { ForecastSurvey } from '../../src/survey/survey.ts';
import { taintManagersIn } from '../../src/survey/taint-managers.ts';

/** A round instant: what a test prints is easy to compute. */
export const now: number = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A taint put on `secondsAgo`, or nobody knows when. */
export function taint(text: string, secondsAgo: number | null = null): Taint {
  return { ...parseTaint(text), timeAdded: secondsAgo === null ? null : now - secondsAgo * 1000 };
}

export function node(name: string, ...taints: readonly Taint[]): Node {
  return { name, uid: `uid-${name}`, taints };
}

/** A running pod of a ReplicaSet in namespace shop on n1, with no toleration. */
export function pod(name: string, fields: Partial<Pod> = {}): Pod {
  return {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    nodeName: 'n1',
    tolerations: [],
    boundAt: null,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 1,
    mirror: false,
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs' },
    hasEmptyDir: false,
    ...fields,
  };
}

/** Tolerates every taint of a key, for ever or for a number of seconds. */
export function tolerates(
  key: string,
  tolerationSeconds: number | null = null,
): Pick<Pod, 'tolerations'> {
  return {
    tolerations: [{ key, operator: 'Exists', value: '', effect: '', tolerationSeconds }],
  };
}

/** The controller of a DaemonSet's pods. */
export const ofDaemonSet: Pick<Pod, 'owner'> = {
  owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
};

/** A budget of namespace shop over all its pods, which needs the two that it has. */
export function budgetOf(name: string, fields: Partial<Budget> = {}): Budget {
  return {
    ...{ namespace: 'shop', name, selector: {}, allowed: 0, healthy: 2, desired: 2, expected: 2 },
    ...{ upToDate: true, alwaysEvictUnhealthy: false, refusal: null },
    ...fields,
  };
}

/** The facts of a node that is Ready and in no zone. */
export function nodeFactsOf(one: Node, fields: Partial<NodeFacts> = {}): NodeFacts {
  return {
    node: one,
    zone: '',
    cordoned: false,
    ready: { status: 'True', since: now - 3_600_000, reason: 'KubeletReady' },
    taintsWritten: null,
    annotations: {},
    version: '',
    ...fields,
  };
}

/** The facts of a pod. */
export function podFactsOf(one: Pod, fields: Partial<PodFacts> = {}): PodFacts {
  const unknown = {
    ...{ tolerationsWritten: null, createdAt: null, unmarkedAt: null },
    ...{ lastApplied: null, version: '' },
  };
  return { pod: one, finalizers: [], qosClass: 'Burstable', priority: 0, ...unknown, ...fields };
}

const absent = { kind: 'doesNotAct', evidence: [] } as const;

/** Nobody evicts, and that is known. */
export const nobody: Evictors = {
  upstream: {
    'taint-eviction-controller': absent,
    'node-lifecycle-controller': absent,
    'device-taint-eviction-controller': absent,
  },
  taintmgr: absent,
};

const leader = 'cp_1';

/** The verdict on a controller that holds a lease and renewed the lease at `at`. */
export function leads(at: number = now, name = 'taintmgr-controller', who = leader): DutyVerdict {
  const lease = {
    ...{ namespace: 'kube-system', name, uid: 'u', resourceVersion: '1', holder: leader },
    ...{ duration: 15_000, renewedAt: at, acquiredAt: null },
  };
  return { kind: 'acts', who, evidence: [{ kind: 'lease', lease, life: 'alive', age: 1000 }] };
}

/** Who evicts where the leader of taintmgr-controller publishes this. */
export function evictorWhere(
  evictors: Evictors,
  published: object,
  at: number = now,
): Promise<Evictor> {
  const manager = {
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' },
    metadata: { name: 'taintmgr', uid: 'u1' },
    status: { leader, renewTime: new Date(at).toISOString(), ...published },
  };
  const taintManagers = () => Promise.resolve(taintManagersIn([manager]));
  return readEvictor(evictors, { taintManagers, podObject: () => Promise.resolve(null) }, at);
}

/** The survey of these nodes and pods, where taintmgr-controller evicts, at `now`; the rest of their zones may not be seen. */
export function surveyOf(
  nodes: readonly NodeFacts[],
  pods: readonly PodFacts[],
  fields: Partial<ForecastSurvey> = {},
): ForecastSurvey {
  const taintmgr = { kind: 'acts', who: 'taintmgr_1', evidence: [] } as const;
  const evictors = fields.evictors ?? { ...nobody, taintmgr };
  return {
    at: now,
    nodes,
    pods,
    budgets: [],
    leases: new Map(nodes.map(({ node: { name } }) => [name, null])),
    zoneNodes: null,
    evictors,
    evictor: { ...actorOf(evictors), asksBudgets: true },
    policies: noPolicies,
    requests: [],
    past: null,
    limits: null,
    refused: [],
    ...fields,
  };
}
