// Remembers the looks at a live cluster since its page was opened, beside the facts of history.
import { formatDuration } from '@taintmgr/core/time';
import type {
  LeftOut,
  LiveAction,
  LiveEvent,
  LiveInput,
  LiveLeft,
  LiveMoment,
  LiveNode,
  LivePast,
  LivePod,
  LiveRecord,
  PastGap,
  PastPod,
} from './live.ts';
import type { DeadlineSeen, HoldTrack, NodeSeen, PodStory, ZoneSeen } from './simulation.ts';

/** The number of each kind that is kept; older ones are dropped. */
const keptMax = 2000;
/** The number of pods of history that are shown, the last ones, and the characters of each story. */
const pastMax = 300;
const storyMax = 4000;
/** Left of the opening, so that the line of now is seen at once. */
const beforeOpeningMs = 60_000;
/** The chart goes back to what history knows, and no further: the present would be too small in it. */
const beforeOpeningMsMax = 6 * 3_600_000;
/** The time before an unknown period that is still shown, if no pod has left since. */
const gapMsMax = 3_600_000;
/** Estimates move by less all the time. */
const sameDeadlineSeconds = 2;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A pod that is due to leave, with its part of the record. */
interface Followed {
  pod: LivePod;
  deadline: Mutable<DeadlineSeen> | null;
  readonly holds: Map<string, Mutable<HoldTrack>>;
}

/**
 * Takes the state of a cluster again and again, and gives what the page shows. The history has no clock: each
 * moment has its time. Changes between two looks are unknown.
 */
export class LiveHistory {
  readonly #source: string;
  readonly #openedAt: number;
  #startsAt: number;
  readonly #zones = new Map<string, Mutable<ZoneSeen> & { states: ZoneSeen['states'][number][] }>();
  readonly #nodes = new Map<string, Mutable<NodeSeen> & { states: NodeSeen['states'][number][] }>();
  readonly #pods = new Map<string, Followed>();
  #deadlines: Mutable<DeadlineSeen>[] = [];
  #holds: Mutable<HoldTrack>[] = [];
  #evictions: LiveLeft[] = [];
  #past: Omit<LivePast, 'isCut'> | null = null;
  #events: LiveEvent[] = [];
  #isCut = false;
  #moment: LiveMoment | null = null;
  #lost: LiveInput['lost'] = null;

  /** `openedAt`: milliseconds of the calendar. */
  constructor(source: string, openedAt: number) {
    this.#source = source;
    this.#openedAt = openedAt;
    this.#startsAt = openedAt - beforeOpeningMs;
  }

