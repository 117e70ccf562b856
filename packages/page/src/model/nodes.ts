// The lanes of zones, their nodes, and the pods on them.
import type { NodeInput, RunInput } from '../input.ts';
import { barsOf, historiesBy, marksOf, type PodEvents, type PodHistory, podKey } from './pods.ts';
import {
  type About,
  type Area,
  type AreaStep,
  type Bar,
  type Fill,
  type Row,
  rowOf,
} from './row.ts';
import { countsOf, spansWhere } from './steps.ts';
import { type Clock, count, span } from './words.ts';

type Opened = ReadonlySet<string>;

/** What of a run is about zones and nodes. */
export type NodeEvents = PodEvents & Pick<RunInput, 'zones' | 'nodes'>;

const nothing: PodHistory = { deadlines: [], holds: [], refusals: [], evictions: [] };

interface NodeWithHistory {
  readonly node: NodeInput;
  readonly history: PodHistory;
  readonly harm: number;
}

/** Zones by harm; under those that are open their nodes, under those their pods. */
export function zoneRows(run: NodeEvents, end: number, opened: Opened): readonly Row[] {
  const histories = historiesBy(run, ({ node }) => node);
  const zones = new Map<string, NodeWithHistory[]>();
  for (const node of run.nodes) {
    const history = histories.get(node.name) ?? nothing;
    const harm = harmOf(node, history, end);
    const group = zones.get(node.zone) ?? [];
    group.push({ node, history, harm });
    zones.set(node.zone, group);
  }
  const total = (nodes: readonly NodeWithHistory[]) =>
    nodes.reduce((sum, { harm }) => sum + harm, 0);
  const sorted = [...zones].sort(([, one], [, other]) => total(other) - total(one));
  const heading = rowOf({
    key: 'zones',
    kind: 'heading',
    label: 'Zones and nodes: nodes not ready',
  });
  return [heading, ...sorted.flatMap(([zone, nodes]) => rowsOfZone(run, zone, nodes, end, opened))];
}

/** Seconds in which it was not ready, and a minute for each pod it lost. */
function harmOf(node: NodeInput, { evictions, refusals, holds }: PodHistory, end: number): number {
  const spans = spansWhere(node.states, end, ({ ready }) => ready !== 'True');
  const seconds = spans.reduce((sum, { from, until }) => sum + until - from, 0);
  return seconds + 60 * (evictions.length + refusals.length + holds.length);
}

function rowsOfZone(
  run: NodeEvents,
  zone: string,
  nodes: readonly NodeWithHistory[],
  end: number,
  opened: Opened,
): readonly Row[] {
  const key = `z ${zone}`;
  const touched = nodes.filter(({ harm, node }) => harm > 0 || node.states.length > 1);
  const isOpen = opened.has(key);
  const area = areaOf(zone, nodes, end);
  const row = rowOf({
    key,
    label: zone === '' ? 'no zone' : zone,
    note: touched.length === 0 ? `${count(nodes.length, 'node')}, calm` : noteOf(nodes, area),
    isOpen,
    area,
    bars: [...taintsOfZone(zone, nodes, end), ...holdsOfZone(run, zone, end)],
    marks: marksOf(evictionsOf(nodes)),
  });
  if (!isOpen) return [row];
  const sorted = [...touched].sort((one, other) => other.harm - one.harm);
  const calm = nodes.filter((one) => !touched.includes(one));
  const calmKey = `${key} calm`;
  const fold = rowOf({
    key: calmKey,
    kind: 'fold',
    depth: 1,
    label: `${count(calm.length, 'node')} to which nothing happens`,
    isOpen: opened.has(calmKey),
  });
  const others = opened.has(calmKey) ? calm : [];
  return [
    row,
    ...sorted.flatMap((one) => rowsOfNode(one, end, opened)),
    ...(calm.length === 0 ? [] : [fold]),
    ...others.flatMap((one) => rowsOfNode(one, end, opened)),
  ];
}

function noteOf(nodes: readonly NodeWithHistory[], { most }: Area): string {
  const { evictions } = evictionsOf(nodes);
  const down = most > 0 ? `${most} of ${nodes.length} not ready` : `${count(nodes.length, 'node')}`;
  return evictions.length === 0 ? down : `${down}, ${leftText(evictions)}`;
}

