// Sees pods leave their nodes: those that this controller evicts by its own acts, all others by what the pods show.
import {
  blockerOf,
  type Event,
  formatTaint,
  type Node,
  type Outcome,
  type Pod,
  type PodReport,
  type Reason,
  type Taint,
  toleratesTaint,
} from '@taintmgr/core';
import { formatDevice } from '@taintmgr/core/devices';
import { limitId } from '@taintmgr/core/policy';
import { earliest, type Instant, type Millis } from '@taintmgr/core/time';
import type {
  DeadlineMove,
  Departure,
  DepartureTaint,
  Evictor,
  EvictorKind,
  Gap,
  Refusal,
} from '../../history/departure.ts';
import type { JsonRecord } from '../../proto/json.ts';
import type { EngineNotice } from '../procedures/engine.ts';
import type { Removal } from '../procedures/pod-removal.ts';
import { OpenDepartures } from './open-departures.ts';
import { Successors } from './successors.ts';

/** A witness as its keeper asks it. */
export type KeptWitness = Pick<
  Witness,
  'leader' | 'nextDue' | 'take' | 'unwritten' | 'adopt' | 'forgetWritten' | 'sweep'
>;

/** All that is known of an eviction of ours before its first answer. */
interface Plan {
  readonly decidedAt?: Instant;
  readonly deadline?: Instant;
  readonly moves: readonly DeadlineMove[];
  readonly askedAt?: Instant;
}

/** Plans of pods that no program evicts are forgotten, the earliest first. */
const plansMax = 50_000;
/** Of many moves the first and the latest are kept, and of many refusals those of the latest words. */
const movesMax = 10;
const refusalsMax = 5;
const wordsLengthMax = 300;
/**
 * Departures by others that no taint explains, of one namespace within the time: any client that
 * may evict there can cause them.
 */
const othersMax = 1_000;
const othersMs: Millis = 3_600_000;
/**
 * The number of those left out is written with other lines, at the latest this long after the
 * first.
 */
const leftOutMsMax: Millis = 60_000;

/**
 * Recorded is each pod that this controller asks to leave, each pod that leaves with a condition DisruptionTarget,
 * and each pod that is deleted without one while its node has a NoExecute taint or is cordoned. Pods that have
 * finished, and mirrors of static pods, are not. `now` is the time on the cluster's clock.
 */
export class Witness {
  readonly #pods = new Map<string, Pod>();
  readonly #nodes = new Map<string, Node>();
  /** Who has set a taint, by node and taint. */
  readonly #setBy = new Map<string, ReadonlyMap<string, string>>();
  readonly #plans = new Map<string, Plan>();
  readonly #open = new OpenDepartures();
  readonly #successors = new Successors(this.#open);
  readonly #others: OtherDepartures;
  #synced = false;
  #isAllWatched = true;
  #sweptAt: Instant = Number.NEGATIVE_INFINITY;
  readonly leader: string;

  constructor(leader: string) {
    this.leader = leader;
    this.#others = new OtherDepartures(leader);
  }

  hear(now: Instant, event: Event): void {
    switch (event.kind) {
      case 'synced':
        this.#synced = true;
        break;
      case 'nodeUpsert':
        this.#seeNode(event.node, event.afterGap === true);
        break;
      case 'nodeDelete':
        this.#nodes.delete(event.name);
        this.#setBy.delete(event.name);
        break;
      case 'podUpsert':
        this.#seePod(now, event.pod);
        break;
      case 'podDelete':
        this.#seeGone(now, event.uid);
        break;
      case 'podViews':
        this.#isAllWatched = event.others === 'watched';
        break;
      default: // of no pod
    }
  }

  observe(now: Instant, notice: EngineNotice): void {
    switch (notice.kind) {
      case 'report':
        if ('pod' in notice.report) this.#follow(now, notice.report as PodReport);
        break;
      case 'commandSent':
        this.#ask(now, notice.command);
        break;
      case 'commandFinished':
        this.#answer(now, notice.command, notice.outcome);
        break;
      default: // of no eviction
    }
  }

