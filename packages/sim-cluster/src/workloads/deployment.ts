// Keeps one ReplicaSet per pod template of a Deployment.
import type { ControllerContext } from '../controllers/controller.ts';
import { scaledCount } from '../controllers/int-or-percent.ts';
import { type Condition, conditionOf, withCondition } from '../controllers/pods.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import { isSameTemplate, type Template } from './template.ts';
import {
  ownerReference,
  setStatus,
  templateHash,
  type WorkloadContext,
  type WorkloadKind,
} from './workload.ts';

// The annotations by which `kubectl rollout history`, `undo` and `status --revision` go for Deployments.

/** kubectl's own note on what it applies. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const prefix = 'deployment.kubernetes.io/';
const revisionKey = `${prefix}revision`;
/** The revisions that a ReplicaSet had before, where its template came back: `1,4`. */
const pastKey = `${prefix}revision-history`;

type Annotations = Readonly<Record<string, string>>;

/** The revision of a ReplicaSet; 0: it has none. */
function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[revisionKey] ?? 0);
}

const nextAfter = (sets: readonly KubeObject[]): number => Math.max(0, ...sets.map(revisionOf)) + 1;

/** The annotations of a new ReplicaSet, whose revision comes after all others. */
function firstAnnotations(
  { keepsHistory }: WorkloadContext,
  deployment: KubeObject,
  others: readonly KubeObject[],
): Annotations {
  const copied = keepsHistory ? copiedAnnotations(deployment) : {};
  return { ...copied, [revisionKey]: String(nextAfter(others)) };
}

/** The ReplicaSet of the template, written with a revision that comes after all others. */
function noteRevision(
  context: WorkloadContext,
  deployment: KubeObject,
  found: KubeObject,
  others: readonly KubeObject[],
): KubeObject {
  const [before, next] = [revisionOf(found), nextAfter(others)];
  const kept: Annotations = found.metadata.annotations ?? {};
  const revision = { [revisionKey]: String(Math.max(before, next)) };
  if (!context.keepsHistory) {
    const isNoted = next === 1 || before >= next;
    return isNoted ? found : annotate(context, 'replicasets', found, { ...kept, ...revision });
  }
  const past = kept[pastKey] ? `${kept[pastKey]},${before}` : String(before);
  return annotate(context, 'replicasets', found, {
    ...kept,
    ...copiedAnnotations(deployment),
    ...revision,
    ...(before > 0 && before < next ? { [pastKey]: past } : {}),
  });
}

/** The Deployment, written with the revision of its ReplicaSet in a cluster where somebody may read it. */
function withRevisionOf(
  context: WorkloadContext,
  deployment: KubeObject,
  current: KubeObject,
): KubeObject {
  if (!context.keepsHistory) return deployment;
  const { annotations } = deployment.metadata;
  const revision = { [revisionKey]: String(revisionOf(current)) };
  return annotate(context, 'deployments', deployment, { ...annotations, ...revision });
}

/** What a ReplicaSet takes over from its Deployment, its change cause above all. */
function copiedAnnotations({ metadata }: KubeObject): Annotations {
  const given: Annotations = metadata.annotations ?? {};
  const isOwn = (key: string): boolean => key.startsWith(prefix) || key === lastApplied;
  return Object.fromEntries(Object.entries(given).filter(([key]) => !isOwn(key)));
}

function annotate(
  { api }: WorkloadContext,
  resource: string,
  object: KubeObject,
  annotations: Annotations,
): KubeObject {
  if (equal(object.metadata.annotations ?? {}, annotations)) return object;
  return api.update(resource, { ...object, metadata: { ...object.metadata, annotations } });
}

const templateHashLabel = 'pod-template-hash';

/**
 * Keeps one ReplicaSet per pod template of a Deployment. A new template gets all replicas at once,
 * and the old ReplicaSets give up one pod for each new pod that is ready, whatever the strategy
 * says. While it is paused, only its scale is followed: by its one ReplicaSet that has pods, and not at
 * all where a rollout was under way.
 */
export const deploymentKind: WorkloadKind = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  resource: 'deployments',
  creates: 'replicasets',
  sync: syncDeployment,
};

function syncDeployment(context: WorkloadContext, deployment: KubeObject): void {
  const replicas: number = deployment.spec.replicas ?? 1;
  // By the template, not by its hash: another cluster's ReplicaSets are named by another one.
  const isCurrent = (set: KubeObject): boolean => hasTemplate(set, deployment.spec.template);
  const sets = context.lookup.ownedBy(deployment, 'replicasets');
  const found = sets.find(isCurrent);
  if (deployment.spec.paused) {
    syncPaused(context, deployment, sets, found);
    return;
  }
  const others = sets.filter((set) => set !== found);
  const current = found
    ? noteRevision(context, deployment, found, others)
    : context.api.create('replicasets', replicaSet(context, deployment, others));
  scale(context, current, replicas);
  const spare = Math.max(0, replicas - (current.status?.readyReplicas ?? 0));
  for (const set of others) scale(context, set, Math.min(set.spec.replicas ?? 1, spare));
  reportStatus(context, withRevisionOf(context, deployment, current), current);
}

function syncPaused(
  context: WorkloadContext,
  deployment: KubeObject,
  sets: readonly KubeObject[],
  found: KubeObject | undefined,
): void {
  const others = sets.filter((set) => set !== found);
  const isNoted = found && context.keepsHistory;
  const current = isNoted ? noteRevision(context, deployment, found, others) : found;
  const all = sets.map((set) => (set === found ? (current ?? set) : set));
  scalePaused(context, all, deployment.spec.replicas ?? 1);
  reportStatus(
    context,
    current ? withRevisionOf(context, deployment, current) : deployment,
    current,
  );
}

