import type { Command, Event, Pod, PodRef } from '@taintmgr/core';
import { isTakenOver } from '@taintmgr/core/policy';
import { foreignTaintManager, unknownUpstreamMark } from '@taintmgr/core/shadow';
import type { Machine } from '@taintmgr/k8s-adapter';

const upstream = 'kube-controller-manager';

/** Pods that another program than ours evicts for a taint. */
export interface ForeignEviction {
  readonly pod: PodRef;
  /** The program, as the API server names it, e.g. `kube-controller-manager`. */
  readonly manager: string;
  /** Why we had not evicted it although its time had come; null: it was not held back by us. */
  readonly heldBack: string | null;
  /** Whether its namespace was handed over to us. */
  readonly isTakenOver: boolean;
  /** The reason that it has written where we do not know it; null: the usual one. */
  readonly unknownReason: string | null;
}

/**
 * Looks at what the machine is told for pods that somebody else marks for deletion by a taint manager.
 * The mark says whose program wrote it, so evictions of our own are not taken for foreign ones: not
 * those of a replica that has just lost leadership, nor those of before a restart. A mark that was
 * there at the first list proves nothing about who evicts now.
 */
export class ForeignEvictions {
  #synced = false;
  /** Pods whose mark is known, by uid. */
  readonly #known = new Set<string>();
  /** Evictions that we have asked for, by command; and what holds pods back, by uid. */
  readonly #asked = new Map<string, string>();
  readonly #held = new Map<string, string>();
  /** The namespaces that were handed over. */
  readonly #takenOver = new Set<string>();
  /** Nodes with NoExecute taints: there an unknown mark of kube-controller-manager is one for a taint. */
  readonly #tainted = new Set<string>();
  readonly #onForeign: (eviction: ForeignEviction) => void;

  constructor(onForeign: (eviction: ForeignEviction) => void) {
    this.#onForeign = onForeign;
  }

  /** The machine, with what it is told and commands looked at in passing. */
  around(machine: Machine): Machine {
    return {
      nextWake: () => machine.nextWake(),
      handle: (now, event) => {
        this.#hear(event);
        const commands = machine.handle(now, event);
        for (const command of commands) this.#note(command);
        return commands;
      },
    };
  }

  #hear(event: Event): void {
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
        const { name, taints } = event.node;
        if (taints.some(({ effect }) => effect === 'NoExecute')) this.#tainted.add(name);
        else this.#tainted.delete(name);
        break;
      }
      case 'nodeDelete':
        this.#tainted.delete(event.name);
        break;
      case 'podUpsert':
        this.#look(event.pod);
        break;
      case 'podDelete':
        this.#known.delete(event.uid);
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

  #look(pod: Pod): void {
    const { namespace, name, uid, nodeName, disruption } = pod;
    const isTakenOver = this.#takenOver.has(namespace);
    const isSuspect = isTakenOver && this.#tainted.has(nodeName);
    const unknownReason = isSuspect ? unknownUpstreamMark(disruption) : null;
    const manager = foreignTaintManager(disruption) ?? (unknownReason && upstream);
    if (manager === null || this.#known.has(uid)) return;
    this.#known.add(uid);
    if (!this.#synced) return;
    const heldBack = this.#held.get(uid) ?? null;
    const ref = { namespace, name, uid, nodeName };
    this.#onForeign({ pod: ref, manager, heldBack, isTakenOver, unknownReason });
  }

  #note(command: Command): void {
    if (command.kind === 'evictPod') this.#asked.set(command.id, command.pod.uid);
  }
}