  /** When lines are due, -Infinity: at once; null: none are. */
  nextDue(): Instant | null {
    return earliest([this.#open.nextDue(), this.#others.nextDue()]);
  }

  /** The lines that are due; `all`: also those that wait for more. */
  take(now: Instant, all = false): readonly (JsonRecord | Gap)[] {
    return [...this.#others.take(), ...this.#open.take(now, all)];
  }

  unwritten(): readonly JsonRecord[] {
    return [...this.#others.untold().map((gap) => ({ ...gap })), ...this.#open.unwritten()];
  }

  /** Continues the departures that leaders before us have written. */
  adopt(now: Instant, written: Iterable<Departure>): void {
    for (const departure of written) {
      const isGone = departure.goneAt !== undefined || departure.foundGoneAt !== undefined;
      this.#open.adopt(now, departure);
      const known = this.#open.get(departure.uid);
      if (!known) continue;
      const isMissing = !isGone && this.#isAllWatched && !this.#pods.has(departure.uid);
      if (isMissing && known.goneAt === undefined)
        this.#open.put(now, { ...known, foundGoneAt: now });
      this.#successors.expect(known);
    }
  }

  /** Takes nothing for written any more: it is unknown whether it was stored. */
  forgetWritten(): void {
    this.#open.forgetWritten();
  }

  sweep(now: Instant, leads: boolean): void {
    if (now - this.#sweptAt < sweepMs) return;
    this.#sweptAt = now;
    this.#open.sweep(now, leads);
    // The leader has kept the departures that a standby has left out.
    if (!leads) this.#others.take();
  }

  #seeNode(node: Node, afterGap: boolean): void {
    const { name, taints, taintsWrittenBy, taintsWrittenAt = null } = node;
    const before = this.#nodes.get(name);
    this.#nodes.set(name, node);
    if (taints.length === 0) {
      this.#setBy.delete(name);
      return;
    }
    const known = this.#setBy.get(name);
    const setBy = new Map<string, string>();
    for (const taint of taints) {
      const text = formatTaint(taint);
      const by = known?.get(text);
      const isNew =
        !before || afterGap ? isOfWrite(taint, taintsWrittenAt) : !hasTaint(before, text);
      if (by !== undefined) setBy.set(text, by);
      else if (isNew && taintsWrittenBy !== undefined) setBy.set(text, taintsWrittenBy);
    }
    this.#setBy.set(name, setBy);
  }

  #seePod(now: Instant, pod: Pod): void {
    const before = this.#pods.get(pod.uid);
    this.#pods.set(pod.uid, pod);
    const known = this.#open.get(pod.uid);
    if (known) this.#seeMore(now, known, pod);
    else if (isLeaving(pod) && !(before && isLeaving(before))) this.#seeLeave(now, pod, before);
    this.#successors.see(now, pod, before);
  }

  #seeMore(now: Instant, known: Departure, { deletionTimestamp, disruption }: Pod): void {
    const isNews = deletionTimestamp !== null && known.deletionTimestamp === undefined;
    const { by } = known;
    const isNamed = disruption !== undefined && by.source === 'deletion';
    if (!isNews && !isNamed) return;
    this.#open.put(now, {
      ...known,
      ...(deletionTimestamp !== null && { deletionTimestamp }),
      ...(isNamed && { by: evictorOf(disruption) }),
    });
  }

  #seeGone(now: Instant, uid: string): void {
    const pod = this.#pods.get(uid);
    this.#pods.delete(uid);
    this.#plans.delete(uid);
    const isSure = this.#isAllWatched || (pod !== undefined && pod.deletionTimestamp !== null);
    if (!pod || !isSure) return;
    if (!this.#open.get(uid) && !isLeaving(pod)) this.#seeLeave(now, pod, pod);
    const known = this.#open.get(uid);
    if (known && known.goneAt === undefined) this.#open.put(now, { ...known, goneAt: now });
  }

  /** Another program makes it leave, or a leader before us. */
  #seeLeave(now: Instant, pod: Pod, before: Pod | undefined): void {
    const { disruption, nodeName, phase, deletionTimestamp, mirror } = pod;
    // A pod that the kubelet has evicted stays as failed for days.
    const isOver = phase === 'Succeeded' || (phase === 'Failed' && (!disruption || !this.#synced));
    if (nodeName === '' || mirror || isOver || isFinished(before)) return;
    const node = this.#nodes.get(nodeName);
    const taint = this.#decidingTaint(node, pod);
    const isOnBadNode = node === undefined || node.unschedulable === true || hasExecuting(node);
    if (!disruption && !isOnBadNode) return;
    const by = evictorOf(disruption);
    const isExplained = by.kind === 'taintManager' && taint !== null;
    if (!isExplained && !this.#others.hasRoom(now, pod.namespace)) return;
    this.#begin(now, pod, {
      by,
      ...(by.kind === 'taintManager' && taint && { taint }),
      ...(deletionTimestamp !== null && { deletionTimestamp }),
    });
  }

