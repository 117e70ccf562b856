import {
  type Command,
  type Event,
  type Node,
  type Pod,
  type PodRef,
  type Taint,
  toleratesTaint,
} from '@taintmgr/core';
import { type DeviceEvent, Devices } from '@taintmgr/core/devices';
import { isTaintReason, isTakenOver } from '@taintmgr/core/policy';
import {
  foreignDeviceTaintManager,
  foreignTaintManager,
  unknownUpstreamMark,
} from '@taintmgr/core/shadow';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Machine } from '@taintmgr/k8s-adapter';

const upstream = 'kube-controller-manager';

/** Pods that another program than ours evicts for a taint. */
export interface ForeignEviction {
  readonly pod: PodRef;
  /** The program, as the API server names it, e.g. `kube-controller-manager`. */
  readonly manager: string;
  /** The reason why we had not evicted it although its time had come; null: it was not held back by us. */
  readonly heldBack: string | null;
  /** True if its namespace was handed over to us. */
  readonly isTakenOver: boolean;
  /** True if it was for a taint of a device. */
  readonly isForDevice: boolean;
  /** The reason that it has written where we do not know it; null: the usual one. */
  readonly unknownReason: string | null;
}

/** The NoExecute taints of a node. */
interface Tainted {
  readonly taints: readonly Taint[];
  /** The time when the last of them was removed; null: they exist. */
  readonly goneAt: Instant | null;
}

/** Events of nodes and pods arrive in any order: for this long a removed taint still explains a mark. */
const goneMsMax: Millis = 60_000;
/**
 * The number of our newest marks that are remembered. The owner of a pod may delay its end without limit, and
 * pods of nodes that are no longer read are reported as gone.
 */
const oursMax = 10_000;

/**
 * Looks in the machine's events for pods that another program marks for deletion by a taint manager. The mark
 * names the program that wrote it, so our evictions are not taken for foreign ones, also after a lost
 * leadership or a restart. A mark that was there at the first list proves nothing about who evicts now. Any
 * client that may write the status of a pod can write such a mark, in any name: a mark on a pod that no taint
 * evicts proves nothing. Any client that may patch a pod, as most tenants may, can rewrite its managedFields
 * and so the name on a mark, but cannot make a mark. A mark that was ours, or had no author, proves nothing
 * about others.
 */
export class ForeignEvictions {
  #synced = false;
  /** Pods whose mark is known, by uid. */
  readonly #known = new Set<string>();
  /** Pods with a mark of ours, by uid, in the order in which the marks were first seen. */
  readonly #ours = new Set<string>();
  /** Evictions that we have asked for, by command; and what holds pods back, by uid. */
  readonly #asked = new Map<string, string>();
  readonly #held = new Map<string, string>();
  /** The namespaces that were handed over. */
  readonly #takenOver = new Set<string>();
  /** Nodes with NoExecute taints: there an unknown mark of kube-controller-manager is one for a taint. */
  readonly #tainted = new Map<string, Tainted>();
  /** The known devices; null: none were reported. */
  #devices: Devices | null = null;
  /** Marked pods that no taint explains so far, by uid. */
  readonly #unexplained = new Map<string, Pod>();
  readonly #onForeign: (eviction: ForeignEviction) => void;

  constructor(onForeign: (eviction: ForeignEviction) => void) {
    this.#onForeign = onForeign;
  }

  /** Returns the machine, and looks at its events and commands in passing. */
  around(machine: Machine): Machine {
    return {
      nextWake: () => machine.nextWake(),
      handle: (now, event) => {
        this.#hear(now, event);
        const commands = machine.handle(now, event);
        for (const command of commands) this.#note(command);
        return commands;
      },
    };
  }

