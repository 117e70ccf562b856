// Sends the pods of a drain whose turn it is, as far as there is room, and says what holds the others.
import { earlier, type Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import type { StoreView } from '../store.ts';
import type { DrainConfig } from './config.ts';
import { holdOn } from './holds.ts';
import type { DrainNodes } from './nodes.ts';
import { openGate, type PodGate } from './pod-gate.ts';
import type { DrainPods } from './pods.ts';
import { countUnderWay, heldUpMs, isNodeHeldUp, podsInTurn, type Queue } from './queue.ts';
import type { DrainRequests, PodRequest } from './requests.ts';
import { type DrainPod, outOfTurn } from './state.ts';

const noLimit = Number.POSITIVE_INFINITY;

/** What turns are about. */
interface TurnSite {
  readonly store: StoreView;
  readonly nodes: DrainNodes;
  readonly pods: DrainPods;
  readonly gate: PodGate;
  readonly requests: DrainRequests;
}

/** The turns of pods that are due: their order, their number at a time, and what holds each. */
export class PodTurns {
  readonly #config: DrainConfig;
  readonly #site: TurnSite;
  /** When the first pod for which there was no place may have one; null: not before an answer. */
  #placeAt: Instant | null = null;

  constructor(config: DrainConfig, site: TurnSite) {
    this.#config = config;
    this.#site = site;
  }

  /** When a pod for which there was no place may go after all; null: not before an event. */
  nextWake(): Instant | null {
    return this.#placeAt;
  }

  /** Sends what is due on the nodes whose turn it is, the longest due first, as far as there is room. */
  dispatch(now: Instant): readonly PodRequest[] {
    const { podsAtOnceMax } = this.#config;
    const { nodes, requests, store } = this.#site;
    const queue = this.#queue(now);
    const isPending = (name: string): boolean => nodes.phases.isPending(name);
    let room = podsAtOnceMax === 0 ? noLimit : podsAtOnceMax - countUnderWay(now, queue, isPending);
    const commands: PodRequest[] = [];
    this.#placeAt = null;
    const isFull = new Set<string>();
    for (const waiting of podsInTurn(nodes.phases.list(), queue)) {
      if (room <= 0) break;
      const { namespace } = waiting.pod;
      if (isFull.has(namespace)) continue;
      const placeAt = requests.roomAt(namespace);
      if (placeAt === null || placeAt > now) {
        this.#placeAt = earlier(this.#placeAt, placeAt);
        isFull.add(namespace);
        continue;
      }
      const pod = store.pod(waiting.pod.uid);
      if (!pod || this.#isHeldBack(now, pod, waiting)) continue;
      commands.push(...requests.send(now, pod, waiting));
      room -= 1;
    }
    return commands;
  }

  /** What held a pod when its turn came, if it does so still. */
  stillOn(now: Instant, pod: Pod): DrainPod['hold'] {
    const { gate, nodes, pods } = this.#site;
    const hold = pods.get(pod.uid)?.hold ?? null;
    // The gate may ask others for the pod: not while it must not go.
    const mayGo = nodes.mayEvict(now, pod.nodeName);
    const found = hold && this.#holdOn(now, pod, mayGo ? gate : openGate);
    return hold && found ? { ...hold, message: found.message } : null;
  }

  /** The nodes on which nothing is left but what is held up. */
  heldUpNodes(now: Instant): ReadonlySet<string> {
    if (this.#config.heldUpNodesMax === 0) return new Set();
    const nodes = this.#site.nodes.phases.list().filter(({ phase }) => phase.kind === 'draining');
    const heldUp = nodes.filter(({ name }) => isNodeHeldUp(now, name, this.#queue(now)));
    return new Set(heldUp.map(({ name }) => name));
  }

  /** Whether something holds a pod whose turn it is. */
  #isHeldBack(now: Instant, pod: Pod, known: DrainPod): boolean {
    const found = this.#holdOn(now, pod, this.#site.gate);
    if (found === null) return false;
    const { pods } = this.#site;
    const { message, until } = found;
    const since = known.hold?.since ?? now;
    const state = until === null ? outOfTurn : ({ kind: 'waiting', since: now, until } as const);
    pods.put(pod, state, { hold: { message, since } });
    // Then its node leaves its place to others.
    const heldUp = since + heldUpMs;
    if (heldUp > now && heldUp < (until ?? noLimit)) pods.schedule.set(pod.uid, heldUp);
    return true;
  }

  #holdOn(now: Instant, pod: Pod, gate: PodGate): ReturnType<typeof holdOn> {
    const { store, nodes } = this.#site;
    const begunAt = nodes.phases.begunAt(pod.nodeName);
    const { waitCompleted: wait, heeds } = this.#config;
    return holdOn(now, pod, { store, begunAt, wait, gate, heeds });
  }

  #queue(now: Instant): Queue {
    const { nodes, pods, store } = this.#site;
    const mayEvict = (name: string): boolean => nodes.mayEvict(now, name);
    return { pods, store, order: this.#config.podOrder, mayEvict };
  }
}
