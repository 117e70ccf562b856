// The planned losses: each is a part of the nodes, and the way it is lost.
import { formatTaint, type Toleration } from '@taintmgr/core';
import { zoneName } from '@taintmgr/core/model';
import type { Millis } from '@taintmgr/core/time';
import { choicesText, count, countBy, UsageError } from '@taintmgr/k8s-adapter/command-line';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import { zoneNames } from '@taintmgr/k8s-adapter/survey';
import type { Recording } from '@taintmgr/page';
import type { KubeObject, PlainServer } from '@taintmgr/sim-cluster';
import { yamlLineOf } from '../../../render/yaml.ts';
import type { By } from '../flags.ts';

/** The time of each loss, which is for good. */
export const lossAtMs: Millis = 60_000;

/** A planned loss. */
export interface PlannedLoss {
  readonly name: string;
  readonly taint?: string;
  /** As a script has it. */
  readonly event: string;
  readonly nodes: readonly string[];
  /** The number of pods on the nodes at the beginning. */
  readonly pods: number;
}

/** The input for planning losses: flags, policies, and the cluster at the beginning. */
interface PlanOptions {
  readonly each: string;
  readonly by: By;
  readonly api: PlainServer;
  readonly pods: Recording['pods'];
  readonly policies: readonly PolicyObject[];
}

/** In the order of their names. Throws UsageError where there are not two parts at least, or no taint. */
export function planLosses({ each, by, api, pods, policies }: PlanOptions): readonly PlannedLoss[] {
  const groups = groupsOf(each, api.list('nodes'));
  const taints = by.kind === 'taint' ? taintsOf(by.taint, api, policies) : [null];
  const podsOn = countBy(pods.filter(({ until }) => until === null).map(({ node }) => node));
  return groups.flatMap(({ name, nodes, targets }) =>
    taints.map((taint): PlannedLoss => {
      const body = taint === null ? targets : { ...targets, taint };
      return {
        name,
        ...(taint !== null && { taint }),
        event: yamlLineOf({ at: '1m', [actionOf[by.kind]]: body }),
        nodes,
        pods: nodes.reduce((sum, node) => sum + (podsOn.get(node) ?? 0), 0),
      };
    }),
  );
}

const actionOf: Readonly<Record<By['kind'], string>> = {
  down: 'stopKubelet',
  'cut-off': 'loseNetwork',
  drain: 'drain',
  taint: 'taint',
};

/** Nodes that are lost together. */
interface Group {
  readonly name: string;
  readonly nodes: readonly string[];
  /** As an event names them. */
  readonly targets: object;
}

const hostname = 'kubernetes.io/hostname';

function groupsOf(each: string, nodes: readonly KubeObject[]): readonly Group[] {
  const groups = each === 'node' ? nodes.map(groupOfNode) : groupsBy(each, nodes);
  if (groups.length > 1) return groups;
  const [only] = groups;
  const all = nodes.length === 1 ? 'there is one node' : `all ${nodes.length} nodes are one`;
  const others = each === 'node' ? '' : `; want ${partsText(nodes)}`;
  throw new UsageError(
    `--each ${each}: ${all}, ${only?.name ?? ''}: nothing is left without it${others}`,
  );
}

function groupOfNode({ metadata: { name } }: KubeObject): Group {
  return { name, nodes: [name], targets: { node: name } };
}

/** Of zones, or of the values of a label; nodes without are the last group. */
function groupsBy(each: string, nodes: readonly KubeObject[]): readonly Group[] {
  const isZone = each === 'zone';
  const placeOf = ({ metadata: { labels = {} } }: KubeObject): string | null =>
    isZone ? zoneName(labels) || null : (labels[each] ?? null);
  const values = [...new Set(nodes.map(placeOf))].filter((value) => value !== null).sort();
  if (values.length === 0) throw new UsageError(`--each ${each}: ${nobodyHas(each, nodes)}`);
  const named = values.map((value): Group => {
    const members = nodes.filter((node) => placeOf(node) === value);
    const isWhole = nodes.filter((node) => isInZone(node, value)).length === members.length;
    const targets = isZone ? { zone: value } : { selector: `${each}=${value}` };
    // Zones of several regions may have one name, by which an event would mean all of them.
    if (isZone && !isWhole)
      return { name: value, nodes: namesOf(members), targets: { nodes: namesOf(members) } };
    return { name: value === '' ? '""' : value, nodes: namesOf(members), targets };
  });
  const others = namesOf(nodes.filter((node) => placeOf(node) === null));
  if (others.length === 0) return named;
  const name = isZone ? 'without a zone' : `without ${each}`;
  return [...named, { name, nodes: others, targets: { nodes: others } }];
}

