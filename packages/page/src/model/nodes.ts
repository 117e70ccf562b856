// The lanes of nodes and of the pods on them, and how nodes are: by that zones are judged too.
import type { NodeSeen, ZoneSeen } from '../simulation.ts';
import { historiesBy, nothing, type PodEvents, type PodHistory, podKey } from './pod-history.ts';
import { barsOf, marksOf } from './pods.ts';
import { type About, type Bar, type Fill, type Row, rowOf } from './row.ts';
import { countsOf, mostOf, spansWhere } from './steps.ts';
import { type Clock, count, span } from './words.ts';

const fills: Readonly<Record<string, Fill>> = { False: 'down', Unknown: 'unknown', Gone: 'gone' };

type Opened = ReadonlySet<string>;

/** A node, with a band for each run; open, also its pods in each run. */
export function rowsOfNode(
  runs: readonly { readonly variant: string | null; readonly of: NodeOfRun }[],
  end: number,
  opened: Opened,
): readonly Row[] {
  const [first] = runs;
  if (!first) return [];
  const { name } = first.of.node;
  const key = `n ${name}`;
  const hasPods = runs.some(({ of }) => Object.values(of.history).some((list) => list.length > 0));
  const isOpen = hasPods ? opened.has(key) : null;
  const isCalm = !runs.some(({ of }) => isTouched(of));
  const [band = null, ...others] = runs.slice(0, isCalm ? 1 : runs.length).map((one, index) => ({
    variant: isCalm ? null : one.variant,
    note: evictionsText([one.of], index === 0 ? null : [first.of]),
    area: null,
    bars: [...statesOf(one.of.node, end), ...barsOf(one.of.history, end)],
    marks: marksOf(one.of.history),
  }));
  const lane = rowOf({ ...band, key, depth: 1, label: name, isOpen, isCalm, others });
  if (!isOpen) return [lane];
  const pods = runs.flatMap(({ variant, of }, index) => {
    return podRows(`${key} ${index}`, variant, of.history, end);
  });
  return [lane, ...pods];
}

function podRows(
  key: string,
  variant: string | null,
  history: PodHistory,
  end: number,
): readonly Row[] {
  return Array.from(historiesBy(history, podKey), ([pod, one]) =>
    rowOf({
      key: `${key} ${pod}`,
      depth: 2,
      label: pod,
      variant,
      bars: barsOf(one, end),
      marks: marksOf(one),
    }),
  );
}

/** Above: how the node is; a strip at the top: that it has NoExecute taints. */
function statesOf(node: NodeSeen, end: number): readonly Bar[] {
  const unwell = spansWhere(node.states, end, isUnready);
  const tainted = spansWhere(node.states, end, hasNoExecute);
  const aboutOf =
    (from: number, until: number, state: NodeSeen['states'][number]) =>
    (clock: Clock): About => ({
      at: from,
      title: `${node.name}: ${state.ready === 'Gone' ? 'gone' : `Ready=${state.ready}`}`,
      facts: [
        ['taints', state.taints.join(', ') || 'none'],
        ...(state.cordoned ? [['cordoned', 'yes'] as const] : []),
        ['from', span(clock, from, until)],
      ],
    });
  return [
    ...unwell.map(({ from, until, state }): Bar => {
      const fill = fills[state.ready] ?? 'unknown';
      return { from, until, fill, top: 0, bottom: 1, about: aboutOf(from, until, state) };
    }),
    ...tainted.map(({ from, until, state }): Bar => {
      const about = aboutOf(from, until, state);
      return { from, until, fill: 'tainted', top: 0, bottom: 0.22, about };
    }),
  ];
}

export type NodeState = NodeSeen['states'][number];

/** The part of a run about zones and nodes. */
export type NodeEvents = PodEvents & {
  readonly zones: readonly ZoneSeen[];
  readonly nodes: readonly NodeSeen[];
};

/** A node in one run. */
export interface NodeOfRun {
  readonly node: NodeSeen;
  readonly history: PodHistory;
  readonly harm: number;
}

/** The nodes of a run with what became of their pods. */
export function nodesOf(run: NodeEvents, end: number): readonly NodeOfRun[] {
  const histories = historiesBy(run, ({ node }) => node);
  return run.nodes.map((node) => {
    const history = histories.get(node.name) ?? nothing;
    return { node, history, harm: harmOf(node, history, end) };
  });
}

