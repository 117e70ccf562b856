// Since when taints count that taintmgr-controller knows of and has not yet written down.
import { formatTaint } from '@taintmgr/core/model';
import { endOfSecond, type Instant, type Millis } from '@taintmgr/core/time';
import type { NodeFacts } from './facts.ts';
import type { ClusterReader } from './reader.ts';

/** The nodes with what was found, and the names of those whose past is not to be had. */
export interface OwnStarts {
  readonly nodes: readonly NodeFacts[];
  readonly unsure: readonly string[];
}

/** It writes them down 2 s after the taints of a node were written, where it can. */
const recentMs: Millis = 10_000;
/** So many states are looked through for one node. */
const statesMax = 20;

/**
 * Where the taints of a node were just written, what the node says of those that were there before is
 * of the write before, and not to be believed by who saw nothing: a taint may have gone and come back.
 * taintmgr-controller saw what happened. So the states in between are read, back to where each taint
 * came, or to what is written down of it.
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

/** The taints of which nothing says since when they count. */
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
  for (let states = 0; open.length > 0 && states < statesMax; states++) {
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
  // They were there as far back as anybody can see.
  return { ...found, ...startedWith(current, present, open) };
}

/** They came with this state; of the present one the engine says so itself. */
function startedWith(state: NodeFacts, present: NodeFacts, names: readonly string[]): Starts {
  const { taintsWrittenAt = null } = state.node;
  if (state === present || taintsWrittenAt === null) return {};
  return Object.fromEntries(names.map((name) => [name, endOfSecond(taintsWrittenAt)]));
}

/** What is written of these taints, for pods of all namespaces and of single ones. */
function entriesOf(written: Starts, names: readonly string[]): Starts {
  const entries = Object.entries(written).filter(([entry]) => {
    return names.some((name) => entry === name || entry.startsWith(`${name} `));
  });
  return Object.fromEntries(entries);
}