  /** Replaces the past by what history knows now. The first call may move the beginning of the chart. */
  remember({ pods, gaps: given, isCut }: LivePast): void {
    const last = [...pods].sort((one, other) => one.at - other.at).slice(-pastMax);
    const gaps = isCut || last.length < pods.length ? afterFirst(last, given) : given;
    if (!this.#moment) this.#startsAt = this.#startFor(last, gaps);
    const shown = gaps.slice(-pastMax);
    this.#past = {
      pods: last.map((one) => ({ ...one, at: this.#seconds(one.at), story: cutStory(one.story) })),
      gaps: shown.map((one) => {
        return { ...one, from: this.#secondsOrNull(one.from), to: this.#seconds(one.to) };
      }),
    };
  }

  #startFor(pods: LivePast['pods'], gaps: LivePast['gaps']): number {
    const bare = this.#openedAt - gapMsMax;
    const known = gaps.flatMap(({ from, to }) => (from === null && to >= bare ? to : []));
    const earliest = [...pods.map(({ at }) => at), ...known].reduce(least, this.#openedAt);
    return Math.max(this.#openedAt - beforeOpeningMsMax, earliest - beforeOpeningMs);
  }

  /** The present state; pods that are neither in it nor left out of it are gone. */
  take(given: LiveMoment, leftOut: LeftOut = () => null): void {
    const moment = this.#inSeconds(given);
    const { at } = moment;
    const before = this.#moment;
    if (this.#lost) this.#note(at, `the API server answers again, after ${this.#lostFor(at)}`);
    this.#lost = null;
    this.#takeNodes(at, moment.nodes, before === null);
    this.#takeZones(at, moment);
    if (before) this.#compareActions(at, before.actions, moment.actions);
    this.#takePods(at, moment, leftOut);
    this.#moment = moment;
    this.#forget();
  }

  /** The cluster cannot be read since then; the last state stands. */
  lose(atMs: number, message: string): void {
    const since = this.#lost?.since ?? this.#seconds(atMs);
    if (!this.#lost) this.#note(since, `the cluster cannot be read: ${message}`);
    this.#lost = { since, message };
  }

  /** The data of the page; null: nothing was read yet. */
  input(): LiveInput | null {
    if (!this.#moment) return null;
    const { at, ...moment } = this.#moment;
    return {
      ...moment,
      source: this.#source,
      startsAt: this.#startsAt,
      openedAt: this.#seconds(this.#openedAt),
      now: at,
      lost: this.#lost,
      record: this.#record(),
    };
  }

  #record(): LiveRecord {
    return {
      zones: [...this.#zones.values()],
      nodes: [...this.#nodes.values()],
      deadlines: this.#deadlines,
      holds: this.#holds,
      evictions: this.#left(),
      gaps: this.#past?.gaps ?? [this.#beforeOpening()],
      events: this.#events,
      isCut: this.#isCut,
    };
  }

  /** Each pod once: history tells of those that were seen too, and of no pod that is still there. */
  #left(): readonly LiveLeft[] {
    const untold = new Map((this.#past?.pods ?? []).map((one) => [keyOf(one), one]));
    const seen = this.#evictions.map((one): LiveLeft => {
      const told = untold.get(one.uid) ?? [...untold.values()].find((other) => mayBe(other, one));
      if (!told) return one;
      untold.delete(keyOf(told));
      return { ...one, at: told.at, story: told.story };
    });
    const others = [...untold.values()].filter(({ uid }) => !this.#pods.has(uid));
    return [...others.map(leftOf), ...seen].sort((one, other) => one.at - other.at);
  }

  #beforeOpening(): PastGap {
    const to = this.#seconds(this.#openedAt);
    return { from: null, to, text: 'pods that left before this page was opened are unknown here' };
  }

  #takeNodes(at: number, nodes: readonly LiveNode[], isFirst: boolean): void {
    // As it is found, it is drawn from the opening on, and a little to the left.
    const from = isFirst ? this.#seconds(this.#openedAt - beforeOpeningMs) : at;
    const names = new Set(nodes.map(({ name }) => name));
    for (const { name, zone, ready, cordoned, taints } of nodes) {
      const known = this.#nodes.get(name);
      const last = known?.states.at(-1);
      const state = { at: from, ready, cordoned, taints };
      if (!known) this.#nodes.set(name, { name, zone, states: [state] });
      if (!known && !isFirst) this.#note(at, `node ${name} is new`);
      if (!known || !last || isSame(last, state)) continue;
      known.states.push(state);
      for (const text of nodeTexts(name, last, state)) this.#note(at, text);
    }
    for (const { name, states } of this.#nodes.values()) {
      if (names.has(name) || states.at(-1)?.ready === 'Gone') continue;
      states.push({ at, ready: 'Gone', cordoned: false, taints: [] });
      this.#note(at, `node ${name} is gone`);
    }
  }

  #takeZones(at: number, { zones }: LiveMoment): void {
    for (const { name, state, held } of zones) {
      const known = this.#zones.get(name);
      const last = known?.states.at(-1);
      if (!known) this.#zones.set(name, { name, states: [{ at, state, held }] });
      if (!last || !known || (last.state === state && last.held === held)) continue;
      known.states.push({ at, state, held });
      if (last.state !== state)
        this.#note(at, `zone ${name || 'without a name'}: ${last.state}, now ${state}`);
      if (last.held !== held)
        this.#note(at, held === null ? `zone ${name} is no longer held` : `zone ${name}: ${held}`);
    }
  }

  #compareActions(at: number, before: readonly LiveAction[], actions: readonly LiveAction[]): void {
    const keyOf = ({ kind, name }: LiveAction): string => `${kind} ${name}`;
    const [old, present] = [before, actions].map((list) => new Set(list.map(keyOf)));
    for (const one of actions)
      if (!old?.has(keyOf(one))) this.#note(at, `${keyOf(one)} begins: ${one.text}`);
    for (const one of before)
      if (!present?.has(keyOf(one))) this.#note(at, `${keyOf(one)} is over`);
  }

  #takePods(at: number, { pods, nodes }: LiveMoment, leftOut: LeftOut): void {
    const present = new Set(pods.map(({ uid }) => uid));
    for (const pod of pods) this.#follow(at, pod);
    for (const [uid, followed] of this.#pods) {
      if (present.has(uid)) continue;
      // The pod was shown once, and now others are shown before it.
      const pod = leftOut(followed.pod);
      if (pod) {
        this.#follow(at, this.#podInSeconds(pod));
        continue;
      }
      this.#pods.delete(uid);
      this.#leave(at, followed, nodes);
    }
  }

  #follow(at: number, pod: LivePod): void {
    const known = this.#pods.get(pod.uid);
    const followed = known ?? { pod, deadline: null, holds: new Map() };
    followed.pod = pod;
    this.#pods.set(pod.uid, followed);
    this.#followDeadline(at, followed);
    this.#followHolds(at, followed);
  }

  #followDeadline(at: number, followed: Followed): void {
    const { pod, deadline } = followed;
    // The time is over: from here on the pod is shown as terminating.
    if (pod.state === 'Terminating') {
      if (deadline?.end === 'running') Object.assign(deadline, { endedAt: at, end: 'evicted' });
      return;
    }
    const isSameTime =
      deadline && pod.dueAt !== null && Math.abs(deadline.dueAt - pod.dueAt) < sameDeadlineSeconds;
    if (isSameTime && deadline.end === 'running') return;
    if (deadline?.end === 'running') Object.assign(deadline, { endedAt: at, end: 'moved' });
    followed.deadline = null;
    if (pod.dueAt === null) return;
    const { namespace, pod: name, workload, node, because, dueAt, setAt } = pod;
    const where = { namespace, pod: name, workload, node };
    const running = { endedAt: null, end: 'running', because } as const;
    followed.deadline = { ...where, setAt: setAt ?? at, dueAt, ...running };
    this.#deadlines.push(followed.deadline);
  }

  #followHolds(at: number, { pod, holds }: Followed): void {
    const isDue = pod.state === 'Held' || (pod.dueAt !== null && pod.dueAt <= at);
    const present = isDue || pod.state === 'Terminating' ? pod.holds : [];
    const keys = new Set(present.map(({ kind, name }) => `${kind} ${name}`));
    for (const [key, hold] of holds) {
      if (keys.has(key)) continue;
      hold.until = at;
      holds.delete(key);
    }
    const { namespace, pod: name, workload, node } = pod;
    for (const one of present) {
      const key = `${one.kind} ${one.name}`;
      const known = holds.get(key);
      if (known) {
        known.text = one.text;
        continue;
      }
      const hold = { namespace, pod: name, workload, node, ...one, from: at, until: null };
      holds.set(key, hold);
      this.#holds.push(hold);
    }
  }

  /** Ends a pod that is no longer due to leave: it has left, or may stay. */
  #leave(at: number, { pod, deadline, holds }: Followed, nodes: readonly LiveNode[]): void {
    for (const hold of holds.values()) hold.until = at;
    const { uid, namespace, pod: name, workload, node, state, because, dueAt } = pod;
    const isOver = state === 'Terminating' || (dueAt !== null && dueAt <= at);
    const isThere = nodes.some((one) => one.name === node);
    const hasLeft = isOver && isThere;
    if (deadline?.end === 'running')
      Object.assign(deadline, { endedAt: at, end: hasLeft ? 'evicted' : 'cancelled' });
    // The pod was not known to leave.
    if (state === 'Unknown') return;
    const full = `${namespace}/${name}`;
    if (!hasLeft) {
      this.#note(at, isThere ? `${full} is to leave no more` : `${full} is gone with ${node}`);
      return;
    }
    this.#note(at, `${full} has left ${node}`);
    this.#evictions.push({ at, how: 'seen', because, uid, namespace, pod: name, workload, node });
  }

