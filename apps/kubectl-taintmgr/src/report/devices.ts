// Pods that use tainted devices: their fate, the time, and the budgets that are not asked.
import { formatTaint } from '@taintmgr/core';
import {
  type DeviceId,
  type DeviceTaintRule,
  type DeviceVerdict,
  describeDeviceCause,
  describeDevicePatience,
  describeDeviceReason,
  describeTaintSource,
  formatDevice,
  selectsAllDevices,
} from '@taintmgr/core/devices';
import { type Budget, budgetsOver } from '@taintmgr/core/drain';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import { count, listText } from '@taintmgr/k8s-adapter/command-line';
import { deadline, none, taintDocument, timeLeft } from '@taintmgr/k8s-adapter/explain';
import {
  type DeviceEvictor,
  type DeviceSurvey,
  deviceDuty,
  type PodFacts,
} from '@taintmgr/k8s-adapter/survey';
import { type Column, type Field, renderColumns, type TableOptions } from '../render/table.ts';

/** A pod on devices that are asked about, and what becomes of it for all taints of all its devices. */
export interface DevicePod {
  readonly facts: PodFacts;
  /** The devices in question that the pod holds, with its claims. */
  readonly held: readonly { readonly device: DeviceId; readonly claim: string }[];
  readonly verdict: DeviceVerdict;
  /** True: it leaves for taints alone that no controller was seen to follow. */
  readonly isDoubtful: boolean;
  /** The budgets over the pod; null: they may not be read. */
  readonly budgets: readonly Budget[] | null;
}

/**
 * The pods that hold one of the devices, the first to go first. `unheeded`: the taints that may evict no
 * pods.
 */
export function podsOnDevices(
  survey: DeviceSurvey,
  ids: readonly DeviceId[],
  unheeded: 'all' | 'rules' | null = null,
): readonly DevicePod[] {
  const held = new Map<string, { readonly device: DeviceId; readonly claim: string }[]>();
  for (const device of unique(ids)) {
    for (const { uid, namespace, claims = [] } of survey.devices.podsOf(device)) {
      const own = survey.devices.claimsOf(device).filter((claim) => {
        return claim.namespace === namespace && claims.some((one) => one.claim === claim.name);
      });
      const list = held.get(uid) ?? [];
      list.push(...own.map(({ name }) => ({ device, claim: name })));
      held.set(uid, list);
    }
  }
  const found = Array.from(held).flatMap(([uid, list]): readonly DevicePod[] => {
    const facts = survey.pods.get(uid);
    if (!facts) return [];
    const { pod } = facts;
    const verdict = survey.devices.verdictOf(pod);
    const isDoubtful =
      verdict.at !== null &&
      (unheeded === 'all' ||
        (unheeded === 'rules' && survey.devices.verdictOf(pod, { withRules: false }).at === null));
    const budgets = survey.budgets && budgetsOver(facts.pod, survey.budgets);
    return [{ facts, held: list, verdict, isDoubtful, budgets }];
  });
  return found.sort(inOrder);
}

function unique(ids: readonly DeviceId[]): Iterable<DeviceId> {
  return new Map(ids.map((id) => [formatDevice(id), id] as const)).values();
}

function inOrder(one: DevicePod, other: DevicePod): number {
  const [a, b] = [one, other].map(({ verdict }) => verdict.at ?? Number.POSITIVE_INFINITY);
  if (a !== b) return (a ?? 0) - (b ?? 0);
  return nameOf(one) < nameOf(other) ? -1 : 1;
}

/** `shop/web-1` */
export function nameOf({ facts: { pod } }: DevicePod): string {
  return `${pod.namespace}/${pod.name}`;
}

/** True for a pod that is made to leave, and is not leaving already. */
export function goes({ facts, verdict, isDoubtful }: DevicePod): boolean {
  return verdict.at !== null && !isDoubtful && facts.pod.deletionTimestamp === null;
}

type DecisionName = 'Evict' | 'Keep' | 'Terminating' | 'Unknown';

