// Restarts the rollout of a Deployment of one pod, so that it starts another one before it stops this one.
import type { Command } from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { type Answer, failureOf, succeeded } from '../../proto/answer.ts';
import { type ApiRequest, getRequest, patchRequest, withQuery } from '../../proto/api-request.ts';
import { isMissing } from '../../proto/denial.ts';
import {
  asInteger,
  asList,
  asRecord,
  asText,
  type JsonRecord,
  parseJson,
} from '../../proto/json.ts';
import {
  changed,
  failedBy,
  failedUnasked,
  finish,
  type StateStep,
  send,
  stepsFrom,
  type Task,
} from '../task.ts';
import type { DrainWriteNotice } from './drain-write.ts';

type RestartRollout = Extract<Command, { kind: 'restartRollout' }>;

/** What of the ReplicaSet counts further on. */
interface FoundSet {
  readonly deployment: string;
  readonly deploymentUid: string;
  readonly revision: string;
}

type State =
  | { readonly kind: 'readingSet' }
  | { readonly kind: 'readingDeployment'; readonly set: FoundSet; readonly conflicts: number }
  | { readonly kind: 'patching'; readonly set: FoundSet; readonly conflicts: number };

/** As kubectl rollout restart writes it. */
const restartedAt = 'kubectl.kubernetes.io/restartedAt';
const revisionAnnotation = 'deployment.kubernetes.io/revision';
const fieldManager = 'taintmgr-controller';
const conflictsMax = 5;

/**
 * Reads the ReplicaSet, then its Deployment, and patches that as it was read. What is under way already
 * is left to it.
 */
export function rolloutRestarting(command: RestartRollout): Task<DrainWriteNotice> {
  const { pod, owner } = command;
  const path = (plural: string, name: string): string =>
    `/apis/apps/v1/namespaces/${encodeURIComponent(pod.namespace)}/${plural}/${encodeURIComponent(name)}`;
  const readDeployment = (set: FoundSet, conflicts: number): StateStep<State> =>
    send<State>(
      { kind: 'readingDeployment', set, conflicts },
      getRequest(path('deployments', set.deployment)),
    );
  const resume = (state: State, answer: Answer, wall: Instant): StateStep<State> => {
    if (!succeeded(answer)) {
      const failure = failureOf(answer);
      if (isMissing(failure)) return finish({ kind: 'gone' });
      const isBehind = failure.status === 409 && state.kind === 'patching';
      if (isBehind && state.conflicts < conflictsMax)
        return readDeployment(state.set, state.conflicts + 1);
      return finish(failedBy(failure));
    }
    if (state.kind === 'patching') return finish({ kind: 'done' });
    const object = asRecord(parseJson(answer.body));
    if (state.kind === 'readingSet') {
      const set = foundSet(object);
      if (!set) return finish(changed(`ReplicaSet ${owner.name} is of no Deployment`));
      return readDeployment(set, 0);
    }
    const { set, conflicts } = state;
    if (asRecord(object.metadata).uid !== set.deploymentUid) return finish({ kind: 'gone' });
    if (isUnderWay(object, set)) return finish({ kind: 'done' });
    const unfit = unfitness(asRecord(object.spec));
    if (unfit !== null) return finish(changed(`Deployment ${set.deployment} ${unfit}`));
    const request = restart(path('deployments', set.deployment), object, wall);
    return send<State>({ kind: 'patching', set, conflicts }, request);
  };
  return {
    ...{ kind: 'task', id: command.id, deposed: failedUnasked, outlastsStop: false },
    first: stepsFrom(
      send<State>({ kind: 'readingSet' }, getRequest(path('replicasets', owner.name))),
      resume,
    ),
    ended: (outcome, took) => ({ kind: 'drainWriteFinished', command, outcome, took, written: {} }),
  };
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
 * Whether the Deployment is on its way to other pods than those of the ReplicaSet, as far as they name
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

/** Whether the only pod of a ReplicaSet goes by a restart of its Deployment's rollout, or by one under way. */
export function restartsBeforeItGoes(set: unknown, deployment: unknown): boolean {
  const [found, object] = [foundSet(asRecord(set)), asRecord(deployment)];
  if (!found || asRecord(object.metadata).uid !== found.deploymentUid) return false;
  const isOnly = asInteger(asRecord(asRecord(set).status).replicas) === 1;
  return isOnly && (isUnderWay(object, found) || unfitness(asRecord(object.spec)) === null);
}

/** Why a restart would not start another pod first; null: it would. */
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

function restart(path: string, { metadata }: JsonRecord, wall: Instant): ApiRequest {
  const { resourceVersion } = asRecord(metadata);
  const annotations = { [restartedAt]: formatTime(wall) };
  return patchRequest('strategicMerge', withQuery(path, { fieldManager }), {
    metadata: { resourceVersion },
    spec: { template: { metadata: { annotations } } },
  });
}