  #note(at: number, text: string): void {
    this.#events.push({ at, text });
  }

  #forget(): void {
    const cut = <T>(list: T[]): T[] => {
      if (list.length <= keptMax) return list;
      this.#isCut = true;
      return list.slice(-keptMax);
    };
    this.#events = cut(this.#events);
    this.#evictions = cut(this.#evictions);
    this.#holds = cut(this.#holds);
    this.#deadlines = cut(this.#deadlines);
    for (const one of [...this.#nodes.values(), ...this.#zones.values()])
      one.states = cut<never>(one.states as never[]);
    this.#forgetNodes();
  }

  /** In a cluster that makes nodes as it needs them those that are gone are without number. */
  #forgetNodes(): void {
    const gone = [...this.#nodes.values()].filter(({ states }) => states.at(-1)?.ready === 'Gone');
    for (const { name } of gone.slice(0, -keptMax)) this.#nodes.delete(name);
    this.#isCut ||= gone.length > keptMax;
  }

  #lostFor(at: number): string {
    return formatDuration(Math.max(0, at - (this.#lost?.since ?? at)) * 1000);
  }

  #seconds(millis: number): number {
    return Math.round(millis - this.#startsAt) / 1000;
  }

  #secondsOrNull(millis: number | null): number | null {
    return millis === null ? null : this.#seconds(millis);
  }

  #podInSeconds(pod: LivePod): LivePod {
    const { setAt, dueAt } = pod;
    return { ...pod, setAt: this.#secondsOrNull(setAt), dueAt: this.#secondsOrNull(dueAt) };
  }

  #inSeconds(moment: LiveMoment): LiveMoment {
    return {
      ...moment,
      at: this.#seconds(moment.at),
      evictedSince: this.#secondsOrNull(moment.evictedSince ?? null),
      pods: moment.pods.map((pod) => this.#podInSeconds(pod)),
      actions: moment.actions.map((one) => {
        const { from, until } = one;
        return { ...one, from: this.#secondsOrNull(from), until: this.#secondsOrNull(until) };
      }),
    };
  }
}

/** Of the time before the first of them no one is shown. */
function afterFirst([first]: LivePast['pods'], gaps: LivePast['gaps']): LivePast['gaps'] {
  if (!first) return gaps;
  const text = 'those who left then are not shown here, kubectl taintmgr history tells of them';
  return [{ from: null, to: first.at, text }, ...gaps.filter(({ to }) => to > first.at)];
}

/** The key of a pod without a uid is its name with the time it left. */
function keyOf({ uid, namespace, pod, at }: PastPod): string {
  return uid === '' ? `${namespace}/${pod} ${at}` : uid;
}

/** Events of kube-controller-manager name no uid: a pod of the name that was asked to leave within the hour before is meant. */
function mayBe({ uid, namespace, pod, at }: PastPod, seen: LiveLeft): boolean {
  const isNamed = uid === '' && pod === seen.pod && namespace === seen.namespace;
  return isNamed && at <= seen.at + 1 && at > seen.at - 3600;
}

function leftOf(past: PastPod): LiveLeft {
  const { story, ...pod } = past;
  const uid = keyOf(past);
  return { ...pod, uid, how: 'seen', because: story.reason === '' ? [] : [story.reason], story };
}

/** Messages of others are in it. */
function cutStory(story: PodStory): PodStory {
  let room = storyMax;
  const lines = story.lines.filter(({ length }) => {
    room -= length;
    return room >= 0;
  });
  const left = story.lines.length - lines.length;
  return left === 0 ? story : { ...story, lines: [...lines, `... ${left} more lines`] };
}

function least(one: number, other: number): number {
  return Math.min(one, other);
}

type NodeState = NodeSeen['states'][number];

function isSame(one: NodeState, other: NodeState): boolean {
  return (
    one.ready === other.ready &&
    one.cordoned === other.cordoned &&
    one.taints.join() === other.taints.join()
  );
}

/** The changes of a node. */
function nodeTexts(name: string, before: NodeState, now: NodeState): readonly string[] {
  const added = now.taints.filter((taint) => !before.taints.includes(taint));
  const removed = before.taints.filter((taint) => !now.taints.includes(taint));
  const isBack = before.ready === 'Gone';
  return [
    ...(before.ready !== now.ready ? [`node ${name}: Ready=${now.ready}`] : []),
    ...(isBack ? [] : added.map((taint) => `node ${name} has the taint ${taint}`)),
    ...(isBack ? [] : removed.map((taint) => `node ${name} has lost the taint ${taint}`)),
    ...(before.cordoned === now.cordoned
      ? []
      : [`node ${name} is ${now.cordoned ? 'cordoned' : 'open again'}`]),
  ];
}