const tones = { Evict: 'urgent', Keep: 'calm', Terminating: 'soon', Unknown: 'warning' } as const;

/** Without the right to read what decides nothing is kept. */
function deviceDecision({ facts, verdict, isDoubtful }: DevicePod): DecisionName {
  if (facts.pod.deletionTimestamp !== null) return 'Terminating';
  if (isDoubtful) return 'Unknown';
  if (verdict.at !== null) return 'Evict';
  return verdict.because[0].code === 'NotKnown' ? 'Unknown' : 'Keep';
}

/**
 * The taint that comes first, its author, and the number of further ones; or the reason why the pod stays.
 */
function becauseText({ facts, verdict, isDoubtful }: DevicePod): string {
  if (facts.pod.deletionTimestamp !== null) return 'already terminating';
  if (verdict.at === null) return describeDeviceReason(verdict.because[0]);
  const [first, ...others] = verdict.causes;
  const more = others.length === 0 ? '' : ` (then also ${count(others.length, 'taint')} more)`;
  const taint = `${formatTaint(first.taint)} by ${describeTaintSource(first.source)}`;
  const doubt = isDoubtful ? 'if a controller follows it: ' : '';
  return `${doubt}${taint}; ${describeDevicePatience(first)}${more}`;
}

/** A table of the pods, as of `now`. */
export function renderDevicePods(
  pods: readonly DevicePod[],
  now: Instant,
  options: TableOptions,
): string {
  const columns: readonly Column<DevicePod>[] = [
    ['NAMESPACE', ({ facts }) => facts.pod.namespace],
    ['POD', ({ facts }) => facts.pod.name, { title: true }],
    ['NODE', ({ facts }) => facts.pod.nodeName || none, 'wide'],
    [
      'DEVICE',
      ({ held }) => listText(held.map(({ device }) => formatDevice(device))),
      { below: 'device' },
    ],
    [
      'CLAIM',
      ({ held }) => listText([...new Set(held.map(({ claim }) => claim))]),
      { below: 'claim' },
    ],
    ['DECISION', deviceDecision, { tone: (pod) => tones[deviceDecision(pod)] }],
    ['IN', (pod) => (goes(pod) ? timeLeft((pod.verdict.at ?? now) - now) : '-')],
    ['BUDGET', budgetsText],
    ['BECAUSE', becauseText, { below: 'because' }],
  ];
  return renderColumns(columns, pods, options);
}

/** `web (allows 0)`; `?` where they may not be read. */
function budgetsText({ budgets }: DevicePod): string {
  if (budgets === null) return '?';
  return budgets.map(({ name, allowed }) => `${name} (allows ${allowed})`).join(', ') || none;
}

/** The budgets that allow fewer evictions than pods of theirs go. */
export function brokenBudgets(pods: readonly DevicePod[]): readonly string[] {
  const going = new Map<string, { readonly budget: Budget; pods: number }>();
  for (const pod of pods.filter(goes)) {
    for (const budget of pod.budgets ?? []) {
      const name = `${budget.namespace}/${budget.name}`;
      const entry = going.get(name) ?? { budget, pods: 0 };
      entry.pods += 1;
      going.set(name, entry);
    }
  }
  return Array.from(going).flatMap(([name, { budget, pods: number }]) => {
    if (number <= budget.allowed) return [];
    const [go, of] = [number === 1 ? 'goes' : 'go', count(number, 'pod')];
    return [`PDB ${name} allows ${budget.allowed} of its pods to go now, and ${of} of it ${go}`];
  });
}

