// Everything that the package's doors offer, by name: a new name, or one that is gone, is on purpose.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const doors: Readonly<Record<string, { readonly values: string; readonly types: string }>> = {
  '.': {
    values: `
      allPodsNeeds blockerOf concernsPods confirmEviction createEngine defaultConfig describePodView
      describeReason formatTaint isReplica maintenanceOf makeNode makePod nodePlace parseQuantity parseTaint policyDenial quantityValue
      readyOf resolveConfig selects toleratesTaint webhookDenial zoneName`,
    types: `
      AllPodsNeed AttemptState Blocker BudgetNumbers Cause Command Config Counts DaemonSet Decision
      Disruption DrainMarkName Engine Event EvictionCommand Explanation KnownPause LabelExpression
      LabelSelector Labels
      Lease LifecycleReport LimitCommand LimitReport MatchOptions Namespace Node NodeCommand
      NodeCondition NodeExplanation NodeInput NodeRef Notice ObservedTaint Outcome Owner PastPause
      Pod PodExplanation PodInput PodRef PodReport PodView PodViews PolicyCounts PolicyDenial Quantity Reason
      ReasonCode Report Semantics StartSource Subject Taint TaintName TakeoverStatus
      Toleration WebhookDenial WorkingDrain`,
  },
  './devices': {
    values: `
      Devices UpstreamDeviceEviction confirmDeviceTaint describeDeviceCause describeDevicePatience
      describeDeviceReason describeTaintSource formatDevice judgeTaint
      parseDevice reasonOfCause selectsAllDevices selectsDevice`,
    types: `
      AllocatedDevice ClaimingPodEvent DeviceCause DeviceEvent DeviceHit DeviceId DeviceReason
      DeviceReasonCode DeviceResource DeviceSelector DeviceSources DeviceTaint DeviceTaintRule DeviceTaintSource
      DeviceVerdict EvictionProgress PodClaim PublishedDevice ResourceClaim ResourceSlice RuleReach
      UpstreamDeviceCommand UpstreamDeviceEvent UpstreamDeviceOptions VerdictOptions`,
  },
  './differences': {
    values: `
      classify`,
    types: `
      Comparison`,
  },
  './drain': {
    values: `
      budgetsAsked budgetsOver deletedByPolicy describeEvictionRequest drainBudgetsOf drainFaultText drainFaultsText drainFlag drainStaleMs drainText
      filterPod givenUpReason interceptedReason interceptionIn interceptionRepeatMs isOpenRequest isShut looksAtAllPods noExecuteFault nodeDrainer operatorOf operatorSignOf ownDeletions planDrain predictBlockers
      resolveDrainConfig soloDrainConfig stayingText taintEviction`,
    types: `
      AskForDrain Budget DeleteDrain DeletionSite Departure DoneBefore DrainCommand DrainCondition DrainConfig DrainFailure DrainFault DrainFilterResult
      DrainMachine DrainNode DrainNodePhase DrainNote DrainPlan DrainPod DrainPodState DrainQuestion
      DrainStop DrainTarget EvictionRequest EvictionResponder ForeignDeletion GuardDrain NodeDrainCommand NodeDrainNodeState NodeDrainPhase
      NodeDrainPodState NodeDrainState NodeDrainWrite OperatorSign OtherEvictors PlanInput PlanPod PlannedPod PredictedBlocker
      PredictionSite ReadEvictionRequests RestartRollout SetDrainConditions SoloDrainConfig
      WriteDrainNode WriteEvictionRequest`,
  },
  './lifecycle': {
    values: `
      defaultLifecycleConfig describeHold describeLifecycleReason forecastOf heldNodesMax heldZonesMax
      isLifecycleTaint lifecycleKeys
      resolveLifecycleConfig zoneHold zoneState`,
    types: `
      Flapping Forecast HoldReason LifecycleConfig LifecycleReason MassUnreachable NodeHealth
      Observation ReadinessHold ZoneState ZoneStatus`,
  },
  './model': {
    values: `
      defaultConfig formatTaint isReplica nodePlace parseTaint resolveConfig zoneName`,
    types: `
      Config Node Owner Pod Taint`,
  },
  './policy': {
    values: `
      actionRights canFitBoth canOverlap contradiction coversNamespace defaultWindowMs describeCount
      explainChoice isForNoExecute isTaintReason isTakenOver isWindowed
      limitId
      needsRecord plainDrainSpec podRightRemedies resumeCommand takeoverLabel takeoverProgram`,
    types: `
      BudgetPolicy ConditionRule EvictionMode EvictionPause
      EvictionPauseScope EvictionPolicy
      ExplainedChoice LimitCount LimitHit LimitRecord LimitRule LimitScope
      LimitStatus NodeDrain NodeDrainSpec
      NodeTaintRule PodRight Policy PolicyAction PolicyMatch PolicyPart
      PolicySubject PolicyVerdict RecordedLimit ResumeRequest TaintPattern`,
  },
  './pressure': {
    values: `
      admissionFault createPressureMachine defaultPressureConfig describePressureReason
      formatThreshold parseEvictionFlag pressureConditionTypes pressureConditions pressureSignals
      readSummary resolvePressureConfig resolvePressureSettings`,
    types: `
      ComparatorName ConditionExplanation ContainerUsage DiskUsage FilesystemLayout
      NodeObservation PodInOrder PodUsage PressureCommand PressureConditionType PressureConfig
      PressureContainer PressureDecision PressureEvent PressureExplanation PressureMachine
      PressureNode PressurePod PressurePool PressureReason PressureReport
      PressureSemantics PressureSettings PressureSettingsInput PressureVolume ResourceList
      ResourceRequirements Sample Signal SignalExplanation Threshold ThresholdPhase
      ThresholdState VolumeUsage`,
  },
  './shadow': {
    values: `
      ShadowScore deletedOf foreignDeviceTaintManager foreignTaintManager otherNames reasonText
      unknownUpstreamMark`,
    types: `
      ShadowConfig ShadowCounts ShadowEntry ShadowOptions ShadowReason ShadowReport ShadowRow
      ShadowSpan ShadowVerdict ShadowedMachine`,
  },
  './time': {
    values: `
      earlier earliest endOfSecond formatDeadline formatDuration formatTime formatTimeMillis parseDuration parseTime`,
    types: `
      Instant Millis`,
  },
};

