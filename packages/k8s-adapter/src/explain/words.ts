// The cells of tables in words.
import {
  type Decision,
  describeReason,
  formatTaint,
  maintenanceOf,
  type ObservedTaint,
  type Pod,
  policyDenial,
  type Reason,
  type Taint,
  type Toleration,
  webhookDenial,
} from '@taintmgr/core';
import {
  type Budget,
  type OperatorSign,
  operatorOf,
  type PredictedBlocker,
} from '@taintmgr/core/drain';
import { describeLifecycleReason, type Forecast } from '@taintmgr/core/lifecycle';
import { type EvictionPause, resumeCommand } from '@taintmgr/core/policy';
import {
  formatDeadline,
  formatDuration,
  formatTime,
  type Instant,
  type Millis,
} from '@taintmgr/core/time';
import type { PolicyObject } from '../kinds/manifest.ts';
import type { Evictor } from '../survey/evictors.ts';
import type { NodeFacts, PodFacts } from '../survey/facts.ts';
import type { NodeDrainObject } from '../survey/node-drains.ts';
import { choicesMax, choicesText, listText } from '../text/count.ts';
import { selectorText } from '../text/label-selector.ts';
import { printable } from '../text/printable.ts';
import type { LimitedTime } from './limit-forecast.ts';
import type { PodReport, Tally } from './report.ts';

/** The text of a cell without content. */
export const none = '<none>';
/** The text of a cell whose content we may not see. */
const hidden = '?';

/** `2m54s`; for a pod that is due `now`, and `overdue by 5s` from a second on. */
export function timeLeft(remaining: Millis): string {
  if (remaining >= 1000) return formatDuration(remaining);
  return remaining > -1000 ? 'now' : `overdue by ${formatDuration(-remaining)}`;
}

/** `Evict 22s`, `Evict now`; `Evict, overdue by 5s` */
export function decisionWithTime(name: string, time: string): string {
  return time.startsWith('overdue') ? `${name}, ${time}` : `${name} ${time}`;
}

/**
 * Says the time left as of a moment `after` the reading: `2m54s`; of a pod that is gone by then `5s
 * ago`.
 */
export function timeLeftThen(remaining: Millis, after: Millis): string {
  return after > 0 && remaining < 0 ? `${formatDuration(-remaining)} ago` : timeLeft(remaining);
}

/** Says the time left of a pod; `~2m54s` where timers that cannot be read decide. */
export function timeLeftOf({
  explanation: { remaining },
  isGone,
  isEstimate,
  limit,
}: PodReport): string {
  if (remaining === null) return '-';
  if (isGone) return `${formatDuration(-remaining)} ago`;
  const text = timeLeft(remaining);
  if (isOpenEnded(limit)) return remaining < 1000 ? 'unknown' : `>${text}`;
  return isEstimate && remaining >= 1000 ? `~${text}` : text;
}

/** True when it is unknown when a limit lets the pod go. */
export function isOpenEnded(limit: LimitedTime | null): boolean {
  return limit !== null && limit.goesAt === null && !limit.tripped;
}

/** `kube-controller-manager`; `unknown (...): assume kube-controller-manager` */
export function evictorText({ name, rules, source, sure, takesOver }: Evictor): string {
  if (takesOver)
    return `${name} in namespaces that are taken over, kube-controller-manager in others`;
  switch (name) {
    case 'both':
      return 'kube-controller-manager and taintmgr-controller, whichever comes first';
    case 'nobody':
      return 'no controller';
    case 'unknown':
      return `unknown (${source}): assume ${rules}`;
    case 'kube-controller-manager':
      return sure ? name : `${name}, most likely (${source})`;
    case 'taintmgr-controller':
      return name;
  }
}

/** The age of an instant; the clock that wrote the time may be ahead of ours. */
export function ago(now: Instant, instant: Instant): string {
  return `${formatDuration(Math.max(0, now - instant))} ago`;
}