/** As documents have a pod. */
export function devicePodDocument(pod: DevicePod, now: Instant): object {
  const { facts, verdict, budgets } = pod;
  const { namespace, name, uid, nodeName } = facts.pod;
  const because = verdict.at === null ? verdict.because : verdict.causes;
  return {
    namespace,
    name,
    uid,
    node: nodeName,
    decision: deviceDecision(pod),
    ...(goes(pod) && {
      deadline: deadline(verdict.at),
      remainingSeconds: Math.floor(((verdict.at ?? now) - now) / 1000),
    }),
    budgets: budgets?.map(({ namespace: ns, name: budget, allowed, healthy, desired }) => {
      return { namespace: ns, name: budget, allowed, healthy, desired };
    }),
    because: because.map((one) =>
      'code' in one
        ? { code: one.code, text: describeDeviceReason(one) }
        : {
            code: 'Tainted',
            text: describeDeviceCause(one),
            taint: taintDocument(one.taint),
            source: one.source,
            device: one.device,
            claim: one.claim,
            deadline: deadline(one.at),
          },
    ),
  };
}

/** `3 pods: 2 to evict, 1 to keep` */
export function devicePodsText(pods: readonly DevicePod[]): string {
  return `${count(pods.length, 'pod')}: ${fates(pods, '').join(', ')}`;
}

/** `2 of 3 to evict, 1 to keep` */
export function devicePodsField(pods: readonly DevicePod[]): Field {
  const text = fates(pods, ` of ${pods.length}`).join(', ');
  return ['Pods', pods.length === 0 ? none : text, pods.some(goes) ? 'urgent' : null];
}

function fates(pods: readonly DevicePod[], of: string): readonly string[] {
  const counted = (name: DecisionName): number =>
    pods.filter((pod) => deviceDecision(pod) === name).length;
  const others = [
    [counted('Terminating'), 'terminating'],
    [counted('Keep'), 'to keep'],
    [counted('Unknown'), 'unknown'],
  ] as const;
  const shown = others.filter(([number]) => number > 0).map((part) => part.join(' '));
  return [`${counted('Evict')}${of} to evict`, ...shown];
}

/** The taints that evict no pods, as far as can be seen; null: all taints evict. */
export function heedlessness({
  ours,
  upstream,
  actsOnRules,
}: DeviceEvictor): 'all' | 'rules' | null {
  if (ours !== null) return null;
  if (upstream === false) return 'all';
  return actsOnRules === false ? 'rules' : null;
}

/** As a line of an answer has it. */
export function deviceEvictorText({ ours, upstream, actsOnRules }: DeviceEvictor): string {
  const name = `kube-controller-manager (${deviceDuty})`;
  const theirs = upstream === null ? `unknown: assume ${name}` : name;
  switch (ours) {
    case 'everywhere':
      return upstream === false
        ? 'taintmgr-controller'
        : `taintmgr-controller and ${name}, whichever comes first`;
    case 'where taken over':
      return upstream === false
        ? 'taintmgr-controller in namespaces that are taken over, no controller in others'
        : `taintmgr-controller in namespaces that are taken over, ${name} in others`;
    case null: {
      if (upstream === false)
        return `no controller: kube-controller-manager runs without ${deviceDuty}`;
      if (actsOnRules !== false) return theirs;
      return `${theirs}; it has written no status of any rule, and then rules evict no pods (feature gate DRADeviceTaintRules off?)`;
    }
  }
}

/** `31s ago`; `in 10m` for a time that is yet to come. */
export function agoOrIn(at: Instant | null, now: Instant): string {
  if (at === null) return 'unknown';
  return at > now ? `in ${formatDuration(at - now)}` : `${formatDuration(now - at)} ago`;
}

/** `driver gpu.example.com, pool n1`; `every device` of an empty selector. */
export function selectorText({
  selector,
  unreadSelection = [],
}: Pick<DeviceTaintRule, 'selector' | 'unreadSelection'>): string {
  if (unreadSelection.length > 0)
    return `by ${listText(unreadSelection)}: which devices is not known here`;
  if (selector === null) return 'nothing (no deviceSelector)';
  if (selectsAllDevices(selector)) return 'every device of every driver';
  const parts = Object.entries(selector).filter(([, name]) => name !== null);
  return parts.map(([what, name]) => `${what} ${name}`).join(', ');
}
