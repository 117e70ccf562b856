// Binds a pod to a node.
import { badRequest, conflict, invalid, notFound } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import { storedResource } from '../resources/resources.ts';
import { notSupported, required } from '../validation/causes.ts';
import type { Backend, Target } from './backend.ts';
import { canonical, markCanonical } from './canonical.ts';
import { failedPrecondition } from './update.ts';

/** The object a Binding points to. */
export interface BindingTarget {
  readonly kind?: string;
  readonly name?: string;
}

/** The options of a binding. */
interface BindOptions {
  /** The uid and the version of the pod, as far as they are given. */
  readonly of?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
  /**
   * True if no client reads over the wire, so that the stored object need not have the form of the
   * API.
   */
  readonly isBrief?: boolean;
}

/** POST pods/NAME/binding: assigns a pod to a node, once. */
export function bindPod(
  backend: Backend,
  target: Target,
  to: BindingTarget,
  { of = {}, dryRun = false, isBrief = false }: BindOptions = {},
): void {
  const pods = storedResource('pods');
  const kind = { group: '', kind: 'Binding' };
  if (to.kind && to.kind !== 'Node') {
    throw invalid(kind, target.name, [notSupported('target.kind', to.kind, ['Node', '<empty>'])]);
  }
  if (!to.name) throw invalid(kind, target.name, [required('target.name')]);
  const pod = backend.store.get('pods', target.namespace, target.name);
  if (!pod) throw notFound(pods, target.name);
  const { uid, resourceVersion } = pod.metadata;
  if (of.uid && of.uid !== uid) throw failedPrecondition(pods, pod, 'UID', of.uid, uid);
  if (of.resourceVersion && of.resourceVersion !== resourceVersion) {
    throw failedPrecondition(pods, pod, 'ResourceVersion', of.resourceVersion, resourceVersion);
  }
  const refuse = (text: string) =>
    conflict({ group: '', plural: 'pods/binding' }, target.name, text);
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw refuse(`pod ${target.name} is being deleted, cannot be assigned to a host`);
  }
  if (pod.spec.nodeName) {
    const node = JSON.stringify(pod.spec.nodeName);
    throw refuse(`pod ${target.name} is already assigned to node ${node}`);
  }
  if ((pod.spec.schedulingGates ?? []).length > 0) {
    throw refuse(`pod ${target.name} has non-empty .spec.schedulingGates`);
  }
  const bound = boundTo(pod, to.name, formatTime(backend.clock.now()));
  if (isBrief && !dryRun) {
    backend.store.put('pods', bound, pod);
    return;
  }
  const next = canonical(pods, bound, pod);
  if (!dryRun) markCanonical(backend.store.put('pods', next, pod));
}

/** 400 unless a Binding or Eviction names the pod of the URL. */
export function checkSubresourceName(target: Target, body: KubeObject): void {
  const { name, namespace } = body.metadata;
  if (name !== target.name) {
    throw badRequest(`name in URL does not match name in ${body.kind} object`);
  }
  if (namespace && namespace !== target.namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

/** The pod on its node, since `now`; for which node it was nominated matters no more. */
export function boundTo(pod: KubeObject, nodeName: string, now: string): KubeObject {
  const others: readonly { readonly type: string }[] = pod.status?.conditions ?? [];
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: now };
  const conditions = [...others.filter(({ type }) => type !== 'PodScheduled'), scheduled];
  const { nominatedNodeName: _, ...status } = pod.status ?? {};
  return {
    ...pod,
    spec: { ...pod.spec, nodeName },
    status: { ...status, conditions },
  };
}
