// The harm to a workload by cause: the nodes and zones that its pods had to leave, its budgets,
// and what kept its pods.
import type { Cause, RunDocument } from '../simulation.ts';
import { nothing, type PodHistory } from './pod-history.ts';
import { count, duration } from './words.ts';
import { indexOf } from './workloads.ts';

/** `48 nodes of eu/eu-a; budget web: 7 too few for 5m36s; no room for 3 pods`; '' where nothing is known. */
export function harmedBy(run: RunDocument, key: string): string {
  const texts = [placesText(run, key), ...budgetTexts(run, key), ...causeTexts(run, key)];
  return texts.filter((text) => text !== '').join('; ');
}

const zonesOf = new WeakMap<RunDocument, ReadonlyMap<string, string>>();

function zoneOf(run: RunDocument, node: string): string {
  const known = zonesOf.get(run) ?? new Map(run.nodes.map(({ name, zone }) => [name, zone]));
  zonesOf.set(run, known);
  return known.get(node) ?? '';
}

/** Where pods were evicted, else where they were to leave. */
function placesText(run: RunDocument, key: string): string {
  const { evictions, refusals, deadlines }: PodHistory = indexOf(run).histories.get(key) ?? nothing;
  const events = [evictions, refusals, deadlines].find((list) => list.length > 0) ?? [];
  const nodes = [...new Set(events.map(({ node }) => node))];
  const zones = [...new Set(nodes.map((node) => zoneOf(run, node)))].filter((zone) => zone !== '');
  const [node] = nodes;
  if (node === undefined) return '';
  const what = nodes.length === 1 ? node : count(nodes.length, 'node');
  if (zones.length === 0) return what;
  return `${what} of ${listed(zones, 'zone')}`;
}

function budgetTexts(run: RunDocument, key: string): readonly string[] {
  const own = new Set(
    (indexOf(run).budgets.get(key) ?? []).map(({ namespace, name }) => `${namespace}/${name}`),
  );
  return run.summary.budgets.flatMap(({ namespace, name, belowMax, belowSeconds, refusals }) => {
    if (!own.has(`${namespace}/${name}`)) return [];
    const below = belowMax > 0 ? [`${belowMax} too few for ${duration(belowSeconds)}`] : [];
    const refused = refusals > 0 ? [`refused ${refusals}`] : [];
    const parts = [...below, ...refused];
    return parts.length === 0 ? [] : [`budget ${name}: ${parts.join(', ')}`];
  });
}

const kept: Readonly<Partial<Record<Cause['kind'], string>>> = {
  limit: 'held by limit',
  pause: 'held by pause',
  room: 'no room',
  failure: 'failed requests',
};

function causeTexts(run: RunDocument, key: string): readonly string[] {
  return run.summary.causes.flatMap(({ kind, name, workload, pods }) => {
    const text = kept[kind];
    if (workload !== key || text === undefined) return [];
    return [`${name === '' ? text : `${text} ${name}`} for ${count(pods, 'pod')}`];
  });
}

/** The name of a single object, or the number of several. */
function listed(names: readonly string[], noun: string): string {
  return names.length === 1 ? (names[0] ?? '') : count(names.length, noun);
}
