// The past of taints, as far as the API server still has it.
import type { Toleration } from '@taintmgr/core';
import { formatTaint } from '@taintmgr/core/model';
import { endOfSecond, type Instant, type Millis } from '@taintmgr/core/time';
import { podFromJson } from '../proto/convert.ts';
import { evictsPods, type NodeFacts, type PodFacts } from './facts.ts';
import { type ClusterReader, inTurns } from './reader.ts';

/** States in their order, each as it was when it came; the last is the present one. */
export interface Past {
  /** By the name of the node: states with other taints than the one before. */
  readonly nodes: ReadonlyMap<string, readonly NodeFacts[]>;
  /** By the uid of the pod: states with other tolerations than the one before. */
  readonly pods: ReadonlyMap<string, readonly PodFacts[]>;
}

/** Reads the state before a state; null: the API server does not know it any more. */
type HistoryReader = Pick<ClusterReader, 'nodeBefore' | 'podBefore'>;

/** The number of states that are looked through for one object, and for one answer. */
const statesMax = 60;
const statesInAllMax = 400;

/**
 * Reads the past that kube-controller-manager has seen and that objects do not show: when each of
 * several taints came, and the tolerations of a pod before an edit. The past begins at `since`,
 * when kube-controller-manager began. API servers keep some minutes.
 */
export async function readPast(
  reader: HistoryReader,
  { nodes, pods }: { readonly nodes: readonly NodeFacts[]; readonly pods: readonly PodFacts[] },
  since: Instant | null,
): Promise<Past> {
  const steps = new Steps();
  const tainted = new Set(nodes.filter(evictsPods).map(({ node }) => node.name));
  const edited = pods.filter((facts) => tainted.has(facts.pod.nodeName) && isEdited(facts, since));
  const [ofNodes, ofPods] = await Promise.all([
    inTurns(nodes, async (facts) => {
      return [facts.node.name, await nodePast(reader, facts, since, steps)] as const;
    }),
    inTurns(edited, async (facts) => {
      return [facts.pod.uid, await podPast(reader, facts, since, steps)] as const;
    }),
  ]);
  return { nodes: new Map(ofNodes), pods: new Map(ofPods) };
}

/** Counts the states that are read for one answer. */
class Steps {
  #count = 0;

