// The requests of takeover: labels of namespaces, marks of pods, what a proof or a trial needs.
import { formatTime, type Instant } from '@taintmgr/core/time';
import {
  type ApiRequest,
  objectRequest,
  takeoverLabel,
  takeoverManager,
} from '@taintmgr/k8s-adapter';

/** A pod by its names. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** How a write goes out. */
export interface WriteOptions {
  /** The API server judges, and changes nothing. */
  readonly dryRun?: boolean;
  /** As whom; left out: as ourselves. */
  readonly as?: string;
}

export const namespacesPath = '/api/v1/namespaces';

export function namespacePath(name: string): string {
  return `${namespacesPath}/${encodeURIComponent(name)}`;
}

export function podsPathOf(namespace: string): string {
  return `${namespacePath(namespace)}/pods`;
}

export function podPathOf({ namespace, name }: PodName): string {
  return `${podsPathOf(namespace)}/${encodeURIComponent(name)}`;
}

/** Puts the label on a namespace, or takes it off. */
export function labelRequest(name: string, isOn: boolean, options: WriteOptions = {}): ApiRequest {
  const labels = { [takeoverLabel.key]: isOn ? takeoverLabel.value : null };
  return patch('merge-patch', namespacePath(name), { metadata: { labels } }, options);
}

/**
 * The mark that kube-controller-manager sets before it deletes a pod. Nobody but a test stores it: with
 * `dryRun` the API server only says whether it would.
 */
export function markRequest(pod: PodName, at: Instant, options: WriteOptions = {}): ApiRequest {
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: formatTime(at),
  };
  const body = { status: { conditions: [condition] } };
  return patch('strategic-merge-patch', `${podPathOf(pod)}/status`, body, {
    ...options,
    dryRun: true,
  });
}

/** A namespace that is there for a moment only. */
export function scratchNamespaceRequest(name: string, isOptedIn: boolean): ApiRequest {
  const labels = {
    'app.kubernetes.io/managed-by': 'kubectl-taintmgr',
    ...(isOptedIn && { [takeoverLabel.key]: takeoverLabel.value }),
  };
  return objectRequest('POST', namespacesPath, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
}

/** What a pod is put there for: to be marked, or to run on a node and be evicted. */
export interface ScratchPod extends PodName {
  /** Left out: no scheduler looks for a node for it. */
  readonly nodeName?: string;
  readonly tolerations?: readonly object[];
  /** It stays, once deleted, until somebody takes its finalizer. */
  readonly isWatched?: boolean;
}

/** A pod that does nothing, and may do so under the strictest Pod Security Standard. */
export function scratchPodRequest({
  namespace,
  name,
  nodeName,
  tolerations = [],
  isWatched = false,
}: ScratchPod): ApiRequest {
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    runAsUser: 65535,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const requests = { cpu: '1m', memory: '8Mi' };
  const image = 'registry.k8s.io/pause:3.10';
  return objectRequest('POST', podsPathOf(namespace), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(isWatched && { finalizers: ['taintmgr.dev/verify'] }) },
    spec: {
      ...(nodeName === undefined ? { schedulerName: 'taintmgr.dev/nobody' } : { nodeName }),
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [
        { name: 'pause', image, securityContext, resources: { requests, limits: requests } },
      ],
      ...(tolerations.length > 0 && { tolerations }),
    },
  });
}

export function deleteRequest(path: string): ApiRequest {
  return objectRequest('DELETE', path, { apiVersion: 'v1', kind: 'DeleteOptions' });
}

type PatchKind = 'merge-patch' | 'strategic-merge-patch';

function patch(
  kind: PatchKind,
  path: string,
  body: object,
  { dryRun, as }: WriteOptions,
): ApiRequest {
  const query = `fieldManager=${takeoverManager}${dryRun ? '&dryRun=All' : ''}`;
  const headers = {
    accept: 'application/json',
    'content-type': `application/${kind}+json`,
    ...(as !== undefined && { 'impersonate-user': as }),
  };
  return { method: 'PATCH', path: `${path}?${query}`, headers, body: JSON.stringify(body) };
}
