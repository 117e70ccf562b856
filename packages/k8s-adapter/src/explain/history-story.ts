// Merges what all sources say about pods that left or are leaving: one story for each pod, each statement with its
// source. Pure: the same sources in any order make the same stories.
import { formatTaint } from '@taintmgr/core/model';
import { formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import type { Gap } from '../history/departure.ts';
import {
  claimsOf,
  compare,
  contradictions,
  deletionSource,
  drainHints,
  eventSource,
  recordOf,
} from './history-claims.ts';
import { type Instance, Instances } from './history-instances.ts';
import type {
  Claim,
  HistorySources,
  Source,
  Story,
  StoryState,
  StoryTaint,
} from './history-model.ts';
import { momentsOf } from './history-moments.ts';
import { Births } from './history-successors.ts';
import type { EventTrace, NodeTrace } from './history-traces.ts';

/**
 * Returns one story for each pod, by when it was asked to leave, the earliest first; those without
 * a time come first.
 */
export function mergeStories(sources: HistorySources): readonly Story[] {
  const instances = new Instances(sources);
  const told = instances.all.flatMap((instance) => {
    const story = storyOf(instance, instances, sources);
    return story ? [{ story, departures: instance.departures }] : [];
  });
  const sorted = told.sort((a, b) => inOrder(a.story, b.story));
  const births = new Births(
    sources,
    sorted.map(({ story }) => story),
  );
  return sorted.map(({ story, departures }) => {
    return { ...story, successor: births.after(story, departures) };
  });
}

function inOrder(a: Story, b: Story): number {
  const [left, right] = [a, b].map(({ askedAt }) => askedAt?.at ?? Number.NEGATIVE_INFINITY);
  if (left !== right) return (left ?? 0) < (right ?? 0) ? -1 : 1;
  return compare(keyOf(a), keyOf(b));
}

function keyOf({ namespace, pod, uid }: Story): string {
  return `${namespace}/${pod}/${uid}`;
}

/** Null: nothing says that it leaves. */
function storyOf(instance: Instance, instances: Instances, sources: HistorySources): Story | null {
  const state = stateOf(instance, sources);
  if (state === null) return null;
  const { namespace, name, uid, departures, pod, node, owner } = instance;
  const claims = claimsOf({ ...instance, names: instances.names });
  const askedAt = askedOf(instance, claims[0] ?? null);
  const [first] = claims;
  const trace = sources.nodes.get(node);
  const said = first && !(state !== 'marked' && isApart(first, askedAt?.at ?? null)) ? first : null;
  const isGuessed = claims.length === 0 && askedAt === null && trace === null;
  const by = isGuessed ? removedWith(instance) : said;
  const taint = taintOf(instance, by, trace ?? null, askedAt?.at ?? null);
  const isOpen = by === null || by.kind === 'evictionApi';
  const goneTimes = departures.flatMap(({ goneAt }) => goneAt ?? []);
  const found = {
    ...{ namespace, pod: name, uid, node, owner, state, askedAt, by, taint },
    goneAt: goneTimes.length === 0 ? null : Math.min(...goneTimes),
    others: by === null ? claims : contradictions(claims),
    hints: isOpen ? hintsOf(instance, trace, askedAt?.at ?? null) : [],
    policy: departures.find(({ policy }) => policy !== undefined)?.policy ?? null,
    moments: momentsOf(instance, sources),
    leaving:
      pod?.deletionTimestamp == null
        ? null
        : {
            graceEnds: pod.deletionTimestamp,
            ...{ graceMs: pod.graceMs, finalizers: pod.finalizers },
          },
    successor: null,
  };
  return { ...found, unknown: unknownOf(found, sources) };
}

/** Null: it is there and stays. */
function stateOf(
  { pod, departures, isMarked }: Instance,
  sources: HistorySources,
): StoryState | null {
  if (pod) {
    if (pod.deletionTimestamp !== null) return 'leaving';
    const hasFailed = pod.phase === 'Failed' && (pod.mark !== null || pod.reason === 'Evicted');
    if (hasFailed) return 'failed';
    return pod.mark === null ? null : 'marked';
  }
  if (departures.some(({ goneAt }) => goneAt !== undefined)) return 'gone';
  if (sources.pods !== null) return 'gone';
  return departures.length > 0 || isMarked ? 'unseen' : null;
}

/** The hints at the evictor: drains, a webhook that keeps evictions for itself, and that the node is gone. */
function hintsOf(
  instance: Instance,
  trace: NodeTrace | null | undefined,
  askedAt: Instant | null,
): readonly string[] {
  const { node, events } = instance;
  const kept = events.find(({ reason }) => reason === 'EvictionIntercepted');
  const keepers = kept ? [`before, ${eventSource(kept).name} said: ${kept.message}`] : [];
  if (trace) return [...drainHints(trace, askedAt), ...keepers];
  if (trace === undefined || node === '') return keepers;
  const removed = removalOf(instance);
  const when = removed ? ` since about ${formatTime(removed.lastAt)}` : '';
  return [`node ${node} is gone${when}, and pods of such nodes are deleted`, ...keepers];
}

function removalOf({ ofNode }: Instance): EventTrace | undefined {
  return ofNode.findLast(({ reason }) => reason === 'RemovingNode');
}

/**
 * No kubelet has stopped it and no program has marked it: pods of a Node that is gone are deleted
 * within two minutes, which leaves no trace. `at`: when the Node was removed.
 */
function removedWith(instance: Instance): Claim | null {
  const removed = removalOf(instance);
  if (!removed) return null;
  const who = 'garbage collection of pods, most likely';
  const detail = `node ${instance.node} was removed at about ${formatTime(removed.lastAt)}`;
  return { kind: 'podGc', who, detail, at: removed.lastAt, sources: [eventSource(removed)] };
}

/** Containers are stopped as soon as the kubelet hears of the deletion. */
function stoppedIn(events: readonly EventTrace[]): EventTrace | null {
  const stops = events.filter(({ reason, message }) => {
    return reason === 'Killing' && message.startsWith('Stopping container');
  });
  return stops.toSorted((a, b) => a.firstAt - b.firstAt || compare(a.by, b.by))[0] ?? null;
}

function askedOf({ departures, pod, events }: Instance, by: Claim | null): Story['askedAt'] {
  // Records are up to a minute late, and requests that were refused did not make it leave.
  const answered = departures.flatMap((one) =>
    one.answeredAt === undefined ? [] : [{ at: one.answeredAt, source: recordOf(one) }],
  );
  if (answered.length > 0) return earliestOf(answered);
  const { deletionTimestamp = null, graceMs = null, mark = null } = pod ?? {};
  if (deletionTimestamp !== null && graceMs !== null && graceMs > 0) {
    return { at: deletionTimestamp - graceMs, source: deletionSource };
  }
  const stopped = mark === null ? stoppedIn(events) : null;
  if (stopped) return { at: stopped.firstAt, source: eventSource(stopped) };
  if (by !== null && by.at !== null && by.sources[0]) return { at: by.at, source: by.sources[0] };
  if (mark?.at != null) {
    return { at: mark.at, source: { kind: 'condition', name: 'condition DisruptionTarget' } };
  }
  const seen = departures.map((one) => ({ at: one.seenAt, source: recordOf(one) }));
  return earliestOf(seen);
}

function earliestOf(moments: readonly NonNullable<Story['askedAt']>[]): Story['askedAt'] {
  return moments.toSorted((a, b) => a.at - b.at)[0] ?? null;
}

/** The taint that decided: as a record or an Event of ours says, or the only one that its node has. */
function taintOf(
  { departures, node }: Instance,
  by: Claim | null,
  trace: NodeTrace | null,
  askedAt: Instant | null,
): StoryTaint | null {
  const telling = departures.find(({ taint }) => taint !== undefined);
  const recorded = telling?.taint;
  if (telling && recorded) {
    const { device, since = null, setBy = null } = recorded;
    const name = `${formatTaint(recorded)}${device === undefined ? '' : ` of device ${device}`}`;
    return { name, source: recordOf(telling), isSaid: true, since, setBy };
  }
  if (!by || !['taintmgr', 'drain', 'taintManager'].includes(by.kind)) return null;
  const said = /(?:^|\s)([^\s:,]+:NoExecute)(?:$|[\s,])/.exec(by.detail)?.[1];
  const present = taintsThen(trace, askedAt);
  const source: Source = { kind: 'node', name: `taints of ${node}` };
  if (said !== undefined) {
    const same = present.find(({ name }) => name === said);
    const [from] = by.sources;
    return { ...(same ?? noStart), name: said, source: from ?? source, isSaid: true };
  }
  const [only, ...more] = present;
  return only && more.length === 0 ? { ...only, source, isSaid: false } : null;
}

const noStart = { since: null, setBy: null };

type TaintThen = Pick<StoryTaint, 'name' | 'since' | 'setBy'>;

/** The NoExecute taints of a node that were there when the pod was asked to leave. */
function taintsThen(trace: NodeTrace | null, askedAt: Instant | null): readonly TaintThen[] {
  if (trace === null || askedAt === null) return [];
  const { taints, taintsWritten } = trace;
  return taints
    .filter(({ effect }) => effect === 'NoExecute')
    .flatMap((taint) => {
      const { timeAdded } = taint;
      const written = taintsWritten?.at ?? null;
      // All taints are one field: only of the last one that came it is known who wrote it.
      const isLast =
        timeAdded === null
          ? taints.length === 1 && taintsWritten?.by !== 'kube-controller-manager'
          : timeAdded === written;
      const since = timeAdded ?? (taints.length === 1 ? written : null);
      if (since === null || since > askedAt + 999) return [];
      return [
        { name: formatTaint(taint), since, setBy: isLast ? (taintsWritten?.by ?? null) : null },
      ];
    });
}

const removerUnknown = 'who removed the Node: the audit log of the API server names users';

/** Events are kept for an hour, by default. */
const eventsKeptMs: Millis = 3_600_000;

function unknownOf(story: Omit<Story, 'unknown'>, sources: HistorySources): readonly string[] {
  const { by, taint, node, askedAt, state, namespace } = story;
  const asked = askedAt?.at ?? null;
  const isOld = asked !== null && sources.at - asked > eventsKeptMs - 60_000;
  const isUnrecorded = !story.moments.some(({ source }) => source.kind === 'record');
  const at = asked ?? by?.at ?? null;
  const gaps = isUnrecorded ? sources.gaps.filter((gap) => isOver(gap, at, namespace)) : [];
  return [
    ...(by === null && story.others.length === 0 ? [nobodySays(isOld, state, sources)] : []),
    ...(by === null && story.others.length > 0 ? ['who deleted it'] : []),
    ...(isUnrecorded && isOverdue(by, asked, sources) ? [notRecorded] : []),
    ...(by?.kind === 'evictionApi'
      ? ['who used the Eviction API: the API server does not write that down; its audit log may']
      : []),
    ...(by?.kind === 'podGc' ? [removerUnknown] : []),
    ...(by?.kind === 'taintManager' && !taint?.isSaid ? [taintUnknown(story, sources)] : []),
    ...(by?.kind === 'taintmgr' && !taint ? ['for which taint'] : []),
    ...(taint?.setBy?.startsWith('kubectl')
      ? [
          `which user ran ${taint.setBy}: managedFields name programs; the audit log of the API server names users`,
        ]
      : []),
    ...(taint && !taint.setBy ? [`who put ${taint.name} on ${node || 'its node'}`] : []),
    ...(node === '' && by?.kind !== 'taintManager' ? ['which node it was on'] : []),
    ...(state === 'unseen' ? ['if it is gone: pods may not be read'] : []),
    ...gaps.map(gapText),
  ];
}

/**
 * A condition with another time than the departure: another program was faster, or deleted the pod
 * later. The API server alone changes the reason of a condition that is there and leaves its time.
 */
function isApart({ kind, at, sources }: Claim, asked: Instant | null): boolean {
  if (at === null || asked === null || kind === 'evictionApi' || kind === 'taintmgr') return false;
  const isWeak = sources.every((source) => source.kind === 'event' || source.kind === 'condition');
  return isWeak && Math.abs(at - asked) > apartMs;
}

/** Marks and deletions of one act are some milliseconds apart, and dated to the second. */
const apartMs: Millis = 5_000;

/** A leader writes down its own eviction within this time. */
const recordedWithinMs: Millis = 60_000;

const notRecorded =
  'if that is true: records of taintmgr-controller cover that time and do not have it, and any client that may create Events can write one';

/** An Event names taintmgr-controller, and its records would have the eviction. */
function isOverdue(by: Claim | null, asked: Instant | null, sources: HistorySources): boolean {
  const { recordsUntil = null, gaps } = sources;
  if (by?.kind !== 'taintmgr' || asked === null || recordsUntil === null) return false;
  return asked + recordedWithinMs < recordsUntil && !gaps.some((gap) => covers(gap, asked));
}

function nobodySays(isOld: boolean, state: StoryState, { events }: HistorySources): string {
  const like = `kubectl delete${state === 'gone' ? ', and as with kubectl drain once the pod is gone' : ''}`;
  const why =
    events === null
      ? 'Events may not be read'
      : isOld
        ? 'Events of that time are deleted, after an hour by default'
        : `no condition and no Event says so, as with ${like}`;
  return `who deleted it: ${why}`;
}

function taintUnknown(
  { node, askedAt, taint }: Omit<Story, 'unknown'>,
  sources: HistorySources,
): string {
  const trace = sources.nodes.get(node);
  const asked = 'for which taint: kube-controller-manager does not write that down';
  if (node === '') return `${asked}, and no source says which node it was on`;
  if (trace === undefined) return `${asked}, and node ${node} may not be read`;
  if (trace === null) return `${asked}, and node ${node} is gone`;
  const then = taintsThen(trace, askedAt?.at ?? null);
  if (taint) return `${asked}; ${taint.name} is the only one that ${node} had then and has`;
  if (then.length === 0) return `${asked}, and ${node} has no NoExecute taint now that it had then`;
  return `${asked}, and ${node} has ${then.map(({ name }) => name).join(', ')}`;
}

function isOver({ from, to, namespace }: Gap, at: Instant | null, of: string): boolean {
  if (namespace !== undefined && namespace !== of) return false;
  return at === null || covers({ from, to }, at);
}

function covers(
  { from, to }: { readonly from?: Instant | undefined; readonly to: Instant },
  at: Instant,
): boolean {
  return (from === undefined || at >= from) && at <= to;
}

/** In words: `records between ... and ...: the leader changed`. */
export function gapText(gap: Gap): string {
  const { from, to } = gap;
  const span = `${from === undefined ? 'until' : `from ${formatTime(from)} to`} ${formatTime(to)}`;
  return `records ${span}: ${gapReason(gap)}`;
}

/** Why no record of that time is kept. */
export function gapReason({ why, leader, count }: Gap): string {
  if (why === 'tooMany')
    return `more pods left than are kept${count === undefined ? '' : `, ${count} are left out`}`;
  return leader ? `${leader} began to lead then` : 'the leader changed';
}