const folder = new URL('../', import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));

describe('the doors', () => {
  it('are these', () => {
    assert.deepEqual(Object.keys(exports), [...Object.keys(doors), './package.json']);
  });
  for (const [door, { values, types }] of Object.entries(doors)) {
    it(`${door} offers exactly this`, async () => {
      const source = new URL(exports[door]['@taintmgr/source'], folder);
      assert.deepEqual(Object.keys(await import(source.href)).sort(), words(values));
      assert.deepEqual(exportedTypes(readFileSync(source, 'utf8')), words(types));
    });
  }
  it('offer each name once, but for what the first has in common with the model', () => {
    const { './model': model, ...others } = doors;
    const names = Object.values(others).flatMap(namesOf);
    assert.deepEqual(names, Array.from(new Set(names)));
    const first = new Set(namesOf(doors['.']));
    assert.deepEqual(
      namesOf(model).filter((name) => !first.has(name)),
      [],
    );
  });
});

function namesOf(door: (typeof doors)[string] | undefined): readonly string[] {
  return words(`${door?.values} ${door?.types}`);
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** The types in a door's export lists: those of `export type {}`, and each `type` in the others. */
function exportedTypes(source: string): readonly string[] {
  const lists = Array.from(source.matchAll(/export (type )?\{([^}]*)\}/g));
  const types = lists.flatMap(([, isTypes, list = '']) => {
    const names = list.split(',').map((name) => name.trim());
    const typed = names.filter((name) => name !== '' && (isTypes || name.startsWith('type ')));
    return typed.map((name) => name.replace(/^type /, '').replace(/^.* as /, ''));
  });
  return types.sort();
}
