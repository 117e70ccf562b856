// What policies, limits, taint rules and pauses say that is allowed, and does not do what somebody wants.
import { formatTaint } from '@taintmgr/core';
import { contradiction, type LimitRule, policyApiVersion } from '@taintmgr/core/policy';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import { windowFault } from '@taintmgr/k8s-adapter/manifests';
import { findingAt, type PlacedFinding } from '../finding.ts';
import { type Placed, type PlacedPolicies, placeOfName, warnAt } from './placed.ts';

type PlacedPolicy = Placed<'EvictionPolicy'>;

/** Of the taints that Kubernetes puts on nodes. */
const kubernetesPrefix = 'node.kubernetes.io/';

/** Slower than this is rather a mistake than a limit. */
const slowestPodsPerSecond = 1 / 3600;

/** Whether what is kept, when it is deleted, and what it is limited by makes sense. */
export function checkSense({ policies }: PlacedPolicies): readonly PlacedFinding[] {
  return policies.flatMap((policy) => [
    ...checkKeep(policy, policies),
    ...checkDeleteAfter(policy),
    ...policy.value.limits.flatMap((limit, index) => checkLimit(policy, limit, index)),
  ]);
}

function checkKeep(
  { manifest, value }: PlacedPolicy,
  policies: readonly PlacedPolicy[],
): readonly PlacedFinding[] {
  const { action, match, priority } = value;
  const { taints, nodes, namespaces, pods, podPriority } = match;
  const parts = [nodes, namespaces, pods, podPriority];
  if (action !== 'Keep' || taints.length > 0 || parts.some((part) => part !== null)) return [];
  const isBefore = (other: PlacedPolicy): boolean =>
    other.value.action !== null && other.value.action !== 'Keep' && other.value.priority > priority;
  if (policies.some(isBefore)) return [];
  const message = 'keeps every pod, and no policy here comes before it: no taint evicts anybody';
  const fix = 'say in spec.match which pods it is for, or give others a higher priority';
  return [warnAt(manifest, ['spec', 'action'], message, fix)];
}

function checkDeleteAfter({ manifest, value }: PlacedPolicy): readonly PlacedFinding[] {
  const { action, deleteAfterMs, gracePeriodSeconds } = value;
  if (action !== 'EvictThenDelete' || deleteAfterMs === null || gracePeriodSeconds === null) {
    return [];
  }
  if (deleteAfterMs >= gracePeriodSeconds * 1000) return [];
  const message =
    `deleteAfter ${formatDuration(deleteAfterMs)} is over before the first pods are gone ` +
    `(gracePeriodSeconds ${gracePeriodSeconds}): the others are deleted against their budgets`;
  const fix = 'make deleteAfter longer than the grace period';
  return [warnAt(manifest, ['spec', 'deleteAfter'], message, fix)];
}

function checkLimit(
  { manifest, value }: PlacedPolicy,
  limit: LimitRule,
  index: number,
): readonly PlacedFinding[] {
  const path = ['spec', 'limits', index];
  const found: PlacedFinding[] = [];
  const { per, name, nodes = null, podsPerSecond = 1 } = limit;
  if (podsPerSecond < slowestPodsPerSecond) {
    const message = `podsPerSecond ${podsPerSecond} lets one pod go in ${formatDuration(Math.round(1000 / podsPerSecond))}`;
    found.push(
      warnAt(manifest, [...path, 'podsPerSecond'], message, 'write how many go in a second'),
    );
  }
  const key = contradiction([value.match.nodes, nodes]);
  if (nodes && key !== null) {
    const message = `nodeSelector and what the policy matches contradict each other about the label ${key}: it limits nothing`;
    found.push(warnAt(manifest, [...path, 'nodeSelector'], message, 'fix the selector'));
  }
  const form = forms[per];
  if (name !== undefined && form && !form.pattern.test(name)) {
    const message = `"${name}" is the name of no ${per}: it limits nothing`;
    found.push(warnAt(manifest, [...path, 'name'], message, `write it as ${form.text}`));
  }
  return found;
}

