// The requests of takeover: labels of namespaces, marks of pods.
import { formatTime, type Instant } from '@taintmgr/core/time';
import { type ApiRequest, takeoverLabel, takeoverManager } from '@taintmgr/k8s-adapter';
import { namespacePath, type PodName, podPathOf } from '../../cluster/scratch.ts';

/** How a write goes out. */
export interface WriteOptions {
  /** The API server judges, and changes nothing. */
  readonly dryRun?: boolean;
  /** As whom; left out: as ourselves. */
  readonly as?: string;
}

/** The labels of a namespace that is taken over. */
export const optedIn = { [takeoverLabel.key]: takeoverLabel.value };

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
