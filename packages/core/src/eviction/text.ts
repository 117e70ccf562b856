import { formatDeadline, formatDuration } from '../kernel/time.ts';
import { formatTaint } from '../model/taint-spec.ts';
import { drainStaleMs, drainText, type WorkingDrain } from '../model/working-drain.ts';
import type { PolicyMark } from '../policy/eviction-policy.ts';
import { takeoverLabel } from '../policy/takeover.ts';
import type { Reason } from './reason.ts';

/** One reason in words, as Events, tables and logs print it. */
export function describeReason(reason: Reason): string {
  switch (reason.code) {
    case 'NotBound':
      return 'not bound to a node';
    case 'NodeUnknown':
      if (reason.hidden)
        return `unknown: no permission to read nodes, so not the taints of ${reason.nodeName} either`;
      return `node ${reason.nodeName} is unknown`;
    case 'NoTaint':
      return 'its node has no NoExecute taint';
    case 'StaticPod':
      return 'static pod: deleting it through the API does not stop it';
    case 'Terminating':
      return 'already terminating';
    case 'Finished':
      return `already finished (${reason.phase})`;
    case 'OptedOut':
      return 'opted out by annotation';
    case 'LastReplica':
      return lastReplicaText(reason.workload);
    case 'ReturningDaemonSetPod':
      return 'its DaemonSet would recreate it at once';
    case 'Paused':
      if (reason.zone !== undefined) return zoneHeldText(reason.pause, reason.zone);
      return reason.until === null
        ? `deadlines are paused by ${reason.pause}`
        : `deadlines are paused by ${reason.pause} until ${formatDeadline(reason.until)}`;
    case 'NoToleration':
      return `no toleration for ${taintText(reason)}${describeSettling(reason)}${byPolicy(reason)}${inSpiteOf(reason)}`;
    case 'TolerationExpires': {
      const seconds = Math.max(0, Number(reason.toleration.tolerationSeconds)) || 0;
      const time = formatDuration(seconds * 1000);
      if (reason.given)
        return `no toleration for ${taintText(reason)}, given ${time}${byPolicy(reason)}${inSpiteOf(reason)}`;
      return `tolerates ${taintText(reason)} for ${time}${byPolicy(reason)}${inSpiteOf(reason)}`;
    }
    case 'ToleratedForever':
      return `tolerates ${taintText(reason)} without limit`;
    case 'KeptByPolicy':
      return `kept in spite of ${formatTaint(reason.taint)}${byPolicy(reason)}`;
    case 'LeftToDrain':
      return `${drainText(reason.drain)} evicts for ${formatTaint(reason.taint)}, until it has had no heartbeat for ${formatDuration(drainStaleMs)}`;
    case 'PolicyUndecided':
      return `policy ${reason.policy.name} may be for it: the labels of namespace ${reason.namespace} are not known`;
    case 'NotTakenOver': {
      const { key, value } = takeoverLabel;
      return `kube-controller-manager decides: namespace ${reason.namespace} has no label ${key}=${value}`;
    }
    case 'NodeNotReady': {
      const { nodeName, ready, since, deadline } = reason;
      return `node ${nodeName} is not ready (${ready}), and is given ${formatDuration(deadline - since)}`;
    }
    case 'TimerKept':
      return 'the time that was set for earlier taints or tolerations still counts';
    case 'GivenUp':
      return 'gave up until its tolerations or the taints of its node change';
  }
}

/** Why the last replica of ours stays, and until when. */
export function lastReplicaText(workload: string): string {
  return `the last ready replica of ${workload}; it goes when another is ready`;
}

/** Nobody ends it but the nodes. */
function zoneHeldText(hold: string, zone: string): string {
  const nodes = zone === '' ? 'them' : 'its nodes';
  return `deadlines are paused by ${hold} until one of ${nodes} is ready`;
}

/** `, drain drain-20261122-041830-a4d8 by alice has no heartbeat` */
function inSpiteOf({ staleDrain }: { readonly staleDrain?: WorkingDrain }): string {
  return staleDrain ? `, ${drainText(staleDrain)} has no heartbeat` : '';
}

/** `, by policy spot` */
function byPolicy({ policy }: { readonly policy?: PolicyMark }): string {
  if (!policy) return '';
  const how = policy.action === 'Upstream' ? ' as kube-controller-manager does it' : '';
  return `, by policy ${policy.name}${how}`;
}

/** One that is judged by another effect than it has goes without any. */
function taintText({ taint, asExecuted }: Extract<Reason, { asExecuted?: true }>): string {
  const text = formatTaint(taint);
  return asExecuted ? text.slice(0, text.lastIndexOf(':')) : text;
}

/** A taint that needs a minimum age is acted on later than it could be. */
function describeSettling({ start, deadline }: Extract<Reason, { code: 'NoToleration' }>): string {
  return deadline > start ? `, which has to last ${formatDuration(deadline - start)} first` : '';
}
