// Restarts the rollout of a Deployment of one pod, so that it starts another one before it stops this one.
import type { Command } from '@taintmgr/core';
import { formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import { answerValue, succeeded } from '../../proto/answer.ts';
import { asInteger, asList, asRecord, asText, type JsonRecord } from '../../proto/json.ts';
import { type ApiRequest, getRequest, patchRequest, withQuery } from '../../proto/requests.ts';
import {
  call,
  changed,
  done,
  gone,
  readModifyWrite,
  refusal,
  type Steps,
  type Task,
} from '../task.ts';
import { type DrainWriteNotice, drainWriteTask } from './drain-write.ts';

type RestartRollout = Extract<Command, { kind: 'restartRollout' }>;

/** The parts of the ReplicaSet that count further on. */
interface FoundSet {
  readonly deployment: string;
  readonly deploymentUid: string;
  readonly revision: string;
}

/** As kubectl rollout restart writes it. */
const restartedAt = 'kubectl.kubernetes.io/restartedAt';
const revisionAnnotation = 'deployment.kubernetes.io/revision';
const fieldManager = 'taintmgr-controller';
const conflictsMax = 5;

/**
 * Reads the ReplicaSet, then its Deployment, and patches that as it was read. A rollout under way
 * is left alone.
 */
export function rolloutRestarting(command: RestartRollout): Task<DrainWriteNotice> {
  return drainWriteTask(command, restart(command));
}

function* restart({ pod, owner }: RestartRollout): Steps {
  const path = (plural: string, name: string): string =>
    `/apis/apps/v1/namespaces/${encodeURIComponent(pod.namespace)}/${plural}/${encodeURIComponent(name)}`;
  const { answer } = yield* call(getRequest(path('replicasets', owner.name)));
  if (!succeeded(answer)) return refusal(answer);
  const set = foundSet(asRecord(answerValue(answer)));
  if (!set) return changed(`ReplicaSet ${owner.name} is of no Deployment`);
  const target = path('deployments', set.deployment);
  return yield* readModifyWrite(
    () => getRequest(target),
    (found, wall) => {
      const object = asRecord(answerValue(found));
      if (asRecord(object.metadata).uid !== set.deploymentUid) return gone;
      if (isUnderWay(object, set)) return done;
      const unfit = unfitness(asRecord(object.spec));
      if (unfit !== null) return changed(`Deployment ${set.deployment} ${unfit}`);
      return restartRequest(target, object, wall);
    },
    conflictsMax,
  );
}

function foundSet({ metadata }: JsonRecord): FoundSet | null {
  const { ownerReferences, annotations } = asRecord(metadata);
  const owner = asList(ownerReferences)
    .map(asRecord)
    .find(({ controller }) => controller === true);
  if (owner?.kind !== 'Deployment' || !asText(owner.apiVersion).startsWith('apps/')) return null;
  const revision = asText(asRecord(annotations)[revisionAnnotation]);
  return { deployment: asText(owner.name), deploymentUid: asText(owner.uid), revision };
}

/**
 * Tells whether the Deployment is on its way to other pods than those of the ReplicaSet, as far as they name
 * their revisions.
 */
function isUnderWay({ metadata, status }: JsonRecord, { revision }: FoundSet): boolean {
  const { generation, annotations } = asRecord(metadata);
  const observed = asInteger(asRecord(status).observedGeneration) ?? 0;
  const current = asText(asRecord(annotations)[revisionAnnotation]);
  const isOther = current !== '' && revision !== '' && current !== revision;
  return isOther || observed < (asInteger(generation) ?? 0);
}

/** The Deployment of a ReplicaSet; null: it is of none. */
export function deploymentOf(set: unknown): string | null {
  return foundSet(asRecord(set))?.deployment ?? null;
}

/**
 * True if the only pod of a ReplicaSet leaves by a restart of its Deployment's rollout, or by one
 * under way.
 */
export function restartsBeforeItGoes(set: unknown, deployment: unknown): boolean {
  const [found, object] = [foundSet(asRecord(set)), asRecord(deployment)];
  if (!found || asRecord(object.metadata).uid !== found.deploymentUid) return false;
  const isOnly = asInteger(asRecord(asRecord(set).status).replicas) === 1;
  return isOnly && (isUnderWay(object, found) || unfitness(asRecord(object.spec)) === null);
}

/** The reason why a restart would not start another pod first; null: it would. */
function unfitness(spec: JsonRecord): string | null {
  const replicas = asInteger(spec.replicas) ?? 1;
  if (replicas !== 1) return `has ${replicas} replicas`;
  if (spec.paused === true) return 'is paused';
  const { type, rollingUpdate } = asRecord(spec.strategy);
  if (type === 'Recreate') return 'stops its pod before it starts another one (strategy Recreate)';
  const { maxSurge, maxUnavailable } = asRecord(rollingUpdate);
  if (ofOne(maxSurge, Math.ceil) === 0) return 'may start no pod beside its one (maxSurge)';
  const mayStop = ofOne(maxUnavailable, Math.floor) > 0;
  return mayStop ? 'may stop its pod before another one is ready (maxUnavailable)' : null;
}

/** A number, or a part of one pod; where it is left out, a quarter. */
function ofOne(value: unknown, round: (part: number) => number): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(asText(value))?.[1] ?? '25';
  return round(Number(percent) / 100);
}

const secondMs: Millis = 1_000;

/** As kubectl writes it, in whole seconds: a restart within the second of the last one takes the next second. */
function restartRequest(path: string, { metadata, spec }: JsonRecord, wall: Instant): ApiRequest {
  const { resourceVersion } = asRecord(metadata);
  const template = asRecord(asRecord(asRecord(spec).template).metadata);
  const last = asText(asRecord(template.annotations)[restartedAt]);
  const now = formatTime(wall);
  const annotations = { [restartedAt]: last === now ? formatTime(wall + secondMs) : now };
  return patchRequest('strategicMerge', withQuery(path, { fieldManager }), {
    metadata: { resourceVersion },
    spec: { template: { metadata: { annotations } } },
  });
}
