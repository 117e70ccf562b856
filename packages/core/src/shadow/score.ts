// Keeps score of what kube-controller-manager evicts against what the engine would have evicted.
import type { Outcome } from '../attempt/outcome.ts';
import type { Command } from '../command.ts';
import type { Event } from '../event.ts';
import type { Explanation, PodExplanation, Subject } from '../explain.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earlier, type Instant } from '../kernel/time.ts';
import { foreignTaintManager, type Pod, type PodRef, podRef } from '../model/pod.ts';
import type { EvictionMode } from '../policy/eviction-policy.ts';
import { resolveShadowConfig, type ShadowConfig } from './config.ts';
import { type ShadowReport, ShadowTally, type Unjudged } from './report.ts';
import {
  type Case,
  comparedVerdict,
  entryOf,
  judgeDeleted,
  lonelyVerdict,
  newCase,
  refusedVerdict,
  type Sent,
  type Verdict,
} from './verdict.ts';

/** Options of a comparison. */
export interface ShadowOptions extends Partial<ShadowConfig> {
  /** The mode for pods for which no policy counts. */
  readonly mode: EvictionMode;
  /** Asks the engine. */
  readonly explain: Explain;
  /**
   * Called for a pod that is gone without a mark that was seen, from a node with NoExecute taints:
   * its caller reports by `said` what Events tell of it. Left out: such pods belong to neither.
   */
  readonly doubt?: (pod: PodRef) => void;
}

/**
 * Wraps an engine whose commands are not carried out, and lets it live in a cluster where
 * kube-controller-manager evicts no pods: a pod deleted by kube-controller-manager stays in the
 * engine's picture until the engine evicts it too, decides to keep it, or the time to follow it is
 * over. So limits, queues and pauses hold in the engine as they would. A pod that the engine evicts
 * stands in the cluster nevertheless, until kube-controller-manager deletes it or the time to
 * follow it is over.
 *
 *     neither --mark--> theirs --engine evicts, decides to keep, time is over--> verdict
 *     neither --engine evicts--> ours --mark, time is over--> verdict
 *
 * Both are dated by when they were seen here. A pod is judged once; one that only the engine evicts may
 * be judged again after the engine has decided to keep it. Nothing is kept over a restart.
 */
export class ShadowScore {
  readonly #machine: ShadowedMachine;
  readonly #explain: Explain;
  readonly #config: ShadowConfig;
  readonly #mode: EvictionMode;
  readonly #doubt: ShadowOptions['doubt'];
  readonly #tally: ShadowTally;
  /** The pods that are followed or remembered, by uid: never more than `podsMax`. */
  readonly #cases = new Map<string, Case>();
  /** When each of them is looked at again. */
  readonly #looks = new Schedule();
  /** The evictions that the engine has sent, by the ids of their commands, until they are answered. */
  readonly #sent = new Map<string, Sent>();
  /** The words of budgets that refused a pod, by its uid: only a server that is asked says so. */
  readonly #refused = new Map<string, string>();
  #commands: Command[] = [];
  #answers: { readonly uid: string; readonly at: Instant | null }[] = [];
  #ahead = 0;
  #since: Instant | null = null;

  constructor(machine: ShadowedMachine, { mode, explain, doubt, ...config }: ShadowOptions) {
    this.#machine = machine;
    this.#explain = explain;
    this.#config = resolveShadowConfig(config);
    this.#mode = mode;
    this.#doubt = doubt;
    this.#tally = new ShadowTally(this.#config);
  }

  /** Takes an event, as `Engine.handle` does, and judges. */
  handle(now: Instant, event: Event): readonly Command[] {
    this.#takeAnswers(now);
    switch (event.kind) {
      case 'podUpsert':
        this.#podSeen(now, event.pod);
        break;
      case 'podDelete':
        this.#podGone(now, event.uid);
        break;
      default:
        this.#pass(now, event);
        this.#heard(now, event);
    }
    const commands = this.#commands;
    this.#commands = [];
    return commands;
  }

