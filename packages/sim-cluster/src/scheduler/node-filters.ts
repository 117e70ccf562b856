// The rules for one node and one pod, independent of the rest of the cluster.
import { disksClash } from './disks.ts';
import { type Filter, type Rejection, rejected, rejectedForGood } from './filter.ts';
import { clash } from './host-ports.ts';
import { admitsNode, asksForNodes } from './node-affinity.ts';
import type { Place } from './place.ts';
import type { SchedulingPod } from './scheduling-pod.ts';
import { isKeptOut, isShut, tolerationsOf } from './taints.ts';

const cordoned = rejectedForGood('node', 'node(s) were unschedulable');
const tainted = rejectedForGood('node', 'node(s) had untolerated taint(s)');
const unwanted = rejectedForGood('node', "node(s) didn't match Pod's node affinity/selector");
const taken = rejected('ports', "node(s) didn't have free ports for the requested pod ports");
const diskTaken = rejected('disks', 'node(s) had no available disk');

/** NodeUnschedulable, TaintToleration. */
export function taintFilter(pod: SchedulingPod): Filter {
  const tolerations = tolerationsOf(pod);
  return {
    check: ({ offer }) => {
      if (!offer || offer.isOpen) return null;
      if (isShut(offer, tolerations)) return cordoned;
      return isKeptOut(offer, tolerations) ? tainted : null;
    },
  };
}

/** NodeAffinity, where the pod asks for certain nodes. */
export function nodeAffinityFilters({ pod }: Readonly<SchedulingPod>): readonly Filter[] {
  if (!asksForNodes(pod.spec)) return [];
  return [{ check: ({ offer }) => (offer && !admitsNode(pod.spec, offer.node) ? unwanted : null) }];
}

/** NodePorts, where the pod takes ports of the node. */
export function portFilters({ ports }: SchedulingPod): readonly Filter[] {
  if (ports.length === 0) return [];
  return [{ check: (place) => (isTaken(place) ? taken : null) }];

  function isTaken({ hasPorts, pods }: Place): boolean {
    if (!hasPorts) return false;
    for (const other of pods.values()) if (clash(ports, other.ports)) return true;
    return false;
  }
}

/** VolumeRestrictions, for disks that the pod names itself. */
export function diskFilters({ disks }: SchedulingPod): readonly Filter[] {
  if (disks.length === 0) return [];
  return [{ check: (place) => (isTaken(place) ? diskTaken : null) }];

  function isTaken({ hasVolumes, pods }: Place): boolean {
    if (!hasVolumes) return false;
    for (const other of pods.values()) if (disksClash(disks, other.disks)) return true;
    return false;
  }
}

/** NodeResourcesFit: what the node has too little of. */
export function resourceFilter({ requests }: SchedulingPod): Filter {
  const { cpu, memory, others } = requests;
  return {
    check: (place) => {
      const short: string[] = [];
      let isFinal = false;
      const ask = (name: string, wanted: number, used: number): void => {
        const offered = place.allocatable(name);
        if (wanted === 0 || wanted <= offered - used) return;
        short.push(`Insufficient ${name}`);
        if (wanted > offered) isFinal = true;
      };
      if (place.pods.size + 1 > place.allocatable('pods')) short.push('Too many pods');
      ask('cpu', cpu, place.cpu);
      ask('memory', memory, place.memory);
      for (const [name, wanted] of others) ask(name, wanted, place.others.get(name) ?? 0);
      return short.length === 0 ? null : resourceRejection(short, isFinal);
    },
  };
}

function resourceRejection(reasons: readonly string[], isFinal: boolean): Rejection {
  return { subject: 'resources', reasons, isFinal };
}
