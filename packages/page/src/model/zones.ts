// The lanes of zones; under those that are open their nodes. A lane has a band for each variant.
import {
  evictionsOf,
  hasNoExecute,
  historyOf,
  isTouched,
  isUnready,
  type NodeEvents,
  type NodeOfRun,
  nodesNote,
  nodesOf,
  rowsOfNode,
  type Tense,
} from './nodes.ts';
import { marksOf } from './pods.ts';
import { type About, type Area, type AreaStep, type Bar, type Row, rowOf } from './row.ts';
import { countsOf, spansWhere } from './steps.ts';
import { type Clock, count, span } from './words.ts';

type Opened = ReadonlySet<string>;

/** A run with a band in the lanes of zones. */
export interface RunOfZones extends NodeEvents {
  /** Null: there is but this one. */
  readonly variant: string | null;
}

/** A zone in one run. */
interface ZoneOfRun {
  readonly run: RunOfZones;
  readonly nodes: readonly NodeOfRun[];
}

/** Zones by harm; under those that are open their nodes, under those their pods. */
export function zoneRows(
  runs: readonly RunOfZones[],
  end: number,
  opened: Opened,
  tense: Tense = 'ever',
): readonly Row[] {
  const zones = new Map<string, ZoneOfRun[]>();
  for (const run of runs) {
    const nodes = nodesOf(run, end);
    for (const zone of new Set(nodes.map(({ node }) => node.zone))) {
      const own = nodes.filter(({ node }) => node.zone === zone);
      zones.set(zone, [...(zones.get(zone) ?? []), { run, nodes: own }]);
    }
  }
  const harmOf = (parts: readonly ZoneOfRun[]): number =>
    Math.max(...parts.map(({ nodes }) => nodes.reduce((sum, { harm }) => sum + harm, 0)));
  const sorted = [...zones].sort(([, one], [, other]) => harmOf(other) - harmOf(one));
  const label = 'Zones and nodes: nodes not ready';
  const heading = rowOf({ key: 'zones', kind: 'heading', label });
  return [
    heading,
    ...sorted.flatMap(([zone, parts]) => {
      const key = `z ${zone}`;
      const lanes = zoneLane(zone, parts, { end, tense, isOpen: opened.has(key) });
      return opened.has(key) ? [...lanes, ...nodeRows(key, parts, end, opened)] : lanes;
    }),
  ];
}

interface Shown {
  readonly end: number;
  readonly tense: Tense;
  readonly isOpen: boolean;
}

/** A lane of all runs, in which each has a band; one run tells all of a zone in which nothing happens. */
function zoneLane(
  zone: string,
  parts: readonly ZoneOfRun[],
  { end, tense, isOpen }: Shown,
): readonly Row[] {
  const isCalm = parts.every(({ nodes }) => !nodes.some(isTouched));
  const [first, ...others] = parts
    .slice(0, isCalm ? 1 : parts.length)
    .map(({ run, nodes }, index) => {
      const before = index === 0 ? null : (parts[0]?.nodes ?? null);
      return {
        variant: isCalm ? null : run.variant,
        note: nodesNote(nodes, before, end, tense),
        area: isCalm ? null : areaOf(zone, nodes, end),
        bars: [...taintsOfZone(zone, nodes, end), ...holdsOfZone(run, zone, end)],
        marks: marksOf(evictionsOf(nodes), () => historyOf(nodes)),
      };
    });
  const label = zone === '' ? 'no zone' : zone;
  return first ? [rowOf({ ...first, key: `z ${zone}`, label, isOpen, isCalm, others })] : [];
}

/** Nodes by harm, those to which nothing happens folded. */
function nodeRows(
  key: string,
  parts: readonly ZoneOfRun[],
  end: number,
  opened: Opened,
): readonly Row[] {
  const byName = new Map<string, { readonly variant: string | null; readonly of: NodeOfRun }[]>();
  for (const { run, nodes } of parts) {
    for (const one of nodes) {
      const known = byName.get(one.node.name) ?? [];
      byName.set(one.node.name, [...known, { variant: run.variant, of: one }]);
    }
  }
  const all = [...byName.values()];
  const harmOf = (node: (typeof all)[number]): number => Math.max(...node.map(({ of }) => of.harm));
  const touched = all.filter((node) => node.some(({ of }) => isTouched(of)));
  touched.sort((one, other) => harmOf(other) - harmOf(one));
  const calm = all.filter((node) => !touched.includes(node));
  const calmKey = `${key} calm`;
  const isOpen = opened.has(calmKey);
  const label = `${count(calm.length, 'node')} not affected`;
  const fold = rowOf({ key: calmKey, kind: 'fold', depth: 1, label, isOpen, isCalm: true });
  return [
    ...touched.flatMap((node) => rowsOfNode(node, end, opened)),
    ...(calm.length === 0 ? [] : [fold]),
    ...(isOpen ? calm.flatMap((node) => rowsOfNode(node, end, opened)) : []),
  ];
}

function areaOf(zone: string, nodes: readonly NodeOfRun[], end: number): Area {
  const spans = nodes.flatMap(({ node }) => {
    return spansWhere(node.states, end, isUnready);
  });
  const steps = countsOf(spans).map(({ at, value }) => {
    return { at, value, noticed: null, allowed: null };
  });
  const about = ({ at, value }: AreaStep, until: number, clock: Clock): About => {
    const title = `${zone || 'no zone'}: ${value} of ${nodes.length} nodes not ready`;
    return { at, title, facts: [['from', span(clock, at, until)]] };
  };
  return { steps, most: nodes.length, fill: 'unknown', about };
}

/** A strip for as long as some nodes have NoExecute taints. */
function taintsOfZone(zone: string, nodes: readonly NodeOfRun[], end: number): readonly Bar[] {
  const spans = nodes.flatMap(({ node }) => {
    return spansWhere(node.states, end, hasNoExecute);
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