/** By what they left a live page cannot see. */
function leftText(evictions: PodHistory['evictions']): string {
  const isSeen = evictions.some(({ how }) => how === 'seen');
  return isSeen ? `${count(evictions.length, 'pod')} left` : count(evictions.length, 'eviction');
}

function areaOf(zone: string, nodes: readonly NodeWithHistory[], end: number): Area {
  const spans = nodes.flatMap(({ node }) => {
    return spansWhere(node.states, end, ({ ready }) => ready !== 'True');
  });
  const steps = countsOf(spans).map(({ at, value }) => {
    return { at, value, noticed: null, allowed: null };
  });
  const about = ({ at, value }: AreaStep, until: number, clock: Clock): About => {
    const title = `${zone || 'no zone'}: ${value} of ${nodes.length} nodes not ready`;
    return { at, title, facts: [['from', span(clock, at, until)]] };
  };
  const most = Math.max(0, ...steps.map(({ value }) => value));
  return { steps, most, fill: 'unknown', about };
}

/** A strip for as long as some nodes have NoExecute taints. */
function taintsOfZone(
  zone: string,
  nodes: readonly NodeWithHistory[],
  end: number,
): readonly Bar[] {
  const spans = nodes.flatMap(({ node }) => {
    return spansWhere(node.states, end, ({ taints }) => taints.some(isNoExecute));
  });
  const steps = countsOf(spans);
  return spansWhere(steps, end, ({ value }) => value > 0).map(({ from, until, state }) => {
    const title = `${zone || 'no zone'}: ${state.value} of ${nodes.length} nodes tainted NoExecute`;
    const about = (clock: Clock): About => {
      return { at: from, title, facts: [['from', span(clock, from, until)]] };
    };
    return { from, until, fill: 'tainted', top: 0, bottom: 0.14, about };
  });
}

function evictionsOf(nodes: readonly NodeWithHistory[]): PodHistory {
  return { ...nothing, evictions: nodes.flatMap(({ history }) => history.evictions) };
}

/** When unreachable nodes of a zone are not tainted. */
function holdsOfZone(run: NodeEvents, zone: string, end: number): readonly Bar[] {
  const states = run.zones.find(({ name }) => name === zone)?.states ?? [];
  return spansWhere(states, end, ({ held }) => held !== null).map(({ from, until, state }) => {
    const about = (clock: Clock): About => ({
      at: from,
      title: `${zone}: no node is tainted`,
      facts: [
        ['why', state.held ?? ''],
        ['zone is', state.state],
        ['held', span(clock, from, until)],
      ],
    });
    return { from, until, fill: 'held', top: 0.82, bottom: 1, about };
  });
}

const fills: Readonly<Record<string, Fill>> = { False: 'down', Unknown: 'unknown', Gone: 'gone' };

function rowsOfNode(
  { node, history }: NodeWithHistory,
  end: number,
  opened: Opened,
): readonly Row[] {
  const key = `n ${node.name}`;
  const hasPods = Object.values(history).some((list) => list.length > 0);
  const { evictions } = history;
  const row = rowOf({
    key,
    depth: 1,
    label: node.name,
    note: evictions.length === 0 ? '' : leftText(evictions),
    isOpen: hasPods ? opened.has(key) : null,
    bars: [...statesOf(node, end), ...barsOf(history, end)],
    marks: marksOf(history),
  });
  if (!row.isOpen) return [row];
  const pods = historiesBy(history, podKey);
  const rows = Array.from(pods, ([pod, one]) =>
    rowOf({
      key: `${key} ${pod}`,
      depth: 2,
      label: pod,
      bars: barsOf(one, end),
      marks: marksOf(one),
    }),
  );
  return [row, ...rows];
}

/** Above: how the node is; a strip at the top: that it has NoExecute taints. */
function statesOf(node: NodeInput, end: number): readonly Bar[] {
  const unwell = spansWhere(node.states, end, ({ ready }) => ready !== 'True');
  const tainted = spansWhere(node.states, end, ({ taints }) => taints.some(isNoExecute));
  const aboutOf =
    (from: number, until: number, state: NodeInput['states'][number]) =>
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

function isNoExecute(taint: string): boolean {
  return taint.endsWith(':NoExecute');
}