  /** The only NoExecute taint that the pod does not tolerate for ever; null: there is none, or several. */
  #decidingTaint(node: Node | undefined, { tolerations }: Pod): DepartureTaint | null {
    const options = { comparisonOperators: true };
    const deciding = (node?.taints ?? []).filter((taint) => {
      if (taint.effect !== 'NoExecute') return false;
      const found = tolerations.find((toleration) => toleratesTaint(toleration, taint, options));
      return found === undefined || found.tolerationSeconds !== null;
    });
    const [taint, ...more] = deciding;
    return taint && node && more.length === 0 ? this.#taintOf(node.name, taint) : null;
  }

  #taintOf(nodeName: string, taint: Taint): DepartureTaint {
    const { key, value, effect, timeAdded } = taint;
    const setBy = this.#setBy.get(nodeName)?.get(formatTaint(taint));
    return {
      ...{ key, value, effect },
      ...(timeAdded !== null && { since: timeAdded, sinceBy: 'timeAdded' }),
      ...(setBy !== undefined && { setBy }),
    };
  }

  #begin(
    now: Instant,
    { namespace, name: pod, uid, nodeName: node, owner }: RecordedPod,
    said: Partial<Departure> & Pick<Departure, 'by'>,
  ): void {
    const departure: Departure = {
      ...{ namespace, pod, uid, seenAt: now, ...said },
      ...(node !== '' && { node }),
      ...(owner && isShort(owner) && { owner: { kind: owner.kind, name: owner.name } }),
    };
    this.#open.put(now, departure);
    this.#successors.expect(departure);
  }

  #follow(now: Instant, report: PodReport): void {
    const { uid } = report.pod;
    if (report.kind === 'retry') return;
    const known = this.#open.get(uid);
    const isFirst = !known && !this.#plans.has(uid);
    const move =
      report.kind === 'queued' ? heldMove(now, report) : deadlineMove(now, report, isFirst);
    if (known) {
      const isOver = known.answeredAt !== undefined || known.deletionTimestamp !== undefined;
      if (!isOver && move) this.#open.put(now, { ...known, moves: withMove(known.moves, move) });
      return;
    }
    const plan = this.#plans.get(uid) ?? { moves: [] };
    if (report.kind === 'deadline' && report.to === null && report.cause !== 'Paused') {
      this.#plans.delete(uid);
      return;
    }
    const deadline = report.kind === 'deadline' ? report.to : null;
    this.#plans.set(uid, {
      ...{ decidedAt: now, ...plan },
      ...(deadline !== null && { deadline }),
      ...(move && { moves: withMove(plan.moves, move) }),
    });
    const [oldest] = this.#plans.keys();
    if (this.#plans.size > plansMax && oldest !== undefined) this.#plans.delete(oldest);
  }

  #ask(now: Instant, { pod: { uid } }: Removal): void {
    const plan = this.#plans.get(uid) ?? { moves: [] };
    if (plan.askedAt === undefined) this.#plans.set(uid, { ...plan, askedAt: now });
  }

  #answer(now: Instant, command: Removal, outcome: Outcome): void {
    const { uid } = command.pod;
    if (outcome.kind === 'changed' || outcome.kind === 'gone') return;
    const refusal = outcome.kind === 'done' ? null : refusalOf(now, outcome);
    if (!this.#isOurs(uid)) this.#beginOurs(now, command);
    const known = this.#open.get(uid);
    if (!known) return;
    const way = command.kind === 'evictPod' ? 'eviction' : 'delete';
    if (!refusal) this.#open.put(now, { ...known, way, answeredAt: known.answeredAt ?? now });
    else {
      const refusals = withRefusal(known.refusals, refusal);
      this.#open.put(now, { ...known, way, refusals }, !isNewsworthy(refusals, refusal));
    }
    if (!refusal) this.#plans.delete(uid);
  }

  #isOurs(uid: string): boolean {
    return this.#open.get(uid)?.by.source === 'ownAct';
  }

  /** Keeps the facts that were seen of the pod before the answer came. */
  #beginOurs(now: Instant, { pod, because: [decisive], ...command }: Removal): void {
    const { moves = [], ...plan } = this.#plans.get(pod.uid) ?? {};
    const before = this.#open.get(pod.uid);
    const isOfDrain = 'ofDrain' in command && command.ofDrain === true;
    const said: Partial<Departure> & Pick<Departure, 'by'> = {
      ...before,
      ...(decisive && this.#said(pod.nodeName, decisive)),
      ...plan,
      ...(moves.length > 0 && { moves }),
      by: isOfDrain
        ? this.#drainOf(pod.nodeName, decisive)
        : { kind: 'taintmgr', source: 'ownAct' },
    };
    const owner = this.#pods.get(pod.uid)?.owner ?? null;
    if (before) this.#open.put(now, { ...before, ...said });
    else this.#begin(now, { ...pod, owner }, said);
  }

  #said(nodeName: string, reason: Reason): Partial<Departure> {
    if (!('taint' in reason)) return {};
    const { taint } = reason;
    const of = this.#taintOf(nodeName, taint);
    const isTimed = 'start' in reason;
    const device = 'device' in reason ? reason.device : undefined;
    const policy = 'policy' in reason ? reason.policy : undefined;
    return {
      taint: {
        ...of,
        ...(isTimed && { since: reason.start, sinceBy: reason.startSource }),
        ...(device && { device: formatDevice(device.device) }),
      },
      ...(policy && { policy: policy.name }),
      ...(isTimed && { deadline: reason.deadline }),
    };
  }

  /** The command does not name it; the marks on the node do. */
  #drainOf(nodeName: string, reason: Reason | undefined): Evictor {
    const taint = reason && 'taint' in reason ? formatTaint(reason.taint) : '';
    const marks = this.#nodes.get(nodeName)?.drainMarks ?? [];
    const [mark, ...more] = marks.filter((one) => one.taint === taint);
    const name = mark && more.length === 0 ? { drain: mark.id } : {};
    return { kind: 'drain', source: 'ownAct', ...name };
  }
}

