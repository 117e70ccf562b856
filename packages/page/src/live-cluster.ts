// The pods, pauses, limits and taints of devices of a live cluster, as the engine and explain have them.
import {
  type Decision,
  describeReason,
  formatTaint,
  type PodExplanation,
  type Reason,
  type Taint,
} from '@taintmgr/core';
import { formatDevice } from '@taintmgr/core/devices';
import { type EvictionPause, resumeCommand } from '@taintmgr/core/policy';
import type { LiveAction, LiveHold, LivePod } from './live.ts';
import { count } from './model/words.ts';

type Explained = Pick<PodExplanation, 'pod' | 'decision'>;

/** The facts of a pod that an explanation does not give. */
interface Beside extends Pick<LivePod, 'evictor' | 'isEstimate' | 'holds'> {
  readonly at: number;
  readonly state: LivePod['state'] | 'Keep' | 'Blocked';
}

/**
 * A pod that is due to leave, is leaving, or whose fate is unknown; null: it stays, or no controller tries
 * any more.
 */
export function livePodOf(
  { pod, decision }: Explained,
  { at, state, evictor, isEstimate, holds }: Beside,
): LivePod | null {
  if (state === 'Keep' || state === 'Blocked') return null;
  const [first] = decision.because;
  const start = first ? startOf(first) : null;
  const dueAt = decision.kind === 'evict' && state === 'Evict' ? decision.deadline : null;
  return {
    ...{ uid: pod.uid, namespace: pod.namespace, pod: pod.name, node: pod.nodeName, state },
    workload: pod.owner ? `${pod.owner.kind} ${pod.namespace}/${pod.owner.name}` : null,
    setAt: start === null || start > at ? null : start,
    dueAt: dueAt !== null && Number.isFinite(dueAt) ? dueAt : null,
    remainingSeconds: decision.kind === 'pause' ? decision.remaining / 1000 : null,
    because: decision.because.map(describeReason),
    holds: [...pauseHolds(decision), ...holds],
    ...{ evictor, isEstimate },
  };
}

/** The start of its time; of a terminating pod, the time when it should have ended. */
function startOf(reason: Reason): number | null {
  if (reason.code === 'Terminating') return reason.since;
  return 'start' in reason ? reason.start : null;
}

function pauseHolds({ kind, because: [first] }: Decision): readonly LiveHold[] {
  if (kind !== 'pause' || first?.code !== 'Paused') return [];
  return [{ kind: 'pause', name: first.pause, text: describeReason(first) }];
}

/** A limit that has tripped. */
export function trippedLimit(id: string, since: number | null): LiveAction {
  const text = `has tripped: its pods wait until you run: ${resumeCommand(id)}`;
  return { kind: 'limit', name: id, from: since, until: null, text };
}

/** A pause; `held`: the pods that it holds, in the words of explain. */
export function livePause(
  { name, uid, since, until, reason }: EvictionPause,
  held: string,
): LiveAction {
  const text = `holds ${held}${reason === '' ? '' : `: ${reason}`}`;
  // A pause from a file has no beginning.
  return { kind: 'pause', name, from: uid === '' ? null : since, until, text };
}

/** A DeviceTaintRule that makes pods leave. */
interface LiveRule {
  readonly name: string;
  readonly taint: Taint;
  readonly devices: Set<string>;
  readonly pods: Set<string>;
}

/** The DeviceTaintRules that evict pods, by the explanations of these pods. */
export function liveRules(explanations: Iterable<Explained>): readonly LiveAction[] {
  const rules = new Map<string, LiveRule>();
  for (const { pod, decision } of explanations) {
    if (decision.kind !== 'evict' || pod.deletionTimestamp !== null) continue;
    for (const reason of decision.because) {
      if (!('device' in reason) || reason.device?.source.kind !== 'rule') continue;
      const { device, source } = reason.device;
      const { taint } = reason;
      const rule = rules.get(source.name) ?? {
        ...{ name: source.name, taint, devices: new Set(), pods: new Set() },
      };
      rules.set(source.name, rule);
      rule.devices.add(formatDevice(device));
      rule.pods.add(pod.uid);
    }
  }
  return Array.from(rules.values(), ruleAction);
}

const namedMax = 3;

function ruleAction({ name, taint, devices, pods }: LiveRule): LiveAction {
  const more = devices.size - namedMax;
  const named = [...devices].slice(0, namedMax).join(', ');
  const where = more > 0 ? `${named} and ${count(more, 'device')} more` : named;
  const text = `taints ${where} ${formatTaint(taint)}: ${count(pods.size, 'pod')} to leave`;
  return { kind: 'rule', name, from: taint.timeAdded, until: null, text };
}
