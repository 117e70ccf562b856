import type { Change, KubeObject } from '@taintmgr/sim-cluster/server';
import {
  Controller,
  type ControllerContext,
  formatTime,
  isTerminal,
  isTerminating,
  keyOf,
  labelSelectorRequirements,
  matchesLabels,
  withCondition,
} from '@taintmgr/sim-cluster/server';

const resource = 'evictionrequests.lifecycle.k8s.io';
const followed = new Set([resource, 'pods', 'poddisruptionbudgets']);
/** The interval at which a pod that a budget keeps is checked again. */
const lookAgainMs = 2_000;

const text = { type: 'string' } as const;
const fixed = { rule: 'self == oldSelf', message: 'field is immutable' };
const pod = { type: 'object', required: ['name', 'uid'], properties: { name: text, uid: text } };
const target = { type: 'object', properties: { pod }, 'x-kubernetes-validations': [fixed] };

/**
 * EvictionRequests of lifecycle.k8s.io/v1alpha1, as Kubernetes 1.37 has them behind a feature gate.
 * Install the definition where a cluster should serve them, and delete it to remove them.
 */
export function evictionRequestDefinition(): KubeObject {
  return definitionOf('EvictionRequest', {
    type: 'object',
    required: ['target', 'requester', 'intent'],
    properties: {
      target,
      requester: {
        ...{ type: 'string', pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/.+$' },
        'x-kubernetes-validations': [fixed],
      },
      intent: { type: 'string', enum: ['Eviction', 'Withdrawn'] },
    },
  });
}

/** Evictions of the same API: the status names the responder for a pod, and its progress. */
export function evictionDefinition(): KubeObject {
  return definitionOf('Eviction', { type: 'object', required: ['target'], properties: { target } });
}

function definitionOf(kind: string, spec: KubeObject['spec']): KubeObject {
  const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = {
    openAPIV3Schema: { type: 'object', required: ['spec'], properties: { spec, status } },
  };
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  const version = { name: 'v1alpha1', served: true, storage: true };
  const approved = 'https://github.com/kubernetes/enhancements/pull/4565';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.lifecycle.k8s.io`,
      annotations: { 'api-approved.kubernetes.io': approved },
    },
    spec: {
      group: 'lifecycle.k8s.io',
      names: { kind, listKind: `${kind}List`, plural, singular },
      scope: 'Namespaced',
      versions: [{ ...version, schema, subresources: { status: {} } }],
    },
  };
}

/**
 * Stands in for the responder to EvictionRequests: deletes the pods that requests name, within
 * their budgets, some time after the first request. A pod without a remaining request is left
 * alone.
 */
export class EvictionRequests extends Controller {
  readonly #answersAfterMs: number;
  /** When each pod is deleted, by the key of its request. */
  readonly #dueAt = new Map<string, number>();

  constructor(context: ControllerContext, answersAfterMs: number) {
    super(context);
    this.#answersAfterMs = answersAfterMs;
  }

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    this.#noticeAll();
  }

  protected override notice({ resource: of, key }: Change): void {
    if (of === resource) this.queue.add(key);
    else this.#noticeAll();
  }

  #noticeAll(): void {
    for (const request of this.#requests()) this.queue.add(keyOf(request));
  }

  #requests(): readonly KubeObject[] {
    const isServed = this.api.stored().some(({ storeKey }) => storeKey === resource);
    return isServed ? this.api.list(resource) : [];
  }

  protected override sync(key: string): void {
    const request = this.#requests().find((one) => keyOf(one) === key);
    if (request?.spec.intent !== 'Eviction') {
      this.#dueAt.delete(key);
      return;
    }
    const { name, uid } = request.spec.target.pod;
    const pod = this.api.get('pods', request.metadata.namespace ?? '', name);
    if (!pod || pod.metadata.uid !== uid || isTerminal(pod)) this.#report(request, 'PodDeleted');
    else if (!isTerminating(pod)) this.#evict(key, pod, uid);
  }

  #evict(key: string, pod: KubeObject, uid: string): void {
    const { api, queue } = this;
    const now = api.clock.now();
    const dueAt = this.#dueAt.get(key) ?? now + this.#answersAfterMs;
    this.#dueAt.set(key, dueAt);
    if (now < dueAt) queue.addAfter(key, dueAt - now);
    else if (!this.#isAllowed(pod)) queue.addAfter(key, lookAgainMs);
    else api.delete('pods', pod.metadata.namespace ?? '', pod.metadata.name, { uid });
  }

  #isAllowed({ metadata: { namespace = '', labels = {} } }: KubeObject): boolean {
    const budgets = this.api.list('poddisruptionbudgets', namespace);
    return budgets
      .filter(({ spec }) =>
        matchesLabels(labelSelectorRequirements(spec.selector ?? {}) ?? [], labels),
      )
      .every(({ status }) => (status?.disruptionsAllowed ?? 0) > 0);
  }

  #report(request: KubeObject, reason: string): void {
    const { status } = request;
    const condition = { type: 'TargetEvicted', status: 'True', reason, message: '' };
    const old: Parameters<typeof withCondition>[0] = status?.conditions;
    if (old?.some(({ type }) => type === condition.type)) return;
    const conditions = withCondition(old, condition, formatTime(this.api.clock.now()));
    this.api.update(resource, { ...request, status: { ...status, conditions } }, 'status');
  }
}
