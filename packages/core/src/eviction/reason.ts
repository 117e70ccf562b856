import type { NodeNotReadyReason } from '../attempt/pod-command.ts';
import { type DeviceId, type DeviceResource, formatDevice } from '../devices/device.ts';
import type { DeviceTaintSource } from '../devices/verdict.ts';
import { describeTaintSource, unreadRuleText } from '../devices/words.ts';
import { formatDeadline, formatDuration, type Instant } from '../kernel/time.ts';
import { formatTaint, type Taint } from '../model/taint.ts';
import type { Toleration } from '../model/toleration.ts';
import { drainStaleMs, drainText, type WorkingDrain } from '../model/working-drain.ts';
import type { PolicyMark } from '../policy/eviction-policy.ts';
import { takeoverLabel } from '../policy/scope.ts';

/** Where the time of a deadline starts to count. */
export type StartSource =
  /** taint.timeAdded */
  | 'timeAdded'
  /** the taint names no time: when we first saw it */
  | 'firstSeen'
  /** the same, and the node's taints were last written before we saw it */
  | 'taintsWritten'
  /** moved on by the time for which deadlines were paused */
  | 'givenBack'
  /** the pod came to the node after the taint */
  | 'podBound';

/** The device whose taint it is. */
export interface TaintedDevice {
  readonly device: DeviceId;
  /** The ResourceClaim to which the device was allocated, in the namespace of the pod. */
  readonly claim: string;
  /** Who has put the taint on. */
  readonly source: DeviceTaintSource;
}

/**
 * Why a pod stays or goes, as data. describeReason turns it into a sentence. `device`: whose taint
 * it is; left out: the node's. `asExecuted`: the taint has another effect, and the pod is judged as
 * if it were NoExecute; a drain may do so.
 */
export type Reason =
  | { readonly code: 'NotBound' }
  /** `hidden`: the node may be there, but the process may not read it. */
  | { readonly code: 'NodeUnknown'; readonly nodeName: string; readonly hidden?: true }
  | { readonly code: 'NoTaint' }
  | { readonly code: 'StaticPod' }
  | { readonly code: 'Terminating'; readonly since: Instant }
  | { readonly code: 'Finished'; readonly phase: string }
  | { readonly code: 'OptedOut' }
  /** No other replica of our own workload is ready, or stays. */
  | { readonly code: 'LastReplica'; readonly workload: string }
  /** A DaemonSet pod that tolerates the taint for a while: its successor would come straight back. */
  | { readonly code: 'ReturningDaemonSetPod' }
  /** Deadlines stand still; of several pauses that hold them, the one that lasts longest. */
  | {
      readonly code: 'Paused';
      readonly since: Instant;
      readonly pause: string;
      /** Null: until a person ends it. */
      readonly until: Instant | null;
      /** The zone that is held as it is down: until one of its nodes is ready. Left out: no zone is. */
      readonly zone?: string;
    }
  | {
      readonly code: 'NoToleration';
      readonly taint: Taint;
      readonly device?: TaintedDevice;
      readonly asExecuted?: true;
      readonly start: Instant;
      readonly startSource: StartSource;
      /** The start, or later where a taint needs a minimum age. */
      readonly deadline: Instant;
      /** Left out: no policy counts. */
      readonly policy?: PolicyMark;
      /** The drain that would evict, were it not stale; left out: there is none. */
      readonly staleDrain?: WorkingDrain;
    }
  | {
      readonly code: 'TolerationExpires';
      readonly taint: Taint;
      readonly device?: TaintedDevice;
      readonly asExecuted?: true;
      readonly toleration: Toleration;
      /** The toleration is not the pod's: the policy gives it. */
      readonly given?: true;
      readonly start: Instant;
      readonly startSource: StartSource;
      readonly deadline: Instant;
      readonly policy?: PolicyMark;
      readonly staleDrain?: WorkingDrain;
    }
  | {
      readonly code: 'ToleratedForever';
      readonly taint: Taint;
      readonly device?: TaintedDevice;
      readonly asExecuted?: true;
      readonly toleration: Toleration;
    }
  /** The policy that counts says so. */
  | {
      readonly code: 'KeptByPolicy';
      readonly taint: Taint;
      readonly device?: TaintedDevice;
      readonly policy: PolicyMark;
    }
  /** A drain evicts the pods of this taint itself, for as long as it lives. */
  | { readonly code: 'LeftToDrain'; readonly taint: Taint; readonly drain: WorkingDrain }
  /** This policy may count: its match names labels of a namespace that is not known (yet). */
  | {
      readonly code: 'PolicyUndecided';
      readonly taint: Taint;
      readonly device?: TaintedDevice;
      readonly policy: PolicyMark;
      readonly namespace: string;
    }
  /** With takeover: the pod's namespace is not taken over, and kube-controller-manager decides. */
  | {
      readonly code: 'NotTakenOver';
      readonly taint: Taint;
      readonly device?: TaintedDevice;
      readonly namespace: string;
    }
  /** Its devices may have taints: unknown without the right to read these. */
  | {
      readonly code: 'DevicesUnknown';
      readonly lacks: readonly DeviceResource[];
      readonly rule?: string;
    }
  /**
   * This DeviceTaintRule makes the pod leave at `deadline` where rules are in effect, and nothing
   * shows that they are.
   */
  | { readonly code: 'RulesUnheeded'; readonly rule: string; readonly deadline: Instant }
  /** upstream-1.36 in its legacy mode only. */
  | NodeNotReadyReason
  /** upstream-1.36 only: a timer set for taints that are gone still runs. */
  | { readonly code: 'TimerKept' }
  /** upstream-1.36 only: it will not look at the pod again until something changes. */
  | { readonly code: 'GivenUp' };