  /** The earliest instant at which a tick could yield a command or a verdict. */
  nextWake(): Instant | null {
    return earlier(this.#machine.nextWake(), this.#looks.next());
  }

  /** Events tell of a pod that it was marked for deletion then, or (null) that it was not. */
  said(uid: string, at: Instant | null): void {
    this.#answers.push({ uid, at });
  }

  /** The report so far. */
  report(): ShadowReport {
    const following = [...this.#cases.values()].filter(({ isClosed }) => !isClosed).length;
    return { since: this.#since, following, ...this.#tally.report() };
  }

  /** The number of pods that are followed or remembered: never more than podsMax. */
  get size(): number {
    return this.#cases.size;
  }

  #heard(now: Instant, event: Event): void {
    if (event.kind === 'clock') this.#ahead = event.ahead;
    if (event.kind === 'synced') this.#since ??= now + this.#ahead;
    if (event.kind === 'result') this.#answered(now, event.id, event.outcome);
    if (event.kind === 'tick') this.#lookAt(now);
  }

  /** Accepted, in a dry run: the pod would be gone. */
  #answered(now: Instant, id: string, outcome: Outcome): void {
    const { kind } = outcome;
    const sent = this.#sent.get(id);
    this.#sent.delete(id);
    if (sent && kind === 'blocked') this.#refuse(sent.pod.uid, outcome.message);
    if (!sent || (kind !== 'done' && kind !== 'gone')) return;
    const known = this.#cases.get(sent.pod.uid);
    if (known?.isClosed || known?.ours) return;
    const one = known ?? this.#begin(now, sent.pod);
    const refusal = this.#refused.get(sent.pod.uid);
    // Every budget lets a terminating pod go.
    if (one.theirs !== null && refusal !== undefined) {
      one.ours = { ...sent, at: now, isTooLate: false };
      this.#conclude(now, one, refusedVerdict(refusal));
      return;
    }
    one.ours = { ...sent, isTooLate: kind === 'gone' && one.theirs === null };
    if (one.theirs === null) this.#looks.set(sent.pod.uid, sent.at + this.#config.followMs);
    else this.#compare(now, one);
  }

  #podSeen(now: Instant, pod: Pod): void {
    const known = this.#cases.get(pod.uid);
    const isMarked = foreignTaintManager(pod.disruption) !== null;
    if (known?.isClosed) {
      this.#pass(now, { kind: 'podUpsert', pod });
    } else if (known?.theirs != null) {
      this.#follow(now, known, pod);
    } else if (!isMarked) {
      this.#passUnmarked(now, pod, known);
    } else if (
      this.#since === null ||
      (!known && this.#explained(now, pod)?.attempt?.kind === 'accepted')
    ) {
      // Who marked it before we were there may not evict any more; or we have given it up.
      this.#end(this.#begin(now, pod));
      this.#pass(now, { kind: 'podUpsert', pod });
    } else {
      this.#marked(now, known ?? this.#begin(now, pod), pod);
    }
  }

  #passUnmarked(now: Instant, pod: Pod, known: Case | undefined): void {
    if (known && pod.deletionTimestamp !== null) this.#skip(now, known, 'leftOtherwise');
    this.#pass(now, { kind: 'podUpsert', pod });
  }