/** How the names of scopes are written, where not anything can be one. */
const forms: Partial<
  Record<LimitRule['per'], { readonly pattern: RegExp; readonly text: string }>
> = {
  zone: { pattern: /^[^/]+(\/[^/]+)?$/, text: 'region/zone' },
  workload: { pattern: /^[^/]+\/[^/]+\/[^/]+$/, text: 'namespace/kind/name' },
  namespace: { pattern: /^[^/]+$/, text: 'the name of a namespace' },
  node: { pattern: /^[^/]+$/, text: 'the name of a node' },
};

/** Rules that stand in each other's way, or do nothing. */
export function checkRules({ rules }: PlacedPolicies): readonly PlacedFinding[] {
  return rules.flatMap(({ manifest, value }, index) => {
    const found: PlacedFinding[] = [];
    const { condition, status, nodes, nodesMax } = value;
    const key = contradiction([nodes]);
    if (key !== null) {
      const message = `nodeSelector contradicts itself about the label ${key}: the rule is for no node`;
      found.push(warnAt(manifest, ['spec', 'nodeSelector'], message, 'fix the selector'));
    }
    if (nodesMax !== null && Number.parseInt(String(nodesMax), 10) === 0) {
      const message = `maxNodes ${nodesMax}: it never taints a node`;
      found.push(
        warnAt(manifest, ['spec', 'maxNodes'], message, 'allow one, or write dryRun: true'),
      );
    }
    if (value.taint.key.startsWith(kubernetesPrefix)) {
      const message = `taints of ${kubernetesPrefix} are Kubernetes' own: others put ${value.taint.key} on and take it off too`;
      found.push(warnAt(manifest, ['spec', 'taint', 'key'], message, 'choose a key of your own'));
    }
    const other = rules.slice(0, index).find((one) => {
      const isSame = one.value.condition === condition && one.value.status === status;
      return isSame && contradiction([one.value.nodes, nodes]) === null;
    });
    if (other) {
      const message =
        `maps the condition ${condition}=${status} of the same nodes as NodeTaintRule ` +
        `"${other.value.name}" (${placeOfName(other.manifest)}) does`;
      const fix = 'leave one of them, or set their nodeSelectors apart';
      found.push(warnAt(manifest, ['spec', 'condition', 'type'], message, fix));
    }
    return found;
  });
}

/** Pauses that nobody needs any more. */
export function checkPauses({ pauses }: PlacedPolicies, now: Instant): readonly PlacedFinding[] {
  return pauses.flatMap(({ manifest, value: { until } }) => {
    if (until === null || until > now) return [];
    const message = `ended at ${new Date(until).toISOString().replace(/\.000Z$/, 'Z')}: it holds nothing`;
    return [warnAt(manifest, ['spec', 'until'], message, 'delete it, or give it another end')];
  });
}

/** Drains that wait where somebody else evicts for their taint. */
export function checkDrains({ drains }: PlacedPolicies): readonly PlacedFinding[] {
  return drains.flatMap(({ manifest, value }) => {
    const { taint } = value.spec;
    if (taint.effect !== 'NoExecute') return [];
    const message =
      'the drain does not begin where another controller evicts for NoExecute taints, or where that ' +
      'is unknown: no budget would be asked';
    const fix = `use ${formatTaint({ ...taint, effect: 'NoSchedule' })}, for which nobody else evicts`;
    return [warnAt(manifest, ['spec', 'taint', 'effect'], message, fix)];
  });
}

/** Windows that cannot be read, or never open: the drain waits for ever. */
export function checkWindows({ drains }: PlacedPolicies, now: Instant): readonly PlacedFinding[] {
  return drains.flatMap(({ manifest, value: { spec } }) =>
    (spec.windows ?? []).flatMap((window, index) => {
      const fault = windowFault(window, now);
      if (fault === null) return [];
      const at = manifest.field.at(['spec', 'windows', index]);
      return [findingAt('policies', 'FAIL', { manifest, at }, `${fault}: no node ever begins`)];
    }),
  );
}

/** Whether a manifest is of our kinds. */
export function isOfOurs(apiVersion: string): boolean {
  return apiVersion.split('/')[0] === policyApiVersion.split('/')[0];
}