const sweepMs: Millis = 60_000;

type RecordedPod = Pick<Pod, 'namespace' | 'name' | 'uid' | 'nodeName' | 'owner'>;

const reasons: Readonly<Record<string, EvictorKind>> = {
  DeletionByTaintManager: 'taintManager',
  DeletionByDeviceTaintManager: 'deviceTaints',
  EvictionByEvictionAPI: 'evictionApi',
  PreemptionByScheduler: 'preemption',
  TerminationByKubelet: 'kubelet',
  DeletionByPodGC: 'podGc',
};

function evictorOf(disruption: Pod['disruption']): Evictor {
  if (!disruption) return { kind: 'unknown', source: 'deletion' };
  const { reason: whole, manager } = disruption;
  const reason = whole.slice(0, wordsLengthMax);
  const kind = Object.hasOwn(reasons, reason) ? (reasons[reason] ?? 'unknown') : 'unknown';
  return { kind, source: 'condition', reason, ...(manager !== null && { manager }) };
}

/**
 * Tells whether kind and name are no longer than the API server has them. In metadata.ownerReferences it takes any
 * length: a few pods whose owners are made up would take the room of all other departures.
 */
function isShort({ kind, name }: NonNullable<RecordedPod['owner']>): boolean {
  return kind.length <= 63 && name.length <= 253;
}

function isLeaving({ deletionTimestamp, disruption, phase }: Pod): boolean {
  return deletionTimestamp !== null || (disruption !== undefined && phase === 'Failed');
}

function isFinished(pod: Pod | undefined): boolean {
  return pod?.phase === 'Succeeded' || pod?.phase === 'Failed';
}

function hasExecuting({ taints }: Node): boolean {
  return taints.some(({ effect }) => effect === 'NoExecute');
}

function hasTaint({ taints }: Node, text: string): boolean {
  return taints.some((taint) => formatTaint(taint) === text);
}

/** Between the time that a program writes into a taint and when the API server has it. */
const writeMsMax: Millis = 5_000;

/** Tells whether the last write of the taints may have put this one on. */
function isOfWrite({ timeAdded }: Taint, writtenAt: Instant | null): boolean {
  return timeAdded === null || writtenAt === null || Math.abs(writtenAt - timeAdded) <= writeMsMax;
}

type ReportOf<K extends PodReport['kind']> = Extract<PodReport, { kind: K }>;

/** Null: it is the first deadline, and none moved. */
function deadlineMove(
  at: Instant,
  { from, to, cause: why, because: [decisive] }: ReportOf<'deadline'>,
  isFirst: boolean,
): DeadlineMove | null {
  if (from === null && isFirst) return null;
  const words = decisive ? wordsOf(decisive) : null;
  return {
    at,
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    ...{ why, ...(words !== null && { words }) },
  };
}