  /** To the engine it stays as it was before. */
  #marked(now: Instant, one: Case, pod: Pod): void {
    const { disruption: _, ...unmarked } = pod;
    one.theirs = now;
    this.#pass(now, { kind: 'podUpsert', pod: { ...unmarked, deletionTimestamp: null } });
    one.because = this.#explained(now, one.pod)?.decision.because ?? [];
    this.#looks.set(pod.uid, now + this.#config.settleMs);
    this.#follow(now, one, pod);
  }

  #follow(now: Instant, one: Case, pod: Pod): void {
    one.real = pod;
    one.isDeleted ||= pod.deletionTimestamp !== null;
    this.#compare(now, one);
  }

  #podGone(now: Instant, uid: string): void {
    const one = this.#cases.get(uid);
    if (one && !one.isClosed && one.theirs !== null) {
      one.real = null;
      one.isDeleted = true;
      one.isGone = true;
      this.#compare(now, one);
      return;
    }
    if (!one?.isClosed && this.#isDoubtful(now, uid)) return;
    this.#left(now, uid, one);
  }

  /** Another program has removed it. */
  #left(now: Instant, uid: string, one: Case | undefined): void {
    if (one && !one.isClosed) this.#skip(now, one, 'leftOtherwise');
    this.#refused.delete(uid);
    this.#forget(uid);
    this.#pass(now, { kind: 'podDelete', uid });
  }

  /** True when it was to leave for a taint when it went: a watch that breaks brings no marks. */
  #isDoubtful(now: Instant, uid: string): boolean {
    if (!this.#doubt || this.#since === null) return false;
    const gone = this.#explained(now, { namespace: '', name: '', nodeName: '', uid });
    const isTainted = gone?.decision.because.some(({ code }) => code !== 'NoTaint') ?? false;
    if (!gone || !isTainted || gone.pod.deletionTimestamp !== null) return false;
    const one = this.#cases.get(uid) ?? this.#begin(now, gone.pod);
    Object.assign(one, { isDoubted: true, isDeleted: true, isGone: true });
    one.because = gone.decision.because;
    this.#looks.set(uid, now + this.#config.settleMs);
    this.#doubt(podRef(gone.pod));
    return true;
  }

  #takeAnswers(now: Instant): void {
    const answers = this.#answers;
    this.#answers = [];
    for (const { uid, at } of answers) {
      const one = this.#cases.get(uid);
      if (one?.isDoubted) this.#resolve(now, one, at);
    }
  }

  /** Until Events have answered, a pod that is gone stays in the engine's picture. */
  #resolve(now: Instant, one: Case, at: Instant | null): void {
    one.isDoubted = false;
    if (at !== null) {
      one.theirs = Math.min(now, at - this.#ahead);
      this.#compare(now, one);
    } else if (one.ours) this.#left(now, one.pod.uid, one);
    else {
      this.#end(one);
      this.#left(now, one.pod.uid, undefined);
    }
  }

  /** Both programs have evicted it: now the first of them is known. */
  #compare(now: Instant, one: Case): void {
    const { ours, theirs, isDeleted } = one;
    if (ours === null || theirs === null || !isDeleted) return;
    this.#conclude(now, one, comparedVerdict(ours, theirs, this.#config));
  }

  #lookAt(now: Instant): void {
    for (let uid = this.#looks.takeDue(now); uid !== null; uid = this.#looks.takeDue(now)) {
      const one = this.#cases.get(uid);
      if (one?.isDoubted) this.#resolve(now, one, null);
      else if (one?.isClosed) this.#revisit(now, one);
      else if (one?.theirs != null && !one.isDeleted) this.#skip(now, one, 'notDeleted');
      else if (one?.theirs != null) this.#judge(now, one, one.theirs);
      else if (one?.ours?.isTooLate) this.#skip(now, one, 'leftOtherwise');
      else if (one?.ours) {
        this.#conclude(now, one, lonelyVerdict(one.ours));
        this.#looks.set(uid, now + this.#config.followMs);
      }
    }
  }

  /**
   * A pod that stands and would be gone: once the engine keeps it, the engine may begin with it
   * again.
   */
  #revisit(now: Instant, one: Case): void {
    const { uid } = one.pod;
    const known = this.#explained(now, one.pod);
    if (known?.decision.kind !== 'keep') {
      this.#looks.set(uid, now + this.#config.followMs);
      return;
    }
    this.#forget(uid);
    this.#pass(now, { kind: 'podDelete', uid });
    this.#pass(now, { kind: 'podUpsert', pod: known.pod });
  }

  /** Only kube-controller-manager has evicted it so far. */
  #judge(now: Instant, one: Case, theirs: Instant): void {
    const explained = this.#explained(now, one.pod);
    if (!explained) {
      this.#skip(now, one, 'givenUp');
      return;
    }
    const judgement = judgeDeleted(
      explained,
      { now, wall: now + this.#ahead, theirs },
      this.#config,
    );
    if (judgement.kind === 'wait') {
      this.#looks.set(one.pod.uid, judgement.until);
      return;
    }
    one.because = [...explained.decision.because, ...one.because];
    this.#conclude(now, one, judgement);
  }

  #conclude(now: Instant, one: Case, said: Verdict): void {
    this.#tally.add(entryOf(one, said, now + this.#ahead, this.#mode));
    this.#close(now, one);
  }

  #skip(now: Instant, one: Case, why: Unjudged): void {
    this.#tally.skip(why);
    this.#close(now, one);
  }

  /** From now on the engine sees the pod as it is. */
  #close(now: Instant, one: Case): void {
    const { pod, real, isGone, theirs } = one;
    this.#end(one);
    this.#refused.delete(pod.uid);
    if (isGone) this.#forget(pod.uid);
    if (theirs === null) return;
    if (isGone) this.#pass(now, { kind: 'podDelete', uid: pod.uid });
    else if (real) this.#pass(now, { kind: 'podUpsert', pod: real });
  }

  /** Where there is no room for another pod, the oldest is forgotten. */
  #begin(now: Instant, pod: PodRef): Case {
    const [oldest] = this.#cases.values();
    if (oldest && this.#cases.size >= this.#config.podsMax) {
      if (!oldest.isClosed) this.#skip(now, oldest, 'givenUp');
      this.#forget(oldest.pod.uid);
    }
    const one = newCase(pod);
    this.#cases.set(pod.uid, one);
    return one;
  }

  /** There is a verdict, or there will be none. */
  #end(one: Case): void {
    one.isClosed = true;
    one.real = null;
    this.#looks.cancel(one.pod.uid);
  }

  #forget(uid: string): void {
    this.#cases.delete(uid);
    this.#looks.cancel(uid);
  }

  /** Hands the engine an event, and follows its evictions until they are answered. */
  #pass(now: Instant, event: Event): void {
    for (const command of this.#machine.handle(now, event)) {
      this.#commands.push(command);
      if (command.kind !== 'deletePod' && command.kind !== 'evictPod') continue;
      const { id, pod, because } = command;
      this.#sent.set(id, { pod, at: now, asks: command.kind === 'evictPod', because });
    }
  }

  #refuse(uid: string, message: string): void {
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size >= this.#config.podsMax)
      this.#refused.delete(oldest);
    this.#refused.set(uid, message);
  }

  /** The engine's explanation of a pod; null: it knows none of the uid. */
  #explained(now: Instant, { namespace, name, uid }: PodRef): PodExplanation | null {
    const explained = this.#explain(now, { kind: 'pod', namespace, name, uid });
    return explained?.kind === 'pod' ? explained : null;
  }
}

/** The machine that decides, and that the loop asks; the engine, or what stands around it. */
export interface ShadowedMachine {
  /** Takes an event and returns the commands that are due, as `Engine.handle` does. */
  handle(now: Instant, event: Event): readonly Command[];
  /** The earliest instant at which a tick could yield a command, as `Engine.nextWake`. */
  nextWake(): Instant | null;
}

/** The engine's answer to a question. */
type Explain = (now: Instant, subject: Subject) => Explanation;
