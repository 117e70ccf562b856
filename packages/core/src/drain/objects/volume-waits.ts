// Lets the pods of a StatefulSet go one after the other, each when the volumes of the last are detached.

import { isUncertain } from '../../attempt/blocker.ts';
import { isSetback, type Outcome } from '../../attempt/outcome.ts';
import type { RecordPodEvent } from '../../attempt/pod-command.ts';
import type { Reason } from '../../eviction/reason.ts';
import { Schedule } from '../../kernel/schedule.ts';
import { earliest, formatDeadline, type Instant } from '../../kernel/time.ts';
import { type Pod, type PodRef, podRef } from '../../model/pod.ts';
import type { NodeDrain, WaitDetached } from '../../policy/node-drain.ts';
import type { StoreView } from '../../store.ts';
import { skipAt } from '../fate.ts';
import type { PodGate } from '../pod-gate.ts';
import type { AskForDrain, DrainQuestion } from './command.ts';
import { type Known, Questions } from './questions.ts';

/** What these waits go by. */
export interface VolumeSite {
  readonly store: StoreView;
  /** Is asked when no volume holds a pod. */
  readonly gate: PodGate;
  /** Begins the id of every command. */
  readonly prefix: string;
  /** The nodes whose turn has come, those that are done with too. */
  readonly nodes: () => readonly string[];
  readonly skipTerminatingMs: number | null;
  /** What another leader has found to wait, by the cluster's clock. */
  readonly known: NodeDrain['volumeWaits'];
}

type Asked = Extract<DrainQuestion, { kind: 'volumes' }>;

/**
 * Whether volumes are detached is asked anew for each pod, of the cluster as it is: a volume of the set
 * is on one of our nodes, and the pod that had it is not. So a leader that begins anew waits for what
 * another one has begun, and since when that one did, by the status. What nobody knows is as good as attached.
 */
export class VolumeWaits implements PodGate {
  readonly #wait: WaitDetached;
  readonly #site: VolumeSite;
  readonly #questions: Questions;
  /** Pods whose eviction was asked for, and not refused, by uid. */
  readonly #sent = new Map<string, PodRef>();
  /** The pod of each set that was sent last: its volumes are looked for on its node by name. */
  readonly #left = new Map<string, PodRef>();
  /** When the time of a set that waits is over. */
  readonly #ends = new Map<string, Instant>();
  readonly #timeouts = new Schedule();
  /** What this tick has asked about. */
  #asked = new Set<string>();
  /** The pods of each set on our nodes; null: not looked at since the last tick. */
  #members: Map<string, Pod[]> | null = null;
  #late: RecordPodEvent<Reason>[] = [];
  /** Pods that went though volumes were still attached. */
  readonly #reported = new Set<string>();

  constructor(wait: WaitDetached, site: VolumeSite) {
    this.#wait = wait;
    this.#site = site;
    this.#questions = new Questions(site.prefix, (wall) => site.store.clock.when(wall));
    for (const { statefulSet, since } of site.known) {
      this.#ends.set(statefulSet, site.store.clock.when(since) + wait.timeout);
    }
  }

  /** The sets that wait, and since when. */
  get waits(): readonly { readonly statefulSet: string; readonly since: Instant }[] {
    return Array.from(this.#ends, ([statefulSet, end]) => {
      return { statefulSet, since: end - this.#wait.timeout };
    });
  }

  holdOf(now: Instant, pod: Pod): string | null {
    const set = setOf(pod);
    const hold = set === null ? null : this.#volumesHold(now, pod, set);
    return hold ?? this.#site.gate.holdOf(now, pod);
  }

  sent(now: Instant, pod: Pod): void {
    this.#site.gate.sent(now, pod);
    const set = setOf(pod);
    if (set === null) return;
    this.#sent.set(pod.uid, podRef(pod));
    this.#left.set(set, podRef(pod));
    this.#forgetTime(set);
  }

  answered(uid: string, outcome: Outcome): void {
    this.#site.gate.answered(uid, outcome);
    if (isSetback(outcome) && !isUncertain(outcome)) this.#sent.delete(uid);
  }