/** As the real one, which scales the latest where none has pods. */
function scalePaused(
  context: ControllerContext,
  sets: readonly KubeObject[],
  replicas: number,
): void {
  const withPods = sets.filter(({ spec }) => (spec.replicas ?? 1) > 0);
  const [latest] = [...sets].sort((a, b) => revisionOf(b) - revisionOf(a));
  const [one] = withPods.length === 0 && latest ? [latest] : withPods;
  if (one && withPods.length < 2) scale(context, one, replicas);
}

/** What was found out of templates of ReplicaSets, which are compared at each change of a pod. */
const compared = new WeakMap<object, { readonly template: object; readonly isSame: boolean }>();

/** Whether a ReplicaSet is of this template of its Deployment. */
function hasTemplate(set: KubeObject, template: Template): boolean {
  const own: Template = set.spec.template;
  const known = compared.get(own);
  if (known?.template === template) return known.isSame;
  const isSame = isSameTemplate(templateOf(set), template);
  if (Object.isFrozen(own) && Object.isFrozen(template)) compared.set(own, { template, isSame });
  return isSame;
}

/** The template of a ReplicaSet as the Deployment has it. */
function templateOf({ spec }: KubeObject): Template {
  const { [templateHashLabel]: _hash, ...labels } = spec.template.metadata?.labels ?? {};
  return { ...spec.template, metadata: { ...spec.template.metadata, labels } };
}

/** One that was released keeps its name, so the next one is named by a hash of its own. */
function freeHash(api: ControllerContext['api'], { metadata, spec }: KubeObject): string {
  const { name, namespace = '' } = metadata;
  let hash = templateHash(spec.template);
  for (let collisions = 1; api.get('replicasets', namespace, `${name}-${hash}`); collisions++) {
    hash = templateHash({ ...spec.template, collisions });
  }
  return hash;
}

function replicaSet(
  context: WorkloadContext,
  deployment: KubeObject,
  others: readonly KubeObject[],
): KubeObject {
  const { template, selector, replicas } = deployment.spec;
  const templateName = freeHash(context.api, deployment);
  const hashLabel = { [templateHashLabel]: templateName };
  const labels = { ...template.metadata?.labels, ...hashLabel };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${deployment.metadata.name}-${templateName}`,
      namespace: deployment.metadata.namespace ?? '',
      labels,
      annotations: firstAnnotations(context, deployment, others),
      ownerReferences: [ownerReference(deploymentKind, deployment)],
    },
    spec: {
      replicas: replicas ?? 1,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...hashLabel } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function scale({ api }: ControllerContext, set: KubeObject, replicas: number): void {
  if (set.spec.replicas === replicas) return;
  api.update('replicasets', { ...set, spec: { ...set.spec, replicas } });
}

function reportStatus(
  context: ControllerContext,
  deployment: KubeObject,
  current: KubeObject | undefined,
): void {
  const sets = context.lookup.ownedBy(deployment, 'replicasets');
  const sum = (field: string): number =>
    sets.reduce((total, set) => total + (set.status?.[field] ?? 0), 0);
  const desired: number = deployment.spec.replicas ?? 1;
  const available = sum('availableReplicas');
  const updated: number = current?.status?.replicas ?? 0;
  const isComplete = updated === desired && available >= desired && sum('replicas') === updated;
  const now = formatTime(context.api.clock.now());
  const shortfall = shortfallMax(deployment, desired);
  const withAvailable = withCondition(
    deployment.status?.conditions,
    availability(available >= desired - shortfall),
    now,
  );
  setStatus(context.api, deploymentKind, deployment, {
    observedGeneration: deployment.metadata.generation,
    replicas: sum('replicas'),
    updatedReplicas: updated,
    readyReplicas: sum('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, desired - available),
    conditions: withCondition(withAvailable, progress(deployment, current, isComplete), now),
  });
}

/** So many pods may be down while it still counts as available. */
function shortfallMax({ spec }: KubeObject, desired: number): number {
  const { type, rollingUpdate } = spec.strategy ?? {};
  if (type === 'Recreate') return 0;
  const { maxSurge = '25%', maxUnavailable = '25%' } = rollingUpdate ?? {};
  const shortfall = scaledCount(maxUnavailable, desired, Math.floor);
  const surplus = scaledCount(maxSurge, desired, Math.ceil);
  // Else a rollout could neither begin with a pod more nor with one less.
  return shortfall === 0 && surplus === 0 ? 1 : shortfall;
}

function availability(isAvailable: boolean): Condition {
  return isAvailable
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
}

const pausedProgress: Condition = {
  type: 'Progressing',
  status: 'Unknown',
  reason: 'DeploymentPaused',
  message: 'Deployment is paused',
};

/** A rollout that was complete once stays so, whatever happens to its pods. */
function progress(
  deployment: KubeObject,
  current: KubeObject | undefined,
  isComplete: boolean,
): Condition {
  if (deployment.spec.paused || !current) return pausedProgress;
  const name = `ReplicaSet "${current.metadata.name}"`;
  const complete: Condition = {
    type: 'Progressing',
    status: 'True',
    reason: 'NewReplicaSetAvailable',
    message: `${name} has successfully progressed.`,
  };
  if (isComplete || conditionOf(deployment, 'Progressing')?.message === complete.message) {
    return complete;
  }
  return {
    type: 'Progressing',
    status: 'True',
    reason: 'ReplicaSetUpdated',
    message: `${name} is progressing.`,
  };
}
