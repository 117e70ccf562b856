// The shapes of workloads.
import { condition, labelSelector, topLevel } from './metadata.ts';
import { podTemplate } from './pod.ts';
import { always, atomic, list, listBy, map, type Struct, set, struct } from './types.ts';

const conditions = listBy('type', condition);

/** apps/v1 Deployment. */
export const deployment: Struct = topLevel('Deployment', {
  spec: always(
    struct('DeploymentSpec', {
      replicas: 'int32*',
      selector: labelSelector,
      template: always(podTemplate),
      strategy: always(struct('DeploymentStrategy', { type: 'string', rollingUpdate: 'any' })),
      minReadySeconds: 'int32',
      revisionHistoryLimit: 'int32*',
      paused: 'bool',
      progressDeadlineSeconds: 'int32*',
    }),
  ),
  status: always(
    struct('DeploymentStatus', {
      observedGeneration: 'int64',
      replicas: 'int32',
      updatedReplicas: 'int32',
      readyReplicas: 'int32',
      availableReplicas: 'int32',
      unavailableReplicas: 'int32',
      terminatingReplicas: 'int32*',
      conditions,
      collisionCount: 'int32*',
    }),
  ),
});

const replicaSetSpec = struct('ReplicaSetSpec', {
  replicas: 'int32*',
  minReadySeconds: 'int32',
  selector: labelSelector,
  template: always(podTemplate),
});

const replicaSetStatus = struct('ReplicaSetStatus', {
  replicas: 'int32!',
  fullyLabeledReplicas: 'int32',
  readyReplicas: 'int32',
  availableReplicas: 'int32',
  terminatingReplicas: 'int32*',
  observedGeneration: 'int64',
  conditions,
});

/** apps/v1 ReplicaSet. */
export const replicaSet: Struct = topLevel('ReplicaSet', {
  spec: always(replicaSetSpec),
  status: always(replicaSetStatus),
});

/** v1 ReplicationController: a ReplicaSet whose selector is a plain map. */
export const replicationController: Struct = topLevel('ReplicationController', {
  spec: always(
    struct('ReplicationControllerSpec', {
      ...replicaSetSpec.fields,
      selector: atomic(map('string')),
    }),
  ),
  status: always(replicaSetStatus),
});

/** apps/v1 StatefulSet. */
export const statefulSet: Struct = topLevel('StatefulSet', {
  spec: always(
    struct('StatefulSetSpec', {
      replicas: 'int32*',
      selector: labelSelector,
      template: always(podTemplate),
      volumeClaimTemplates: list('any'),
      serviceName: 'string!',
      podManagementPolicy: 'string',
      updateStrategy: always(
        struct('StatefulSetUpdateStrategy', { type: 'string', rollingUpdate: 'any' }),
      ),
      revisionHistoryLimit: 'int32*',
      minReadySeconds: 'int32',
      persistentVolumeClaimRetentionPolicy: 'any',
      ordinals: 'any',
    }),
  ),
  status: always(
    struct('StatefulSetStatus', {
      observedGeneration: 'int64',
      replicas: 'int32!',
      readyReplicas: 'int32',
      currentReplicas: 'int32',
      updatedReplicas: 'int32',
      currentRevision: 'string',
      updateRevision: 'string',
      collisionCount: 'int32*',
      conditions,
      availableReplicas: 'int32!',
    }),
  ),
});

/** apps/v1 DaemonSet. */
export const daemonSet: Struct = topLevel('DaemonSet', {
  spec: always(
    struct('DaemonSetSpec', {
      selector: labelSelector,
      template: always(podTemplate),
      updateStrategy: always(
        struct('DaemonSetUpdateStrategy', { type: 'string', rollingUpdate: 'any' }),
      ),
      minReadySeconds: 'int32',
      revisionHistoryLimit: 'int32*',
    }),
  ),
  status: always(
    struct('DaemonSetStatus', {
      currentNumberScheduled: 'int32!',
      numberMisscheduled: 'int32!',
      desiredNumberScheduled: 'int32!',
      numberReady: 'int32!',
      observedGeneration: 'int64',
      updatedNumberScheduled: 'int32',
      numberAvailable: 'int32',
      numberUnavailable: 'int32',
      collisionCount: 'int32*',
      conditions,
    }),
  ),
});

const failureRule = struct('PodFailurePolicyRule', {
  action: 'string!',
  onExitCodes: struct('PodFailurePolicyOnExitCodesRequirement', {
    containerName: 'string*',
    operator: 'string!',
    values: always(set('int32')),
  }),
  onPodConditions: list(
    struct('PodFailurePolicyOnPodConditionsPattern', { type: 'string!', status: 'string!' }),
  ),
});

const successRule = struct('SuccessPolicyRule', {
  succeededIndexes: 'string*',
  succeededCount: 'int32*',
});

/** batch/v1 Job. */
export const job: Struct = topLevel('Job', {
  spec: always(
    struct('JobSpec', {
      parallelism: 'int32*',
      completions: 'int32*',
      activeDeadlineSeconds: 'int64*',
      podFailurePolicy: struct('PodFailurePolicy', { rules: always(list(failureRule)) }),
      successPolicy: struct('SuccessPolicy', { rules: list(successRule) }),
      backoffLimit: 'int32*',
      backoffLimitPerIndex: 'int32*',
      maxFailedIndexes: 'int32*',
      selector: labelSelector,
      manualSelector: 'bool*',
      template: always(podTemplate),
      ttlSecondsAfterFinished: 'int32*',
      completionMode: 'string*',
      suspend: 'bool*',
      podReplacementPolicy: 'string*',
      managedBy: 'string*',
    }),
  ),
  status: always(
    struct('JobStatus', {
      conditions: listBy('type', 'any'),
      startTime: 'time',
      completionTime: 'time',
      active: 'int32',
      succeeded: 'int32',
      failed: 'int32',
      terminating: 'int32*',
      completedIndexes: 'string',
      failedIndexes: 'string*',
      uncountedTerminatedPods: 'any',
      ready: 'int32*',
    }),
  ),
});

/** policy/v1 PodDisruptionBudget. */
export const podDisruptionBudget: Struct = topLevel('PodDisruptionBudget', {
  spec: always(
    struct('PodDisruptionBudgetSpec', {
      minAvailable: 'intOrString',
      selector: { ...labelSelector, isReplaced: true },
      maxUnavailable: 'intOrString',
      unhealthyPodEvictionPolicy: 'string*',
    }),
  ),
  status: always(
    struct('PodDisruptionBudgetStatus', {
      observedGeneration: 'int64',
      disruptedPods: map('time'),
      disruptionsAllowed: 'int32!',
      currentHealthy: 'int32!',
      desiredHealthy: 'int32!',
      expectedPods: 'int32!',
      conditions: listBy(
        'type',
        struct('Condition', {
          type: 'string!',
          status: 'string!',
          observedGeneration: 'int64',
          lastTransitionTime: 'time!',
          reason: 'string!',
          message: 'string!',
        }),
      ),
    }),
  ),
});

/** apps/v1 ControllerRevision: what a StatefulSet or DaemonSet was before. */
export const controllerRevision: Struct = topLevel('ControllerRevision', {
  data: 'any',
  revision: 'int64!',
});
