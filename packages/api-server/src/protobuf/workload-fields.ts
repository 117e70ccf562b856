// The protobuf fields of workloads, and of disruption budgets and autoscalers.
import { type Fields, labelSelector, objectMeta, objectReference, pointer } from './fields.ts';
import { podSpec } from './pod-fields.ts';
import { volumeClaim } from './volume-fields.ts';

const metadata: Fields[string] = [1, objectMeta];
const template: Fields = { metadata, spec: [2, podSpec] };

const condition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastTransitionTime: [3, 'time'],
  reason: [4, 'string'],
  message: [5, 'string'],
};

const rolling = pointer({ maxUnavailable: [1, 'intOrString*'], maxSurge: [2, 'intOrString*'] });

const daemonSetSpec: Fields = {
  selector: [1, pointer(labelSelector)],
  template: [2, template],
  updateStrategy: [3, { type: [1, 'string'], rollingUpdate: [2, rolling] }],
  minReadySeconds: [4, 'integer'],
  revisionHistoryLimit: [6, 'integer*'],
};

const daemonSetStatus: Fields = {
  currentNumberScheduled: [1, 'integer'],
  numberMisscheduled: [2, 'integer'],
  desiredNumberScheduled: [3, 'integer'],
  numberReady: [4, 'integer'],
  observedGeneration: [5, 'integer'],
  updatedNumberScheduled: [6, 'integer'],
  numberAvailable: [7, 'integer'],
  numberUnavailable: [8, 'integer'],
  collisionCount: [9, 'integer*'],
  conditions: [10, [condition]],
};

/** apps/v1 DaemonSet. */
export const daemonSet: Fields = {
  metadata,
  spec: [2, daemonSetSpec],
  status: [3, daemonSetStatus],
};

const deploymentSpec: Fields = {
  replicas: [1, 'integer*'],
  selector: [2, pointer(labelSelector)],
  template: [3, template],
  strategy: [4, { type: [1, 'string'], rollingUpdate: [2, rolling] }],
  minReadySeconds: [5, 'integer'],
  revisionHistoryLimit: [6, 'integer*'],
  paused: [7, 'boolean'],
  progressDeadlineSeconds: [9, 'integer*'],
};

const deploymentCondition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  reason: [4, 'string'],
  message: [5, 'string'],
  lastUpdateTime: [6, 'time'],
  lastTransitionTime: [7, 'time'],
};

const deploymentStatus: Fields = {
  observedGeneration: [1, 'integer'],
  replicas: [2, 'integer'],
  updatedReplicas: [3, 'integer'],
  availableReplicas: [4, 'integer'],
  unavailableReplicas: [5, 'integer'],
  conditions: [6, [deploymentCondition]],
  readyReplicas: [7, 'integer'],
  collisionCount: [8, 'integer*'],
  terminatingReplicas: [9, 'integer*'],
};

const replicaSetSpec: Fields = {
  replicas: [1, 'integer*'],
  selector: [2, pointer(labelSelector)],
  template: [3, template],
  minReadySeconds: [4, 'integer'],
};

const replicaSetStatus: Fields = {
  replicas: [1, 'integer'],
  fullyLabeledReplicas: [2, 'integer'],
  observedGeneration: [3, 'integer'],
  readyReplicas: [4, 'integer'],
  availableReplicas: [5, 'integer'],
  conditions: [6, [condition]],
  terminatingReplicas: [7, 'integer*'],
};

const replicationControllerStatus: Fields = {
  replicas: [1, 'integer'],
  fullyLabeledReplicas: [2, 'integer'],
  observedGeneration: [3, 'integer'],
  readyReplicas: [4, 'integer'],
  availableReplicas: [5, 'integer'],
  conditions: [6, [condition]],
};

const partition = pointer({ partition: [1, 'integer*'], maxUnavailable: [2, 'intOrString*'] });