/** The word that tells reasons apart. */
export type ReasonCode = Reason['code'];

/** The event that moved a deadline. */
export type Cause =
  | 'NodeChanged'
  | 'NodeDeleted'
  | 'PodChanged'
  | 'PodDeleted'
  /** the taints of its devices, or its claims */
  | 'DevicesChanged'
  /** a policy, or the labels of the pod's namespace */
  | 'PolicyChanged'
  /** a drain that evicted the pods itself has had no heartbeat for too long */
  | 'DrainStale'
  /** another replica of our own is ready, or is no longer */
  | 'ReplicaChanged'
  /** deadlines were paused, or go on */
  | 'Paused'
  | 'Resumed'
  /** while an attempt was under way the reason to evict went away or got more time */
  | 'EvictionFailed'
  /** the API server accepted the eviction, yet the pod is still there */
  | 'EvictionUnconfirmed';

/** Describes one reason in words, as Events, tables and logs print it. */
export function describeReason(reason: Reason): string {
  switch (reason.code) {
    case 'NotBound':
      return 'not bound to a node: no taint evicts it';
    case 'NodeUnknown':
      if (reason.hidden)
        return `unknown: no permission to read node ${reason.nodeName}, so its taints are not known`;
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
      return `kept despite ${taintText(reason)}${byPolicy(reason)}`;
    case 'LeftToDrain':
      return `${drainText(reason.drain)} evicts for ${formatTaint(reason.taint)}, until it has had no heartbeat for ${formatDuration(drainStaleMs)}`;
    case 'PolicyUndecided':
      return `policy ${reason.policy.name} may be for it: the labels of namespace ${reason.namespace} are not known`;
    case 'NotTakenOver': {
      const { key, value } = takeoverLabel;
      return `kube-controller-manager decides: namespace ${reason.namespace} has no label ${key}=${value}`;
    }
    case 'DevicesUnknown':
      if (reason.rule !== undefined) return unreadRuleText(reason.rule);
      return `unknown: no permission to read ${reason.lacks.join(', ')}, so not the taints of its devices`;
    case 'RulesUnheeded':
      return `unknown: DeviceTaintRule ${reason.rule} would evict it, and kube-controller-manager has written no status of any rule (feature gate DRADeviceTaintRules off?)`;
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
  return `the last ready replica of ${workload}; it is evicted when another is ready`;
}

/** Only the nodes end it. */
function zoneHeldText(hold: string, zone: string): string {
  const nodes = zone === '' ? 'them' : 'its nodes';
  return `deadlines are paused by ${hold} until one of ${nodes} is ready`;
}

/** `, drain drain-20261122-041830-a4d8 by alice has no heartbeat` */
function inSpiteOf({ staleDrain }: { readonly staleDrain?: WorkingDrain }): string {
  return staleDrain ? `, ${drainText(staleDrain)} has no heartbeat` : '';
}

const ways: Partial<Record<PolicyMark['action'], string>> = {
  Request: ', after an EvictionRequest',
  KubeControllerManager: ' as kube-controller-manager does it',
};

/** `, by policy spot` */
function byPolicy({ policy }: { readonly policy?: PolicyMark }): string {
  if (!policy) return '';
  const how = ways[policy.action] ?? '';
  return `, by policy ${policy.name}${how}`;
}

/** A taint that is judged by another effect than its own is shown without an effect. */
function taintText({ taint, asExecuted, device }: TaintSight): string {
  const text = formatTaint(taint);
  if (device) return `${text} of ${deviceText(device)}`;
  return asExecuted ? text.slice(0, text.lastIndexOf(':')) : text;
}

interface TaintSight {
  readonly taint: Taint;
  readonly device?: TaintedDevice;
  readonly asExecuted?: true;
}

/** `device gpu.example.com/n1/gpu-0 (claim gpu, tainted by DeviceTaintRule gpu-0-ecc)` */
function deviceText({ device, claim, source }: TaintedDevice): string {
  return `device ${formatDevice(device)} (claim ${claim}, tainted by ${describeTaintSource(source)})`;
}

/** A taint that needs a minimum age is acted on later than it could be. */
function describeSettling({ start, deadline }: Extract<Reason, { code: 'NoToleration' }>): string {
  return deadline > start ? `, which must last ${formatDuration(deadline - start)} first` : '';
}