function wordsOf(reason: Reason): string | null {
  if (reason.code === 'Paused') return reason.pause;
  return 'policy' in reason && reason.policy ? reason.policy.name : null;
}

function heldMove(at: Instant, { hit, until }: ReportOf<'queued'>): DeadlineMove {
  const words = `${limitId(hit)} ${hit.limit}`;
  return { at, ...(until !== null && { to: until }), why: 'Limit', words };
}

/** A limit that holds a pod again and again is one move. */
function withMove(
  moves: readonly DeadlineMove[] | undefined = [],
  move: DeadlineMove,
): readonly DeadlineMove[] {
  const last = moves.at(-1);
  const isSame = move.why === 'Limit' && last?.why === 'Limit' && last.words === move.words;
  const before = isSame ? moves.slice(0, -1) : moves;
  const all = [...before, isSame && last ? { ...move, at: last.at } : move];
  return all.length <= movesMax ? all : [...all.slice(0, 1), ...all.slice(1 - movesMax)];
}

function refusalOf(at: Instant, outcome: Exclude<Outcome, { kind: 'done' | 'gone' }>): Refusal {
  const status = outcome.kind === 'failed' ? outcome.status : null;
  return {
    ...(status !== null && { status }),
    code: blockerOf(outcome).code,
    words: outcome.message.slice(0, wordsLengthMax),
    ...{ count: 1, firstAt: at, lastAt: at },
  };
}

function isSameRefusal(one: Refusal, { status, words }: Refusal): boolean {
  return one.status === status && one.words === words;
}

function withRefusal(
  refusals: readonly Refusal[] | undefined = [],
  refusal: Refusal,
): readonly Refusal[] {
  const before = refusals.find((one) => isSameRefusal(one, refusal));
  if (!before) return [...refusals, refusal].slice(-refusalsMax);
  const again = { ...before, count: before.count + 1, lastAt: refusal.lastAt };
  return refusals.map((one) => (one === before ? again : one));
}

/** Refusals with new words, and each time their number has doubled: pods are refused for days. */
function isNewsworthy(refusals: readonly Refusal[], refusal: Refusal): boolean {
  const count = refusals.find((one) => isSameRefusal(one, refusal))?.count ?? 1;
  return (count & (count - 1)) === 0;
}

/**
 * Counts, by namespace, departures that any client that may evict there can cause without limit.
 */
class OtherDepartures {
  #since: Instant = Number.NEGATIVE_INFINITY;
  readonly #counts = new Map<string, number>();
  /** Departures that were left out, by namespace; count 0: all of them are reported. */
  readonly #gaps = new Map<string, LeftOut>();
  /** Since when there are some to tell of; null: there are none. */
  #untoldAt: Instant | null = null;
  readonly #leader: string;

  constructor(leader: string) {
    this.#leader = leader;
  }

  hasRoom(now: Instant, namespace: string): boolean {
    if (now - this.#since >= othersMs) this.#beginHour(now);
    const count = (this.#counts.get(namespace) ?? 0) + 1;
    this.#counts.set(namespace, count);
    if (count <= othersMax) return true;
    const before = this.#gaps.get(namespace) ?? { from: now, count: 0 };
    this.#gaps.set(namespace, {
      ...{ from: before.from, to: now, why: 'tooMany', leader: this.#leader },
      ...{ namespace, count: before.count + 1 },
    });
    this.#untoldAt ??= now;
    return false;
  }

  /** When it is due to tell of those that were left out; null: there are none. */
  nextDue(): Instant | null {
    return this.#untoldAt === null ? null : this.#untoldAt + leftOutMsMax;
  }

  /** Departures that were left out and are not reported. */
  untold(): readonly LeftOut[] {
    return [...this.#gaps.values()].filter(({ count }) => count > 0);
  }

  /** The same; from now on they count as reported, and the next gap begins where this one ends. */
  take(): readonly LeftOut[] {
    const told = this.untold();
    for (const gap of told) this.#gaps.set(gap.namespace, { ...gap, from: gap.to, count: 0 });
    this.#untoldAt = null;
    return told;
  }

  #beginHour(now: Instant): void {
    this.#since = now;
    this.#counts.clear();
    for (const [namespace, { count }] of this.#gaps) {
      if (count === 0) this.#gaps.delete(namespace);
    }
  }
}

type LeftOut = Gap & Required<Pick<Gap, 'from' | 'namespace' | 'count'>>;