const statefulSetSpec: Fields = {
  replicas: [1, 'integer*'],
  selector: [2, pointer(labelSelector)],
  template: [3, template],
  volumeClaimTemplates: [4, [volumeClaim]],
  serviceName: [5, 'string'],
  podManagementPolicy: [6, 'string'],
  updateStrategy: [7, { type: [1, 'string'], rollingUpdate: [2, partition] }],
  revisionHistoryLimit: [8, 'integer*'],
  minReadySeconds: [9, 'integer'],
  persistentVolumeClaimRetentionPolicy: [
    10,
    pointer({ whenDeleted: [1, 'string'], whenScaled: [2, 'string'] }),
  ],
  ordinals: [11, pointer({ start: [1, 'integer'] })],
};

const statefulSetStatus: Fields = {
  observedGeneration: [1, 'integer'],
  replicas: [2, 'integer'],
  readyReplicas: [3, 'integer'],
  currentReplicas: [4, 'integer'],
  updatedReplicas: [5, 'integer'],
  currentRevision: [6, 'string'],
  updateRevision: [7, 'string'],
  collisionCount: [9, 'integer*'],
  conditions: [10, [condition]],
  availableReplicas: [11, 'integer'],
};

const jobCondition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastProbeTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const exitCodes = pointer({
  containerName: [1, 'string*'],
  operator: [2, 'string'],
  values: [3, 'integers'],
});
const failureRule: Fields = {
  action: [1, 'string'],
  onExitCodes: [2, exitCodes],
  onPodConditions: [3, [{ type: [1, 'string'], status: [2, 'string'] }]],
};
const successRule: Fields = { succeededIndexes: [1, 'string*'], succeededCount: [2, 'integer*'] };

const jobSpec: Fields = {
  parallelism: [1, 'integer*'],
  completions: [2, 'integer*'],
  activeDeadlineSeconds: [3, 'integer*'],
  selector: [4, pointer(labelSelector)],
  manualSelector: [5, 'boolean*'],
  template: [6, template],
  backoffLimit: [7, 'integer*'],
  ttlSecondsAfterFinished: [8, 'integer*'],
  completionMode: [9, 'string*'],
  suspend: [10, 'boolean*'],
  podFailurePolicy: [11, pointer({ rules: [1, [failureRule]] })],
  backoffLimitPerIndex: [12, 'integer*'],
  maxFailedIndexes: [13, 'integer*'],
  podReplacementPolicy: [14, 'string*'],
  managedBy: [15, 'string*'],
  successPolicy: [16, pointer({ rules: [1, [successRule]] })],
};

const jobStatus: Fields = {
  conditions: [1, [jobCondition]],
  startTime: [2, 'time*'],
  completionTime: [3, 'time*'],
  active: [4, 'integer'],
  succeeded: [5, 'integer'],
  failed: [6, 'integer'],
  completedIndexes: [7, 'string'],
  uncountedTerminatedPods: [8, pointer({ succeeded: [1, 'strings'], failed: [2, 'strings'] })],
  ready: [9, 'integer*'],
  failedIndexes: [10, 'string*'],
  terminating: [11, 'integer*'],
};

const cronJobSpec: Fields = {
  schedule: [1, 'string'],
  startingDeadlineSeconds: [2, 'integer*'],
  concurrencyPolicy: [3, 'string'],
  suspend: [4, 'boolean*'],
  jobTemplate: [5, { metadata, spec: [2, jobSpec] }],
  successfulJobsHistoryLimit: [6, 'integer*'],
  failedJobsHistoryLimit: [7, 'integer*'],
  timeZone: [8, 'string*'],
};

const cronJobStatus: Fields = {
  active: [1, [objectReference]],
  lastScheduleTime: [4, 'time*'],
  lastSuccessfulTime: [5, 'time*'],
};

const replicationControllerSpec: Fields = {
  replicas: [1, 'integer*'],
  selector: [2, 'stringMap'],
  template: [3, pointer(template)],
  minReadySeconds: [4, 'integer'],
};

