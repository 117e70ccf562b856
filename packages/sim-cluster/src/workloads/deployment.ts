// Keeps one ReplicaSet per pod template of a Deployment.
import type { ControllerContext } from '../controllers/controller.ts';
import {
  type Condition,
  conditionOf,
  isTerminal,
  isTerminating,
  withCondition,
} from '../controllers/pods.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import {
  byAge,
  isScaled,
  isSizeStale,
  type Look,
  newReplicas,
  oldSizes,
  proportionalSizes,
  replicasIn,
  sizeNotes,
  totalOf,
  unavailableMax,
} from './rollout-sizes.ts';
import { isSameTemplate, type Template } from './template.ts';
import {
  ownerReference,
  setStatus,
  templateHash,
  type WorkloadContext,
  type WorkloadKind,
} from './workload.ts';

// The annotations by which `kubectl rollout history`, `undo` and `status --revision` go for Deployments.

/** kubectl's record of its last applied configuration. */
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

/**
 * Returns the Deployment, written with the revision of its ReplicaSet in a cluster that keeps the
 * rollout history.
 */
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

/** The annotations that a ReplicaSet copies from its Deployment, its change cause above all. */
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

/** The pause after a step before the next one. */
const patienceMs = 8;

/**
 * Keeps one ReplicaSet per pod template of a Deployment, by its strategy: a rolling update takes a
 * step each time pods have become available or are gone, Recreate makes new pods when no old one
 * runs any more. One look takes one step; the changes that follow lead to the next look. While it
 * is paused, and when its scale has changed in the middle of a rollout, its ReplicaSets are scaled
 * in proportion.
 */
export const deploymentKind: WorkloadKind = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  resource: 'deployments',
  creates: 'replicasets',
  patienceMs,
  sync: syncDeployment,
};

function syncDeployment(context: WorkloadContext, deployment: KubeObject): void {
  const { spec } = deployment;
  const sets = context.lookup.ownedBy(deployment, 'replicasets');
  // By the template, not by its hash: another cluster's ReplicaSets are named by another one.
  const isCurrent = (set: KubeObject): boolean => hasTemplate(set, spec.template);
  const found = [...sets].sort(byAge).find(isCurrent) ?? null;
  const old = sets.filter((set) => set !== found);
  const look: Look = { deployment, current: found, old };
  if (isTerminating(deployment)) reportStatus(context, look);
  else if (spec.paused || isScaled(look)) scaleAll(context, noted(context, look));
  else if (spec.strategy?.type === 'Recreate') recreate(context, look);
  else roll(context, look);
}

/** A look at a Deployment whose template has its ReplicaSet. */
interface RunningLook extends Look {
  readonly current: KubeObject;
}

/** The ReplicaSet of the template has its revision, and is made where it is missing. */
function begun(context: WorkloadContext, look: Look): RunningLook {
  const { deployment, current, old } = look;
  if (current) return { ...look, current: noteRevision(context, deployment, current, old) };
  const replicas = newReplicas({ ...look, current: null });
  const created = context.api.create('replicasets', {
    ...replicaSet(context, deployment, old, replicas),
  });
  return { ...look, current: created };
}

/** The same where one that is missing is not made. */
function noted(context: WorkloadContext, look: Look): Look {
  const isNoted = look.current && (context.keepsHistory || !look.deployment.spec.paused);
  return isNoted ? begun(context, look) : look;
}

function roll(context: WorkloadContext, look: Look): void {
  const running = begun(context, look);
  const { current, old, deployment } = running;
  const wanted = newReplicas(running);
  if (wanted !== replicasIn(current)) {
    const scaled = scale(context, deployment, current, wanted);
    reportStatus(context, { ...running, current: scaled });
    return;
  }
  const sizes = oldSizes(running);
  const next = old.map((set) => scale(context, deployment, set, sizes.get(set) ?? replicasIn(set)));
  finishStep(context, { ...running, old: next }, sizes.size === 0);
}

/** New pods are made when no old one is left that has not ended. */
function recreate(context: WorkloadContext, look: Look): void {
  const { deployment, old } = look;
  const running = old.filter((set) => replicasIn(set) > 0);
  if (running.length > 0) {
    const next = old.map((set) => scale(context, deployment, set, 0));
    reportStatus(context, { ...noted(context, look), old: next });
    return;
  }
  const isLeft = (set: KubeObject): boolean =>
    (set.status?.replicas ?? 0) > 0 ||
    context.lookup.ownedBy(set, 'pods').some((pod) => !isTerminal(pod));
  if (old.some(isLeft)) {
    reportStatus(context, noted(context, look));
    return;
  }
  const { current, ...rest } = begun(context, look);
  const scaled = scale(context, deployment, current, deployment.spec.replicas ?? 1);
  finishStep(context, { ...rest, current: scaled }, true);
}