  /** The questions that are to be asked now, and what people are to know. */
  take(now: Instant): readonly (Omit<AskForDrain, 'drain'> | RecordPodEvent<Reason>)[] {
    while (this.#timeouts.takeDue(now) !== null);
    this.#members = null;
    this.#questions.keep(this.#asked);
    this.#asked = new Set();
    const events = this.#late;
    this.#late = [];
    const questions = Array.from(this.#questions.takeDue(now), ({ id, question }) => {
      return { kind: 'askForDrain', id, question } as const;
    });
    return [...events, ...questions];
  }

  settle(now: Instant, id: string, outcome: Outcome): void {
    this.#questions.answered(now, id, outcome);
  }

  nextWake(): Instant | null {
    return earliest([this.#questions.nextWake(), this.#timeouts.next()]);
  }

  #volumesHold(now: Instant, pod: Pod, set: string): string | null {
    const others = this.#membersOf(set).filter(({ uid }) => uid !== pod.uid);
    const leaving = others.find((one) => this.#isLeaving(now, one));
    if (leaving) return `waits for pod ${leaving.name} of its StatefulSet to be gone`;
    const known = this.#known(now, pod, set, others);
    if (known.kind === 'yes') {
      this.#forgetTime(set);
      return null;
    }
    const what =
      known.kind === 'no'
        ? `waits for ${known.message}`
        : `waits to hear whether volumes of its StatefulSet are detached: ${known.message}`;
    return this.#untilLate(now, pod, set, what);
  }

  /** The hold in words with its time; null: that is over, and the pod goes. */
  #untilLate(now: Instant, pod: Pod, set: string, what: string): string | null {
    const { timeout, onTimeout } = this.#wait;
    const goesOn = onTimeout === 'GoOn';
    const end = this.#ends.get(set) ?? now + timeout;
    this.#ends.set(set, end);
    const time = formatDeadline(this.#site.store.clock.wall(end));
    if (now < end) {
      this.#timeouts.set(set, end);
      return goesOn ? `${what}; it goes all the same at ${time}` : what;
    }
    if (!goesOn) return `${what}; its time was over at ${time}`;
    this.#report(pod, what);
    return null;
  }

  #report(pod: Pod, what: string): void {
    if (this.#reported.has(pod.uid)) return;
    this.#reported.add(pod.uid);
    this.#late.push({
      ...{ kind: 'recordEvent', pod: podRef(pod), type: 'Warning', because: [] },
      reason: 'VolumesNotDetached',
      message: `${what}: its time is over, and the pod goes all the same`,
    });
  }

  #known(now: Instant, pod: Pod, set: string, others: readonly Pod[]): Known {
    const left = this.#left.get(set);
    const isGone = left !== undefined && left.uid !== pod.uid && !this.#site.store.pod(left.uid);
    const question: Asked = {
      kind: 'volumes',
      namespace: pod.namespace,
      statefulSet: pod.owner?.name ?? '',
      nodes: this.#site.nodes(),
      staying: [pod, ...others].map(({ name }) => name).sort(),
      left: isGone ? { pod: left.name, node: left.nodeName } : null,
    };
    const key = JSON.stringify(question);
    this.#asked.add(key);
    return this.#questions.known(now, key, question);
  }

  /** Whether it is about to go: the volumes that it has are not free before. */
  #isLeaving(now: Instant, pod: Pod): boolean {
    if (pod.deletionTimestamp === null) return this.#sent.has(pod.uid);
    const at = skipAt(pod, this.#site, this.#site.store.clock);
    return at === null || now < at;
  }

  #membersOf(set: string): readonly Pod[] {
    this.#members ??= this.#readMembers();
    return this.#members.get(set) ?? [];
  }

  #readMembers(): Map<string, Pod[]> {
    const { store, nodes } = this.#site;
    const members = new Map<string, Pod[]>();
    for (const pod of nodes().flatMap((name) => [...store.podsOn(name)])) {
      const set = setOf(pod);
      if (set !== null) members.set(set, [...(members.get(set) ?? []), pod]);
    }
    return members;
  }

  #forgetTime(set: string): void {
    this.#ends.delete(set);
    this.#timeouts.cancel(set);
  }
}

/** `namespace/name` of its StatefulSet; null: it is of none. */
function setOf({ namespace, owner }: Pod): string | null {
  const isOfSet = owner?.kind === 'StatefulSet' && owner.apiVersion.startsWith('apps/');
  return isOfSet ? `${namespace}/${owner.name}` : null;
}