const budgetCondition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  observedGeneration: [3, 'integer'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const budgetSpec: Fields = {
  minAvailable: [1, 'intOrString*'],
  selector: [2, pointer(labelSelector)],
  maxUnavailable: [3, 'intOrString*'],
  unhealthyPodEvictionPolicy: [4, 'string*'],
};

const budgetStatus: Fields = {
  observedGeneration: [1, 'integer'],
  disruptedPods: [2, 'timeMap'],
  disruptionsAllowed: [3, 'integer'],
  currentHealthy: [4, 'integer'],
  desiredHealthy: [5, 'integer'],
  expectedPods: [6, 'integer'],
  conditions: [7, [budgetCondition]],
};

const metricTarget: Fields = {
  type: [1, 'string'],
  value: [2, 'quantity*'],
  averageValue: [3, 'quantity*'],
  averageUtilization: [4, 'integer*'],
};

const metricValue: Fields = {
  value: [1, 'quantity*'],
  averageValue: [2, 'quantity*'],
  averageUtilization: [3, 'integer*'],
};

const scaleTarget: Fields = { kind: [1, 'string'], name: [2, 'string'], apiVersion: [3, 'string'] };
const metricName: Fields = { name: [1, 'string'], selector: [2, pointer(labelSelector)] };

/** A metric with its target or its current value. */
const metric = (name: 'target' | 'current', value: Fields): Fields => ({
  type: [1, 'string'],
  object: [
    2,
    pointer(
      name === 'target'
        ? { describedObject: [1, scaleTarget], target: [2, value], metric: [3, metricName] }
        : { metric: [1, metricName], current: [2, value], describedObject: [3, scaleTarget] },
    ),
  ],
  pods: [3, pointer({ metric: [1, metricName], [name]: [2, value] })],
  resource: [4, pointer({ name: [1, 'string'], [name]: [2, value] })],
  external: [5, pointer({ metric: [1, metricName], [name]: [2, value] })],
  containerResource: [
    7,
    pointer({ name: [1, 'string'], [name]: [2, value], container: [3, 'string'] }),
  ],
});

const scalingRules = pointer({
  selectPolicy: [1, 'string*'],
  policies: [2, [{ type: [1, 'string'], value: [2, 'integer'], periodSeconds: [3, 'integer'] }]],
  stabilizationWindowSeconds: [3, 'integer*'],
  tolerance: [4, 'quantity*'],
});

const autoscalerSpec: Fields = {
  scaleTargetRef: [1, scaleTarget],
  minReplicas: [2, 'integer*'],
  maxReplicas: [3, 'integer'],
  metrics: [4, [metric('target', metricTarget)]],
  behavior: [5, pointer({ scaleUp: [1, scalingRules], scaleDown: [2, scalingRules] })],
};

const autoscalerStatus: Fields = {
  observedGeneration: [1, 'integer*'],
  lastScaleTime: [2, 'time*'],
  currentReplicas: [3, 'integer'],
  desiredReplicas: [4, 'integer!'],
  currentMetrics: [5, [metric('current', metricValue)]],
  conditions: [6, [condition]],
};

/** The other workloads, by their kinds. */
export const workloads: Readonly<Record<string, Fields>> = {
  CronJob: { metadata, spec: [2, cronJobSpec], status: [3, cronJobStatus] },
  ControllerRevision: { metadata, data: [2, 'json*'], revision: [3, 'integer'] },
  Deployment: { metadata, spec: [2, deploymentSpec], status: [3, deploymentStatus] },
  HorizontalPodAutoscaler: { metadata, spec: [2, autoscalerSpec], status: [3, autoscalerStatus] },
  Job: { metadata, spec: [2, jobSpec], status: [3, jobStatus] },
  PodDisruptionBudget: { metadata, spec: [2, budgetSpec], status: [3, budgetStatus] },
  ReplicaSet: { metadata, spec: [2, replicaSetSpec], status: [3, replicaSetStatus] },
  ReplicationController: {
    metadata,
    spec: [2, replicationControllerSpec],
    status: [3, replicationControllerStatus],
  },
  StatefulSet: { metadata, spec: [2, statefulSetSpec], status: [3, statefulSetStatus] },
};