  /** Reads as long as there have not been too many. */
  limiting<T>(read: (state: T) => Promise<T | null>): (state: T) => Promise<T | null> {
    return async (state) => (this.#count++ < statesInAllMax ? await read(state) : null);
  }
}

/** Back to the state without NoExecute taints, where everything begins. */
async function nodePast(
  reader: HistoryReader,
  present: NodeFacts,
  since: Instant | null,
  steps: Steps,
): Promise<readonly NodeFacts[]> {
  const taintsOf = ({ node }: NodeFacts): string => JSON.stringify(node.taints);
  const isBegin = (facts: NodeFacts): boolean =>
    !evictsPods(facts) || isBefore(facts.taintsWritten?.at ?? null, since);
  const read = (facts: NodeFacts): Promise<NodeFacts | null> => reader.nodeBefore(facts);
  return await statesUpTo(present, isBegin, taintsOf, steps.limiting(read));
}

/** Back to its tolerations when it was created. */
async function podPast(
  reader: HistoryReader,
  present: PodFacts,
  since: Instant | null,
  steps: Steps,
): Promise<readonly PodFacts[]> {
  const tolerationsOf = ({ pod }: PodFacts): string => JSON.stringify(pod.tolerations);
  const isBegin = (facts: PodFacts): boolean => !isEdited(facts, since);
  const read = async (facts: PodFacts): Promise<PodFacts | null> => {
    const before = await reader.podBefore(facts);
    return before?.pod.uid === present.pod.uid ? before : null;
  };
  const states = await statesUpTo(present, isBegin, tolerationsOf, steps.limiting(read));
  const [oldest] = states;
  const applied = oldest && isEdited(oldest, since) ? asApplied(oldest) : null;
  return applied ? [applied, ...states] : states;
}

/** True when its tolerations were written after it was created, and while a program watched. */
function isEdited({ tolerationsWritten, createdAt }: PodFacts, since: Instant | null): boolean {
  if (tolerationsWritten === null || createdAt === null) return false;
  return tolerationsWritten.at > createdAt && !isBefore(tolerationsWritten.at, since);
}

function isBefore(at: Instant | null, since: Instant | null): boolean {
  return at !== null && since !== null && endOfSecond(at) <= since;
}

/** The states up to the present one that differ in what counts, each as it was when it came. */
async function statesUpTo<T>(
  present: T,
  isBegin: (state: T) => boolean,
  key: (state: T) => string,
  before: (state: T) => Promise<T | null>,
): Promise<readonly T[]> {
  const states = [present];
  let current = present;
  for (let count = 0; count < statesMax && !isBegin(current); count++) {
    const next = await before(current);
    if (next === null) break;
    if (key(next) === key(current)) states[0] = next;
    else states.unshift(next);
    current = next;
  }
  return states;
}

/** The pod with the seconds that `kubectl apply` gave it, where these were changed since. */
function asApplied(facts: PodFacts): PodFacts | null {
  const written = appliedTolerations(facts.lastApplied);
  const { pod } = facts;
  const tolerations = pod.tolerations.map((toleration) => {
    const { key, operator, value, effect } = toleration;
    const same = written.find(
      (one) =>
        one.key === key &&
        one.operator === operator &&
        one.value === value &&
        one.effect === effect,
    );
    return same ?? toleration;
  });
  if (JSON.stringify(tolerations) === JSON.stringify(pod.tolerations)) return null;
  return { ...facts, pod: { ...pod, tolerations } };
}

/** Any client that may write the pod may write any text there. */
function appliedTolerations(text: string | null): readonly Toleration[] {
  try {
    return text === null ? [] : podFromJson(JSON.parse(text)).tolerations;
  } catch {
    return [];
  }
}

/** The nodes with the found starts, and the names of those whose past is not available. */
interface OwnStarts {
  readonly nodes: readonly NodeFacts[];
  readonly unsure: readonly string[];
}

/** The leader writes them down 2 s after the taints of a node were written, where it can. */
const recentMs: Millis = 10_000;
/** The number of states that are looked through for one node. */
const statesPerNodeMax = 20;

/**
 * Where the taints of a node were just written, what the node says of those that were there before
 * is of the write before, and not to be believed by who saw nothing: a taint may have gone and come
 * back. taintmgr-controller saw what happened. So the states in between are read, back to where
 * each taint came, or to its written start.
 */
export async function withOwnStarts(
  reader: Pick<ClusterReader, 'nodeBefore'>,
  nodes: readonly NodeFacts[],
  now: Instant,
): Promise<OwnStarts> {
  const unsure: string[] = [];
  const read = async (facts: NodeFacts): Promise<NodeFacts> => {
    const { node } = facts;
    const open = openTaints(facts);
    const isRecent = now - (node.taintsWrittenAt ?? Number.NEGATIVE_INFINITY) < recentMs;
    if (open.length === 0 || !isRecent) return facts;
    const found = await startsOf(reader, facts, open);
    if (!found) unsure.push(node.name);
    return { ...facts, node: { ...node, taintStarts: { ...node.taintStarts, ...found } } };
  };
  return { nodes: await Promise.all(nodes.map(read)), unsure };
}

/** The taints whose start is unknown. */
function openTaints({ node: { taints, taintStarts = {} } }: NodeFacts): readonly string[] {
  return taints
    .filter(({ effect, timeAdded }) => effect === 'NoExecute' && timeAdded === null)
    .map(formatTaint)
    .filter((name) => !Object.hasOwn(taintStarts, name));
}

type Starts = Readonly<Record<string, Instant>>;

/** Null: the API server has no past of it. */
async function startsOf(
  reader: Pick<ClusterReader, 'nodeBefore'>,
  present: NodeFacts,
  names: readonly string[],
): Promise<Starts | null> {
  let [current, open] = [present, names];
  let found: Starts = {};
  for (let states = 0; open.length > 0 && states < statesPerNodeMax; states++) {
    const before = await reader.nodeBefore(current);
    if (before?.node.uid !== present.node.uid) break;
    const there = new Set(openTaints(before));
    const written = before.node.taintStarts ?? {};
    const known = open.filter((name) => Object.hasOwn(written, name));
    const came = open.filter((name) => !known.includes(name) && !there.has(name));
    found = { ...found, ...startedWith(current, present, came), ...entriesOf(written, known) };
    open = open.filter((name) => !known.includes(name) && !came.includes(name));
    current = before;
  }
  if (current === present && open.length > 0) return null;
  // The taints were there as far back as can be seen.
  return { ...found, ...startedWith(current, present, open) };
}

/** The taints came with this state; the engine knows those of the present one. */
function startedWith(state: NodeFacts, present: NodeFacts, names: readonly string[]): Starts {
  const { taintsWrittenAt = null } = state.node;
  if (state === present || taintsWrittenAt === null) return {};
  return Object.fromEntries(names.map((name) => [name, endOfSecond(taintsWrittenAt)]));
}

/** The written starts of these taints, for pods of all namespaces and of single ones. */
function entriesOf(written: Starts, names: readonly string[]): Starts {
  const entries = Object.entries(written).filter(([entry]) => {
    return names.some((name) => entry === name || entry.startsWith(`${name} `));
  });
  return Object.fromEntries(entries);
}
