// The pods that would leave if a rule had the effect NoExecute, and the objections.
import { type DeviceId, formatDevice } from '@taintmgr/core/devices';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { deviceTaintRuleFromJson } from '@taintmgr/k8s-adapter/client';
import { count, listText } from '@taintmgr/k8s-adapter/command-line';
import type { DeviceEvictor, DeviceSurvey, RuleObject } from '@taintmgr/k8s-adapter/survey';
import {
  brokenBudgets,
  type DevicePod,
  goes,
  nameOf,
  podsOnDevices,
} from '../../report/devices.ts';

/** The effect of a rule. */
export interface RuleForecast {
  readonly at: Instant;
  readonly published: number;
  readonly allocated: number;
  /** The pods on its devices, those that stay too. */
  readonly pods: readonly DevicePod[];
  /** The pods that the rule evicts. */
  readonly going: readonly DevicePod[];
  /** Devices of the same drivers that a replacement could get; null: slices may not be read. */
  readonly free: number | null;
  /** A line about each Job that fails with them. */
  readonly jobEnds: readonly string[];
}

/** Counts as though the rule had NoExecute since `since`. */
export function forecastRule(
  survey: DeviceSurvey,
  rule: Pick<RuleObject, 'metadata' | 'spec'>,
  since: Instant,
): Omit<RuleForecast, 'jobEnds'> {
  const { devices, hidden, at } = survey;
  const taint = { ...rule.spec.taint, effect: 'NoExecute', timeAdded: formatTime(since) };
  const executed = deviceTaintRuleFromJson({ ...rule, spec: { ...rule.spec, taint } });
  devices.handle({ kind: 'deviceTaintRuleUpsert', rule: executed });
  const { published, allocated } = devices.reachOf(executed);
  const pods = podsOnDevices(survey, allocated);
  const isDueToRule = ({ verdict }: DevicePod): boolean =>
    verdict.at !== null &&
    verdict.causes.some(({ source }) => source.kind === 'rule' && source.name === executed.name);
  return {
    at,
    published: published.length,
    allocated: allocated.length,
    pods,
    going: pods.filter((pod) => goes(pod) && isDueToRule(pod)),
    free: hidden.includes('resourceslices') ? null : freeDevices(survey, allocated),
  };
}

/** Devices of the drivers of these that no claim holds and that have no taint that keeps new pods away. */
function freeDevices({ devices }: DeviceSurvey, ids: readonly DeviceId[]): number {
  const drivers = new Set(ids.map(({ driver }) => driver));
  const free = devices.published().filter((id) => {
    const isShut = devices.taintsOf(id).some(({ taint }) => taint.effect !== 'None');
    return drivers.has(id.driver) && !isShut && devices.claimsOf(id).length === 0;
  });
  return new Set(free.map(formatDevice)).size;
}

/** Warnings before NoExecute is written. */
export function risksOf(
  { going, free, pods, jobEnds }: RuleForecast,
  evictor: DeviceEvictor,
): readonly string[] {
  if (going.length === 0) return [];
  const looping = going.filter(({ verdict }) => {
    return verdict.at !== null && verdict.causes.some(({ unheeded }) => unheeded !== null);
  });
  const extended = pods.filter(({ verdict }) => {
    return verdict.at === null && verdict.because.some(({ code }) => code === 'ExtendedResource');
  });
  return [
    ...heedlessRisk(evictor),
    ...brokenBudgets(going),
    ...jobEnds,
    ...(looping.length === 0
      ? []
      : [
          `${listText(looping.map(nameOf))}: its toleration names no effect. The scheduler accepts that, eviction does not: replacements get the tainted devices again and are evicted again, without end`,
        ]),
    ...(extended.length === 0
      ? []
      : [
          `${listText(extended.map(nameOf))} stays, unlike asked for: its device came as an extended resource (k/k#141290)`,
        ]),
    ...(free !== null && free < going.length
      ? [
          `room for replacements: ${count(free, 'device')} of these drivers ${free === 1 ? 'is' : 'are'} free, and ${count(going.length, 'pod')} would need one`,
        ]
      : []),
  ];
}

/** Where taintmgr-controller alone evicts, it asks budgets and keeps a pace. */
function heedlessRisk({ ours, upstream }: DeviceEvictor): readonly string[] {
  if (ours !== null && upstream === false) return [];
  const where = ours === 'where taken over' ? 'in namespaces that are not taken over ' : '';
  return [
    `${where}kube-controller-manager deletes pods for device taints itself: it asks no PodDisruptionBudget, keeps no pace and no order and spares no namespace, and what is deleted does not come back`,
  ];
}