  #hear(now: Instant, event: Event): void {
    switch (event.kind) {
      case 'synced':
        this.#synced = true;
        break;
      case 'namespaceUpsert': {
        const { name, labels } = event.namespace;
        if (isTakenOver(labels)) this.#takenOver.add(name);
        else this.#takenOver.delete(name);
        break;
      }
      case 'namespaceDelete':
        this.#takenOver.delete(event.name);
        break;
      case 'nodeUpsert': {
        this.#taint(now, event.node);
        break;
      }
      case 'nodeDelete':
        this.#tainted.delete(event.name);
        break;
      case 'resourceSliceUpsert':
      case 'resourceSliceDelete':
      case 'deviceTaintRuleUpsert':
      case 'deviceTaintRuleDelete':
      case 'resourceClaimUpsert':
      case 'resourceClaimDelete':
        this.#hearOfDevices(event);
        break;
      case 'podUpsert':
        this.#look(now, event.pod);
        this.#lookForDevices(event.pod);
        break;
      case 'podDelete':
        this.#known.delete(event.uid);
        this.#unexplained.delete(event.uid);
        this.#held.delete(event.uid);
        break;
      case 'result': {
        const uid = this.#asked.get(event.id);
        this.#asked.delete(event.id);
        const { outcome } = event;
        if (uid === undefined) break;
        if (outcome.kind === 'blocked') this.#held.set(uid, outcome.message);
        else this.#held.delete(uid);
        break;
      }
      default:
    }
  }

  #taint(now: Instant, { name, taints }: Pick<Node, 'name' | 'taints'>): void {
    const executing = taints.filter(({ effect }) => effect === 'NoExecute');
    const before = this.#tainted.get(name);
    if (executing.length > 0) {
      this.#tainted.set(name, { taints: executing, goneAt: null });
      for (const pod of this.#unexplained.values()) {
        if (pod.nodeName === name) this.#look(now, pod);
      }
    } else if (before?.goneAt === null) this.#tainted.set(name, { ...before, goneAt: now });
    else if (before && now - (before.goneAt ?? now) > goneMsMax) this.#tainted.delete(name);
  }

  /** The taint that evicts a marked pod may be reported after the mark. */
  #hearOfDevices(event: DeviceEvent): void {
    this.#devices ??= new Devices();
    this.#devices.handle(event);
    for (const pod of this.#unexplained.values()) {
      if (pod.claims) this.#lookForDevices(pod);
    }
  }

  #lookForDevices(pod: Pod): void {
    const { namespace, name, uid, nodeName, disruption, claims } = pod;
    if (!claims || this.#known.has(uid) || this.#ours.has(uid)) return;
    const manager = foreignDeviceTaintManager(disruption);
    if (manager === null) return;
    if ((this.#devices?.verdictOf(pod).at ?? null) === null) {
      this.#unexplained.set(uid, pod);
      return;
    }
    this.#unexplained.delete(uid);
    this.#known.add(uid);
    if (!this.#synced) return;
    const ref = { namespace, name, uid, nodeName };
    const isTakenOver = this.#takenOver.has(namespace);
    const what = { isTakenOver, isForDevice: true, heldBack: null, unknownReason: null };
    this.#onForeign({ pod: ref, manager, ...what });
  }

  #look(now: Instant, pod: Pod): void {
    const { namespace, name, uid, nodeName, disruption } = pod;
    if (disruption === undefined || this.#known.has(uid) || this.#ours.has(uid)) return;
    if (isTaintReason(disruption.reason) && foreignTaintManagerOf(disruption) === null) {
      this.#keepOurs(uid);
      return;
    }
    const isTakenOver = this.#takenOver.has(namespace);
    const taints = this.#taintsOf(now, nodeName);
    const isSuspect = isTakenOver && taints.length > 0;
    const unknownReason = isSuspect ? unknownUpstreamMark(disruption) : null;
    const manager = foreignTaintManager(disruption) ?? (unknownReason && upstream);
    if (manager === null) return;
    if (this.#synced && !taints.some((taint) => hasToGo(pod, taint))) {
      this.#unexplained.set(uid, pod);
      return;
    }
    this.#unexplained.delete(uid);
    this.#known.add(uid);
    if (!this.#synced) return;
    const heldBack = this.#held.get(uid) ?? null;
    const ref = { namespace, name, uid, nodeName };
    const what = { heldBack, isTakenOver, isForDevice: false, unknownReason };
    this.#onForeign({ pod: ref, manager, ...what });
  }

  #keepOurs(uid: string): void {
    this.#ours.add(uid);
    const [oldest] = this.#ours;
    if (this.#ours.size > oursMax && oldest !== undefined) this.#ours.delete(oldest);
  }

  #taintsOf(now: Instant, nodeName: string): readonly Taint[] {
    const { taints = [], goneAt = null } = this.#tainted.get(nodeName) ?? {};
    return goneAt !== null && now - goneAt > goneMsMax ? [] : taints;
  }

  #note(command: Command): void {
    if (command.kind === 'evictPod') this.#asked.set(command.id, command.pod.uid);
  }
}

function foreignTaintManagerOf(disruption: Pod['disruption']): string | null {
  return foreignTaintManager(disruption) ?? foreignDeviceTaintManager(disruption);
}

/** Tells if kube-controller-manager evicts a pod for a taint, now or later. */
function hasToGo({ tolerations }: Pod, taint: Taint): boolean {
  const options = { comparisonOperators: true };
  const deciding = tolerations.find((toleration) => toleratesTaint(toleration, taint, options));
  return deciding === undefined || deciding.tolerationSeconds !== null;
}