function isInZone({ metadata: { labels = {} } }: KubeObject, zone: string): boolean {
  return zoneNames(labels).includes(zone);
}

function nobodyHas(each: string, nodes: readonly KubeObject[]): string {
  const choices = ['node', 'zone', ...telling(nodes)];
  if (each === 'zone') return `no node is in a zone; want ${partsText(nodes)}`;
  const like = didYouMean(each, choices) || ';';
  return `no node has the label ${each}${like} want ${partsText(nodes)}`;
}

/** The values of `--each` that suit these nodes, in words. */
function partsText(nodes: readonly KubeObject[]): string {
  const hasZones = nodes.some(({ metadata }) => zoneName(metadata.labels ?? {}) !== '');
  const keys = telling(nodes);
  const labels = keys.length === 0 ? [] : [`a label that tells nodes apart (${choicesText(keys)})`];
  const [last = 'node', ...others] = ['node', ...(hasZones ? ['zone'] : []), ...labels].reverse();
  return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
}

/** The labels by which there are several groups. */
function telling(nodes: readonly KubeObject[]): readonly string[] {
  const labels = nodes.map(({ metadata }) => metadata.labels ?? {});
  const keys = [...new Set(labels.flatMap((all) => Object.keys(all)))].sort();
  return keys.filter((key) => key !== hostname && new Set(labels.map((all) => all[key])).size > 1);
}

function namesOf(nodes: readonly KubeObject[]): readonly string[] {
  return nodes.map(({ metadata }) => metadata.name);
}

/** The one that is asked for, or each that is in use. */
function taintsOf(
  given: string | null,
  api: PlainServer,
  policies: readonly PolicyObject[],
): readonly string[] {
  if (given !== null) return [given];
  const taints = taintsInUse(api, policies);
  if (taints.length > 0) return taints;
  throw new UsageError(
    '--by taint: no node, toleration, policy or rule names a taint of your own; want --by taint=KEY=VALUE:NoExecute',
  );
}

/** A taint or a toleration of it; without a value: any. */
interface Use {
  readonly key?: string | undefined;
  readonly value?: string | undefined;
}

/** Each key in use, with effect NoExecute and the most frequent value: nodes first, then pods. */
export function taintsInUse(
  api: Pick<PlainServer, 'list'>,
  policies: readonly PolicyObject[],
): readonly string[] {
  const ofNodes = api.list('nodes').flatMap(({ spec }): readonly Use[] => spec?.taints ?? []);
  const ofPods = api
    .list('pods')
    .flatMap(({ spec }): readonly Toleration[] => spec.tolerations ?? []);
  const ofPolicies = policies.flatMap(({ kind, value }): readonly Use[] => {
    if (kind === 'EvictionPolicy') return value.match.taints;
    return kind === 'NodeTaintRule' ? [value.taint] : [];
  });
  const uses = [ofNodes, ofPods, ofPolicies];
  const keys = new Set(uses.flat().flatMap(({ key = '' }) => (isOwn(key) ? [key] : [])));
  return [...keys].sort().map((key) => {
    const value = uses.map((some) => mostUsed(key, some)).find((found) => found !== '') ?? '';
    return formatTaint({ key, value, effect: 'NoExecute' });
  });
}

/** '': none of them says one. */
function mostUsed(key: string, uses: readonly Use[]): string {
  const values = uses.flatMap((use) => (use.key === key && use.value ? [use.value] : []));
  const counts = [...countBy(values)].sort(
    ([a, one], [b, other]) => other - one || (a < b ? -1 : 1),
  );
  return counts[0]?.[0] ?? '';
}

/** A node that an administrator has switched off for good: only people set this taint. */
const outOfService = 'node.kubernetes.io/out-of-service';

/** Tells whether the taint key is one that Kubernetes does not set by itself. */
function isOwn(key: string): boolean {
  return key === outOfService || !/^$|^node(\.cloudprovider)?\.kubernetes\.io\//.test(key);
}

/** `3 zones`, `60 nodes`, `4 groups by pool` */
export function lossesText(each: string, groups: number): string {
  return each === 'node' || each === 'zone'
    ? count(groups, each)
    : `${count(groups, 'group')} by ${each}`;
}