/** Seconds in which it was not ready, and a minute for each pod it lost; a little for being tainted. */
function harmOf(node: NodeSeen, { evictions, refusals, holds }: PodHistory, end: number): number {
  const spans = spansWhere(node.states, end, isUnready);
  const seconds = spans.reduce((sum, { from, until }) => sum + until - from, 0);
  const isTainted = node.states.some(hasNoExecute);
  return seconds + 60 * (evictions.length + refusals.length + holds.length) + (isTainted ? 0.1 : 0);
}

/** True where anything happened to it. */
export function isTouched({ harm, node }: NodeOfRun): boolean {
  return harm > 0 || node.states.length > 1;
}

export function isUnready({ ready }: NodeState): boolean {
  return ready !== 'True';
}

export function hasNoExecute({ taints }: NodeState): boolean {
  return taints.some((taint) => taint.endsWith(':NoExecute'));
}

export function evictionsOf(nodes: readonly NodeOfRun[]): PodHistory {
  return { ...nothing, evictions: nodes.flatMap(({ history }) => history.evictions) };
}

/** All that is known of the pods of these nodes. */
export function historyOf(nodes: readonly NodeOfRun[]): PodHistory {
  return {
    deadlines: nodes.flatMap(({ history }) => history.deadlines),
    holds: nodes.flatMap(({ history }) => history.holds),
    refusals: nodes.flatMap(({ history }) => history.refusals),
    evictions: nodes.flatMap(({ history }) => history.evictions),
    failures: nodes.flatMap(({ history }) => history.failures),
  };
}

/** `ever`: the most at any time, for a simulation; `now`: the present number, for a live cluster. */
export type Tense = 'ever' | 'now';

const unknown: NodeState = { at: 0, ready: 'Unknown', cordoned: false, taints: [] };

/** `2 of 5 not ready, 1 tainted`; '' where all are well. */
function statesText(all: readonly NodeOfRun[], end: number, tense: Tense): string {
  const isNow = tense === 'now';
  const nodes = present(all, tense);
  const amountOf = (isMeant: (state: NodeState) => boolean): number =>
    isNow ? nodes.filter((one) => isMeant(last(one))).length : mostAtOnce(nodes, end, isMeant);
  const [unready, tainted] = [amountOf(isUnready), amountOf(hasNoExecute)];
  const amounts: readonly (readonly [number, string])[] = [
    [unready, 'not ready'],
    // Of a zone that fails the one says the other.
    [isNow || tainted > unready ? tainted : 0, 'tainted'],
    // The acts of a script on nodes are no consequences.
    [isNow ? amountOf(({ cordoned }) => cordoned) : 0, 'cordoned'],
  ];
  const [first, ...others] = amounts.filter(([amount]) => amount > 0);
  if (!first) return '';
  const head = `${first[0]} of ${nodes.length} ${first[1]}`;
  return [head, ...others.map((one) => one.join(' '))].join(', ');
}

function last({ node }: NodeOfRun): NodeState {
  return node.states.at(-1) ?? unknown;
}

/** Of a live cluster those that are there. */
function present(nodes: readonly NodeOfRun[], tense: Tense): readonly NodeOfRun[] {
  return tense === 'now' ? nodes.filter((one) => last(one).ready !== 'Gone') : nodes;
}

/** A summary of the nodes in a run, and the number of additional evictions over the first run. */
export function nodesNote(
  nodes: readonly NodeOfRun[],
  first: readonly NodeOfRun[] | null,
  end: number,
  tense: Tense,
): string {
  const states = statesText(nodes, end, tense);
  const evictions = evictionsText(nodes, first);
  const number = count(present(nodes, tense).length, 'node');
  if (states === '') return `${number}, ${evictions || 'all ready'}`;
  return evictions === '' ? states : `${states}, ${evictions}`;
}

/** `10 evictions (+6)`; '': none. By what pods left a live page cannot see. */
function evictionsText(nodes: readonly NodeOfRun[], first: readonly NodeOfRun[] | null): string {
  const { evictions } = evictionsOf(nodes);
  const before = first ? evictionsOf(first).evictions.length : evictions.length;
  const more = evictions.length - before;
  if (evictions.length === 0 && more === 0) return '';
  const isSeen = evictions.some(({ how }) => how === 'seen');
  const text = isSeen
    ? `${count(evictions.length, 'pod')} left`
    : count(evictions.length, 'eviction');
  return more === 0 ? text : `${text} (${more > 0 ? '+' : '−'}${Math.abs(more)})`;
}

function mostAtOnce(
  nodes: readonly NodeOfRun[],
  end: number,
  isMeant: (state: NodeState) => boolean,
): number {
  const spans = nodes.flatMap(({ node }) => spansWhere(node.states, end, isMeant));
  return mostOf(
    countsOf(spans).map(({ value }) => value),
    0,
  );
}
