// Checks of rules that taint devices, and of the claims and pods on tainted devices.
import { formatTaint } from '@taintmgr/core';
import { type Millis, parseTime } from '@taintmgr/core/time';
import { count, listText } from '@taintmgr/k8s-adapter/command-line';
import {
  ClusterReader,
  type DeviceSurvey,
  devicePaths,
  hiddenText,
  type ObjectMeta,
  type RuleObject,
  type Survey,
  surveyDevices,
} from '@taintmgr/k8s-adapter/survey';
import type { Connection } from '../../cli/connection.ts';
import { podsOnDevices, selectorText } from '../../report/devices.ts';
import { claimFaults, type DeviceFault, ruleFaults } from './devices.ts';
import { type Finding, findingsOf, orWell } from './finding.ts';

const finding = findingsOf('devices');

/** Nothing where the cluster has neither claims nor rules, as far as can be read. */
export async function checkDevices(_: Survey, { client }: Connection): Promise<readonly Finding[]> {
  const reader = new ClusterReader(client);
  const paths = await devicePaths(reader);
  if (!paths) return [];
  const survey = await surveyDevices(reader, paths);
  const { rules, claims, hidden } = survey;
  const message = `the pods that leave for taints of devices are unknown: ${hiddenText(hidden)}`;
  const unknown = hidden.length > 0 ? [finding('INFO', message)] : [];
  if (unknown.length === 0 && rules.size === 0 && claims.length === 0) return [];
  const found = [
    ...unknown,
    ...Array.from(rules.values()).flatMap((rule) => ruleFindings(rule, survey)),
    ...(await gateFindings(survey, reader)),
    ...claims.flatMap(claimFindings),
    ...extendedFindings(survey),
  ];
  const seen = `${count(rules.size, 'DeviceTaintRule')}, ${count(claims.length, 'ResourceClaim')}`;
  return orWell(finding, found, `${seen}: nothing odd`);
}

function ruleFindings(rule: RuleObject, { devices, hidden }: DeviceSurvey): readonly Finding[] {
  const { name } = rule.metadata;
  const about = `devicetaintrule/${name}`;
  const found = ruleFaults(rule, null).map((fault) => placed(fault, about));
  const model = devices.rule(name);
  if (!model?.selector || hidden.length > 0) return found;
  const { published, allocated } = devices.reachOf(model);
  if (published.length > 0 || allocated.length > 0) return found;
  const message = `no ResourceSlice has a device of ${selectorText(model)}, and no claim holds one: it taints nothing`;
  const fix = 'fix the selector, or delete the rule';
  return [...found, finding('WARN', message, { about, fix })];
}

function placed({ level, message, fix }: DeviceFault, about: string): Finding {
  return finding(level, message, { about, fix });
}

/** kube-controller-manager writes of a rule at once, where it does. */
const settledAfterMs: Millis = 60_000;

/** Rules that no controller follows, and a scheduler that panics on them. */
async function gateFindings(
  { devices, rules, at }: DeviceSurvey,
  reader: ClusterReader,
): Promise<readonly Finding[]> {
  if (rules.size === 0) return [];
  const found: Finding[] = [];
  const isYoung = ({ metadata }: RuleObject): boolean =>
    at - (parseTime(metadata.creationTimestamp ?? '') ?? 0) < settledAfterMs;
  if (devices.actsOnRules === false && ![...rules.values()].every(isYoung)) {
    const message = `kube-controller-manager has written no status of any DeviceTaintRule (${listText([...rules.keys()])}): it ignores them, or does not run`;
    const fix =
      'set --feature-gates=DRADeviceTaintRules=true there (Kubernetes 1.36), and leave device-taint-eviction-controller on';
    found.push(finding('WARN', message, { fix }));
  }
  const version = Object(await reader.objectIfAllowed('/version')).gitVersion;
  if (/^v1\.36\.[012](?!\d)/.test(String(version))) {
    const message = `kube-scheduler 1.36.0 to 1.36.2 with the feature gate DRADeviceTaintRules panics when there are rules, or overlooks them (k/k#139651); the API server is ${version}`;
    found.push(
      finding('WARN', message, { fix: 'leave that gate of kube-scheduler off, or upgrade' }),
    );
  }
  return found;
}

/**
 * For a claim that was made from a template, the template needs the change; an allocated claim cannot be
 * changed.
 */
function claimFindings(claim: unknown): readonly Finding[] {
  const { metadata } = claim as { readonly metadata: ObjectMeta };
  const about = `resourceclaim/${metadata.name} -n ${metadata.namespace ?? ''}`;
  return claimFaults(claim).map((fault) => placed(fault, about));
}

/** Pods on devices that a taint should empty, and that no controller evicts. */
function extendedFindings(survey: DeviceSurvey): readonly Finding[] {
  const allocated = Array.from(survey.devices.claims()).flatMap((one) => one.allocated ?? []);
  return podsOnDevices(survey, allocated).flatMap(({ facts: { pod }, verdict }) => {
    if (verdict.at !== null) return [];
    return verdict.because.flatMap((reason) => {
      if (reason.code !== 'ExtendedResource') return [];
      const [cause] = reason.causes;
      if (!cause) return [];
      const message = `stays on a device with ${formatTaint(cause.taint)}: the device came as an extended resource, and Kubernetes up to 1.37 does not evict such pods (k/k#141290)`;
      const about = `pod/${pod.name} -n ${pod.namespace}`;
      return [finding('WARN', message, { about, fix: 'delete it yourself if it must leave' })];
    });
  });
}