function finishStep(context: WorkloadContext, look: RunningLook, isQuiet: boolean): void {
  if (isQuiet && isComplete(look)) forgetOld(context, look);
  reportStatus(context, look);
}

/**
 * Deletes ReplicaSets without pods except for the latest ones, as many as revisionHistoryLimit
 * says.
 */
function forgetOld({ api }: WorkloadContext, { deployment, old }: Look): void {
  const limit: number = deployment.spec.revisionHistoryLimit ?? 10;
  const left = old.filter(
    (set) => replicasIn(set) === 0 && !(set.status?.replicas > 0) && !isTerminating(set),
  );
  const oldest = [...left].sort((one, other) => revisionOf(one) - revisionOf(other));
  for (const { metadata } of oldest.slice(0, Math.max(0, left.length - limit))) {
    const { namespace = '', name, uid = '' } = metadata;
    api.delete('replicasets', namespace, name, { uid });
  }
}

function scaleAll(context: WorkloadContext, look: Look): void {
  const { deployment, current, old } = look;
  const sizes = proportionalSizes(look);
  const sized = (set: KubeObject): KubeObject =>
    scale(context, deployment, set, sizes.get(set) ?? replicasIn(set));
  reportStatus(context, {
    ...look,
    current: current && sized(current),
    old: old.map(sized),
  });
}

/**
 * The results of comparing templates of ReplicaSets, which are compared at each change of a pod.
 */
const compared = new WeakMap<object, { readonly template: object; readonly isSame: boolean }>();

/** True if a ReplicaSet has this template of its Deployment. */
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

/** A released ReplicaSet keeps its name, so the next one is named by another hash. */
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
  replicas: number,
): KubeObject {
  const { template, selector, minReadySeconds } = deployment.spec;
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
      annotations: { ...firstAnnotations(context, deployment, others), ...sizeNotes(deployment) },
      ownerReferences: [ownerReference(deploymentKind, deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...hashLabel } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function scale(
  { api }: ControllerContext,
  deployment: KubeObject,
  set: KubeObject,
  replicas: number,
): KubeObject {
  const { minReadySeconds } = deployment.spec;
  const isSame =
    replicasIn(set) === replicas && (set.spec.minReadySeconds ?? 0) === (minReadySeconds ?? 0);
  if (isSame && (replicas === 0 || !isSizeStale(deployment, set))) return set;
  const annotations = { ...set.metadata.annotations, ...sizeNotes(deployment) };
  return api.update('replicasets', {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...set.spec, replicas, ...(minReadySeconds && { minReadySeconds }) },
  });
}

function reportStatus(context: WorkloadContext, look: Look): void {
  const { current, old } = look;
  const deployment = current ? withRevisionOf(context, look.deployment, current) : look.deployment;
  const sets = current ? [...old, current] : old;
  const sum = (field: string): number =>
    sets.reduce((total, set) => total + (set.status?.[field] ?? 0), 0);
  const desired: number = deployment.spec.replicas ?? 1;
  const available = sum('availableReplicas');
  const now = formatTime(context.api.clock.now());
  const isAvailable = available >= desired - unavailableMax(deployment);
  const withAvailable = withCondition(
    deployment.status?.conditions,
    availability(isAvailable),
    now,
  );
  setStatus(context.api, deploymentKind, deployment, {
    observedGeneration: deployment.metadata.generation,
    replicas: sum('replicas'),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalOf(sets) - available),
    terminatingReplicas: sum('terminatingReplicas'),
    conditions: withCondition(withAvailable, progress(look), now),
  });
}

/** True if all pods have its template and are available. */
function isComplete({ deployment, current, old }: Look): boolean {
  const desired: number = deployment.spec.replicas ?? 1;
  const { replicas = 0, availableReplicas = 0 } = current?.status ?? {};
  const others = old.reduce((total, set) => total + (set.status?.replicas ?? 0), 0);
  return replicas === desired && availableReplicas >= desired && others === 0;
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
function progress(look: Look): Condition {
  const { deployment, current } = look;
  if (deployment.spec.paused) return pausedProgress;
  const name = `ReplicaSet "${current?.metadata.name ?? ''}"`;
  const complete: Condition = {
    type: 'Progressing',
    status: 'True',
    reason: 'NewReplicaSetAvailable',
    message: `${name} has successfully progressed.`,
  };
  const before = conditionOf(deployment, 'Progressing');
  if (isComplete(look) || before?.message === complete.message) return complete;
  if (!current) {
    const { metadata } = deployment;
    const message = `Deployment "${metadata.name}" is progressing.`;
    return { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message };
  }
  return {
    type: 'Progressing',
    status: 'True',
    reason: 'ReplicaSetUpdated',
    message: `${name} is progressing.`,
  };
}
