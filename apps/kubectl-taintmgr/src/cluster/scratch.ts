// Objects that a proof, a trial or a probe makes for a moment: how they are made, and taken away again.
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  type ApiRequest,
  ConnectionError,
  objectRequest,
} from '@taintmgr/k8s-adapter/client';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  describeRight,
  isAllowed,
  namespacesPath,
  type PodName,
  podsPathOf,
  type Right,
} from '@taintmgr/k8s-adapter/survey';

/** Of every object that is made for a moment. */
export const scratchLabels = { 'app.kubernetes.io/managed-by': 'kubectl-taintmgr' } as const;

/** A namespace that is there for a moment only. */
export function scratchNamespaceRequest(
  name: string,
  labels: Readonly<Record<string, string>> = {},
  annotations: Readonly<Record<string, string>> = {},
): ApiRequest {
  return objectRequest('POST', namespacesPath, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { ...scratchLabels, ...labels }, annotations },
  });
}

/** The purpose of a pod: to be marked, or to run on a node and be evicted. */
export interface ScratchPod extends PodName {
  /** Left out: no scheduler looks for a node for it. */
  readonly nodeName?: string;
  readonly tolerations?: readonly object[];
  /** A ResourceClaim that it uses; left out: none. */
  readonly claim?: string;
  /** A deleted pod stays until its finalizer is removed. */
  readonly isWatched?: boolean;
  /** The time that it may take to end; left out: 0. */
  readonly graceSeconds?: number;
}

/** A pod that does nothing, and may do so under the strictest Pod Security Standard. */
function scratchPodRequest({
  namespace,
  name,
  nodeName,
  tolerations = [],
  claim,
  isWatched = false,
  graceSeconds = 0,
}: ScratchPod): ApiRequest {
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    runAsUser: 65535,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const requests = { cpu: '1m', memory: '8Mi' };
  const resources = {
    ...{ requests, limits: requests },
    ...(claim !== undefined && { claims: [{ name: claim }] }),
  };
  const image = 'registry.k8s.io/pause:3.10';
  return objectRequest('POST', podsPathOf(namespace), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(isWatched && { finalizers: ['taintmgr.dev/verify'] }) },
    spec: {
      ...(nodeName === undefined ? { schedulerName: 'taintmgr.dev/nobody' } : { nodeName }),
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: graceSeconds,
      containers: [{ name: 'pause', image, securityContext, resources }],
      ...(claim !== undefined && { resourceClaims: [{ name: claim, resourceClaimName: claim }] }),
      ...(tolerations.length > 0 && { tolerations }),
    },
  });
}

export function deleteRequest(path: string, options: object = {}): ApiRequest {
  return objectRequest('DELETE', path, { apiVersion: 'v1', kind: 'DeleteOptions', ...options });
}

/** A new namespace has its service account within this time. */
const accountMsMax: Millis = 5_000;

/** A new namespace has no service account for a moment, and without one there are no pods. */
export async function makePod(client: ApiClient, pod: ScratchPod): Promise<unknown> {
  const end = performance.now() + accountMsMax;
  for (;;) {
    try {
      return await client.send(scratchPodRequest(pod));
    } catch (error) {
      const isEarly = error instanceof ApiError && /service ?account/i.test(error.message);
      if (!isEarly || performance.now() >= end) throw error;
      await setTimeout(100);
    }
  }
}

/** Something that was made and is still there. */
export interface Leftover {
  readonly why: string;
  /** The command that removes it. */
  readonly command: string;
}

/** Throws UsageError where we must not take away what we would make. */
export async function refuseWithout(client: ApiClient, rights: readonly Right[]): Promise<void> {
  const answers = await Promise.all(rights.map((right) => isAllowed(client, right)));
  const missing = rights.filter((_, index) => answers[index] === false).map(describeRight);
  if (missing.length === 0) return;
  throw new UsageError(
    `no permission to ${missing.join(', ')}: needed to make objects and to delete them again; nothing was changed`,
  );
}

/** Returns the objects that could not be removed; an object that does not exist is no fault. */
export async function takeAway(
  action: Promise<unknown>,
  command: string,
): Promise<readonly Leftover[]> {
  try {
    await action;
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
    const isGone = error instanceof ApiError && error.failure.status === 404;
    return isGone ? [] : [{ why: error.message, command }];
  }
}