/** `2 of 4 to evict (next now, last in 59m18s), 1 terminating, 1 to keep` */
export function tallyText(tally: Tally): string {
  const { pods, terminating, evict, gone, held, keep, next, last } = tally;
  const { unknown = 0, blocked = 0 } = tally;
  const parts = [
    `${evict} of ${pods} to evict${span(next, last)}`,
    ...(gone > 0 ? [`${gone} gone by then`] : []),
    ...(terminating > 0 ? [`${terminating} terminating`] : []),
    ...(held > 0 ? [`${held} held`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
    ...(keep > 0 ? [`${keep} to keep`] : []),
  ];
  return parts.join(', ');
}

function span(next: Millis | null, last: Millis | null): string {
  if (next === null || last === null) return '';
  const [first, final] = [dueText(next), dueText(last)];
  const order = next > -1000 ? 'next' : 'first';
  return first === final ? ` (${first})` : ` (${order} ${first}, last ${final})`;
}

/** `now`, `in 3s`; `overdue by 5s` from a second on. */
function dueText(wait: Millis): string {
  return wait > -1000 ? soon(wait) : timeLeft(wait);
}

/** `now`, `in 3s`. */
export function soon(wait: Millis): string {
  return wait < 1000 ? 'now' : `in ${formatDuration(wait)}`;
}

/**
 * Since when a taint counts: `added 42s ago`, `seen 3m ago`, `time unknown`; with the time that it gives
 * itself where that is not believed.
 */
export function sinceText({ taint, start, startSource }: ObservedTaint, now: Instant): string {
  if (startSource === 'timeAdded') return `added ${ago(now, start)}`;
  const since = start < now ? `seen ${ago(now, start)}` : 'time unknown';
  const { timeAdded } = taint;
  return timeAdded === null || startSource === 'givenBack'
    ? since
    : `${since} (timeAdded ${formatTime(timeAdded)} was yet to come then)`;
}

/**
 * True when the taint has no timeAdded that is believed, and its start was not noted: it counts
 * from now.
 */
export function isUnwritten(
  { start, startSource }: { readonly start: Instant; readonly startSource: string },
  now: Instant,
): boolean {
  return startSource === 'firstSeen' && start >= now;
}

/** `True for 2d3h`, `Unknown for 2m6s (NodeStatusUnknown)`. */
export function readyText({ ready }: NodeFacts, now: Instant): string {
  const since =
    ready.since === null ? '' : ` for ${formatDuration(Math.max(0, now - ready.since))}`;
  const why = ready.status === 'True' || ready.reason === '' ? '' : ` (${ready.reason})`;
  return `${ready.status}${since}${why}`;
}

/**
 * The trouble of a node, now or soon: `Unknown in 21s without a heartbeat`, `queued for its
 * NoExecute taint, position 2, in about 16s`. Null: there is none.
 */
export function healthText({ health }: Forecast, now: Instant): string | null {
  const { heardAt, unreachableAt, place, taintAt, because } = health;
  const last = because.at(-1);
  if (place !== null) {
    const when = taintAt === null ? '' : `, ${soon(taintAt - now).replace('in ', 'in about ')}`;
    const why = taintAt === null && last ? `: ${describeLifecycleReason(last)}` : '';
    return `queued for its NoExecute taint, position ${place}${when}${why}`;
  }
  if (last?.code === 'ReadinessPaused') return describeLifecycleReason(last);
  if (unreachableAt === null) return last ? describeLifecycleReason(last) : none;
  const withoutHeartbeat = heardAt === null ? 0 : now - heardAt;
  const grace = unreachableAt - (heardAt ?? unreachableAt);
  // Kubelets renew their leases several times in a grace period.
  if (withoutHeartbeat < grace / 2) return null;
  if (unreachableAt > now) return `Unknown ${soon(unreachableAt - now)} without a heartbeat`;
  return `no heartbeat for ${formatDuration(withoutHeartbeat)} (grace period ${formatDuration(grace)})`;
}

/** `Normal, eviction rate 0.1 nodes/s`; `PartialDisruption, tainting stopped` */
export function zoneText({ zone }: Forecast): string {
  if (!zone) return none;
  const pace = zone.hold ? 'tainting stopped' : `eviction rate ${zone.rate} nodes/s`;
  return `${zone.state}, ${pace}`;
}

const interceptedText = 'another program may move it';

const verdictTexts = {
  resolves: 'resolves',
  needsTime: 'needs time',
  othersAct: 'its operator acts',
  askOperator: "may be its operator's: ask it first",
  never: 'needs action',
  unknown: 'not known',
} as const;

/** `PDB web (needs time)`, `PDB db (its operator acts: Cluster/db)`, `webhook (another program may move it)` */
export function blockerText({ code, verdict, budgets, message }: PredictedBlocker): string {
  const names = listText(budgets.map(({ name }) => name));
  const policy = code === 'Denied' ? policyDenial(message)?.policy : undefined;
  const named = policy === undefined ? names : printable(policy);
  const what = named === '' ? blockerKinds[code] : `${blockerKinds[code]} ${named}`;
  const operators = verdict === 'othersAct' ? budgets.flatMap(operatorName) : [];
  const who = operators.length === 0 ? '' : `: ${operators.join(', ')}`;
  const text = code === 'Intercepted' ? interceptedText : verdictTexts[verdict];
  return `${what} (${text}${who})`;
}

/** Short names of blockers, in front of the names of budgets. */
export const blockerKinds: Readonly<Record<PredictedBlocker['code'], string>> = {
  Budget: 'PDB',
  TwoBudgets: 'PDBs',
  Intercepted: 'webhook',
  Denied: 'policy',
  Finalizers: 'finalizers',
  NodeLost: 'node unreachable',
  LastReplica: 'last replica',
};

function operatorName(budget: Budget): readonly string[] {
  const operator = operatorOf(budget);
  return operator ? [`${operator.kind}/${operator.name}`] : [];
}

/** `its pods belong to InstanceManager/im-1 (longhorn.io/v1beta2), longhorn-manager wrote it` */
export function operatorSignText({ controller, writer }: OperatorSign): string {
  const texts = [
    ...(controller
      ? [`its pods belong to ${controller.kind}/${controller.name} (${controller.apiVersion})`]
      : []),
    ...(writer === null ? [] : [`${writer} wrote it`]),
  ];
  return texts.join(', ');
}

/** The blocker of an eviction, in the API server's words, and its remedy where one is known. */
export function blockerLine(blocker: PredictedBlocker): string {
  const { remedy, message, code } = blocker;
  const denial = code === 'Intercepted' ? webhookDenial(message) : null;
  if (denial) {
    const { webhook, words } = denial;
    return printable(`webhook ${webhook} (${interceptedText}): ${words || 'without explanation'}`);
  }
  const refusal = code === 'Denied' ? policyDenial(message) : null;
  if (refusal) {
    const { policy, binding, words } = refusal;
    return printable(
      `ValidatingAdmissionPolicy ${policy} by binding ${binding} (${verdictTexts.never}): ${words}`,
    );
  }
  const advice = remedy === undefined ? '' : `; ${remedyText}`;
  return `${blockerText(blocker)}: ${message}${advice}`;
}

/** The remedies for a pod that is held although it is not ready. */
const remedyText =
  'the pod is not ready, and unhealthyPodEvictionPolicy: AlwaysAllow would let it go';

/**
 * The present or predicted blockers of an eviction; `knowsBudgets`: true when budgets could be
 * read.
 */
export function blockersText(blockers: readonly PredictedBlocker[], knowsBudgets: boolean): string {
  const all = [...blockers.map(blockerText), ...(knowsBudgets ? [] : [hidden])];
  return all.length === 0 ? none : all.join(', ');
}

/** The taint that decides about a pod, and the toleration that covers it. */
export function decisive(report: PodReport): { taint: string; toleration: string } {
  const reason = decisiveReason(report);
  if (!reason || !('taint' in reason)) return { taint: none, toleration: none };
  const toleration = toleratedText(reason, report.facts.pod);
  return { taint: taintText(reason), toleration };
}

/** `health=bad:NoExecute`; `health=bad:NoExecute on device gpu-0` */
export function taintText(reason: Extract<Reason, { readonly taint: Taint }>): string {
  const text = formatTaint(reason.taint);
  const device = 'device' in reason ? reason.device : undefined;
  return device ? printable(`${text} on device ${device.device.device}`) : text;
}

/** The toleration that covers the taint; one with Lt or Gt that does not count is named, and that. */
export function toleratedText(reason: Reason, { tolerations }: Pick<Pod, 'tolerations'>): string {
  if ('toleration' in reason) return tolerationText(reason.toleration);
  if (!('taint' in reason) || ('device' in reason && reason.device)) return none;
  const compared = tolerations.find((one) => comparesTaint(one, reason.taint));
  return compared ? `${tolerationText(compared)}, does not count` : none;
}

/** True when the toleration is about the taint, and compares its value by Lt or Gt. */
export function comparesTaint({ operator, key, effect }: Toleration, taint: Taint): boolean {
  if (operator !== 'Lt' && operator !== 'Gt') return false;
  return (key === '' || key === taint.key) && (effect === '' || effect === taint.effect);
}

/**
 * The condition of the other answer: `if the feature gate ... is off in kube-controller-manager`
 */
export function otherwiseText({ evictor }: { readonly evictor: Evictor }): string {
  return evictor.assumesNumbers && evictor.name !== 'taintmgr-controller'
    ? `if ${numbersGate} is off in kube-controller-manager`
    : `if ${numbersGate} is on in taintmgr-controller`;
}

export const numbersGate = 'the feature gate TaintTolerationComparisonOperators';

/** The reason for which the pod leaves: its holds come before. */
export function decisiveReason({
  explanation,
}: Pick<PodReport, 'explanation'>): Reason | undefined {
  const [first, second] = explanation.decision.because;
  return first?.code === 'Paused' || first?.code === 'LastReplica' ? second : first;
}

/**
 * Says what holds a pod back as of `now`: `PDB web (needs time), deleted in 4m`; pauses and limits
 * come first.
 */
export function heldText(
  { blockers, knowsBudgets, deletedAt, limit, explanation }: PodReport,
  now: Instant,
): string {
  const text = blockersText(blockers, knowsBudgets);
  const held = deletedAt === null ? text : `${text}, deleted ${soon(deletedAt - now)}`;
  const [reason] = explanation.decision.because;
  const holds = [
    ...(reason?.code === 'Paused' ? [`pause ${printable(reason.pause)}`] : []),
    ...(reason?.code === 'LastReplica' ? ['no other replica is ready'] : []),
    ...(limit ? [`limit ${printable(limit.id)}${limit.tripped ? ' (tripped)' : ''}`] : []),
  ];
  return [...holds, ...(held === none && holds.length > 0 ? [] : [held])].join(', ');
}

/** `limit total policy=spot of taintmgr-controller: the pod is evicted in about 3m, after those before it` */
export function limitLine({ id, tripped, goesAt, notBefore }: LimitedTime, at: Instant): string {
  const name = `limit ${printable(id)} of taintmgr-controller`;
  if (tripped) return `${name}, which has tripped: until you run: ${resumeCommand(id)}`;
  if (goesAt === null && notBefore <= at)
    return `${name}: the pod is held until other pods are available; when is unknown`;
  if (goesAt === null) return `${name}: not before ${formatDeadline(notBefore)}, then by the limit`;
  return `${name}: the pod is evicted in about ${formatDuration(goesAt - at)}, when it is its turn`;
}

/** The deadline in RFC 3339; `<none>` where the pod stays. */
export function deadlineText(decision: Decision): string {
  return decision.kind === 'evict' ? formatDeadline(decision.deadline) : none;
}

/** All reasons, the one that decides first: `tolerates a=b:NoExecute for 5m; ...` */
export function becauseText({ because }: Decision): string {
  return because.map(describeReason).join('; ');
}

/** The statements of others about a node: `DrainInProgress (KubectlDrain) since 5m`; '': none. */
export function maintenanceText(node: NodeFacts['node'], now: Instant): string {
  return maintenanceOf(node)
    .map(({ type, reason, transitionAt }) => {
      const why = reason === '' ? '' : ` (${reason})`;
      return printable(`${type}${why}${transitionAt === null ? '' : ` ${ago(now, transitionAt)}`}`);
    })
    .join(', ');
}

/** `Unschedulable for 5m, by its condition PodScheduled: 0/3 nodes are available`; for a pod without a node. */
export function pendingText({ unscheduled }: PodFacts, now: Instant): string {
  if (!unscheduled) return 'no scheduler has said why: it has no condition PodScheduled';
  const { since, reason, message } = unscheduled;
  const long = since === null ? '' : ` for ${formatDuration(Math.max(0, now - since))}`;
  const why = message === '' ? '' : `: ${message}`;
  return printable(`${reason || 'not scheduled'}${long}, by its condition PodScheduled${why}`);
}

/** Names the owner of a pod: `ReplicaSet/web`. */
export function ownerText({ owner }: Pick<Pod, 'owner'>): string {
  return owner ? `${owner.kind}/${owner.name}` : none;
}

/** Says the grace period of a pod: `30s`. */
export function graceText({ gracePeriodSeconds }: Pick<Pod, 'gracePeriodSeconds'>): string {
  return gracePeriodSeconds === undefined ? none : `${gracePeriodSeconds}s`;
}

/** `maintenance:NoExecute Exists for 60s` */
function tolerationText({ key, operator, value, effect, tolerationSeconds }: Toleration): string {
  const what = formatTaint({ key: key || '*', value, effect: effect || '*' });
  const how = operator === '' || operator === 'Equal' ? '' : ` ${operator}`;
  const long = tolerationSeconds === null ? '' : ` for ${String(tolerationSeconds)}s`;
  return `${what}${how}${long}`;
}

/** When the cluster was read, and which moment the answer is about, where that is another one. */
export function asOf(
  now: Instant,
  after: Millis,
): { readonly observedAt: string; readonly asOf?: string } {
  return {
    observedAt: formatTime(now),
    ...(after > 0 && { asOf: formatTime(now + after) }),
  };
}

/** The pauses that are not over at `at`. */
export function pausesInForce(
  objects: readonly PolicyObject[],
  at: Instant,
): readonly EvictionPause[] {
  return objects.flatMap(({ kind, value }) => {
    return kind === 'EvictionPause' && (value.until === null || value.until > at) ? [value] : [];
  });
}

/**
 * Says what a pause holds: `all evictions for taints`; `evictions in zone eu/a, for taint
 * maintenance`; `evictions and node health`.
 */
export function pausedText({
  scope: { zones, nodes, taintKeys, namespaces },
  deadlines,
  readiness,
}: Pick<EvictionPause, 'scope' | 'deadlines' | 'readiness'>): string {
  const parts = [
    ...(zones.length > 0 ? [`in ${oneOf('zone', zones)}`] : []),
    ...(nodes === null ? [] : [`on nodes with ${selectorText(nodes) || 'any labels'}`]),
    ...(taintKeys.length > 0 ? [`for ${oneOf('taint', taintKeys)}`] : []),
    ...(namespaces.length > 0 ? [`of pods in ${oneOf('namespace', namespaces)}`] : []),
  ];
  const health = readiness ? ['node health'] : [];
  const isAll = parts.length === 0;
  const held = [
    ...(deadlines ? [isAll ? 'all evictions for taints' : 'evictions'] : []),
    ...health,
  ];
  return [held.join(' and '), parts.join(', ')].filter((part) => part !== '').join(' ');
}

function oneOf(what: string, names: readonly string[]): string {
  const [last = '', ...others] = [...names].reverse();
  if (others.length === 0) return `${what} ${last}`;
  if (names.length > choicesMax) return `${what}s ${choicesText(names)}`;
  return `${what}s ${others.reverse().join(', ')} and ${last}`;
}

/**
 * The phase of a NodeDrain; `Pending` before a controller has written a status, `Undoing` while it
 * is being deleted.
 */
export function phaseOf({ metadata, status }: NodeDrainObject): string {
  if (metadata.deletionTimestamp !== undefined) return 'Undoing';
  return status?.phase ?? 'Pending';
}

/** Returns what blocks a NodeDrain, in words; null: nothing does. */
export function blockerOf({ status }: NodeDrainObject): string | null {
  const [first, ...more] = status?.blockers ?? [];
  if (first === undefined) return null;
  return more.length > 0 ? `${first} (and ${more.length} more)` : first;
}

/** `every node is drained; 1 pod stays: shop/op (...)`: then its condition Drained is False; null: none stays. */
export function stayingOf({ status }: NodeDrainObject): string | null {
  const found = status?.conditions?.find(({ type, reason }) => {
    return type === 'Drained' && reason === 'PodsStay';
  });
  return found?.message ?? null;
}
