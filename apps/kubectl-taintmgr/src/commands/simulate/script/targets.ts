import type { Field } from '@taintmgr/k8s-adapter/manifests';
import type { Cluster, KubeObject } from '@taintmgr/sim-cluster';
import { zoneNames } from '../../../cluster/facts.ts';

/** Which nodes an event of a script is about. */
export type Targets =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'zone'; readonly zone: string }
  | { readonly kind: 'labels'; readonly labels: readonly (readonly [string, string])[] }
  | { readonly kind: 'all' };

/** The fields that name nodes; one of them is given. */
export const targetFields = ['node', 'nodes', 'zone', 'selector'] as const;

const labelPattern = /^([\w./-]+)=([\w.-]*)$/;

/** Reads which nodes are meant. Throws FileFault. */
export function readTargets(event: Field, members: ReadonlyMap<string, Field>): Targets {
  const given = targetFields.flatMap((name) => members.get(name) ?? []);
  const [field, another] = given;
  if (!field) throw event.fault(`want one of ${targetFields.join(', ')}`);
  if (another) throw another.fault(`want one of ${targetFields.join(', ')}, got two`);
  if (members.has('node')) return { kind: 'names', names: [field.text()] };
  if (members.has('zone')) return { kind: 'zone', zone: field.text() };
  if (members.has('selector')) return { kind: 'labels', labels: labelsOf(field) };
  if (field.value === 'all') return { kind: 'all' };
  const names = field.items().map((item) => item.text());
  if (names.length === 0) throw field.fault('want the name of a node at least');
  return { kind: 'names', names };
}

function labelsOf(field: Field): readonly (readonly [string, string])[] {
  return field
    .text()
    .split(',')
    .map((term) => {
      const [, key, value] = labelPattern.exec(term.trim()) ?? [];
      if (key === undefined || value === undefined) {
        throw field.fault(`want labels such as pool=blue,tier=web, got ${JSON.stringify(term)}`);
      }
      return [key, value] as const;
    });
}

/** The nodes that are meant, in the order of the names given or of the API. */
export function targetsOf(targets: Targets, { api }: Cluster): readonly string[] {
  if (targets.kind === 'names') return targets.names;
  const nodes = api.list('nodes').filter((node) => isMeant(targets, node));
  return nodes.map(({ metadata }) => metadata.name);
}

function isMeant(targets: Targets, { metadata: { labels = {} } }: KubeObject): boolean {
  switch (targets.kind) {
    case 'zone':
      return zoneNames(labels).includes(targets.zone);
    case 'labels':
      return targets.labels.every(([key, value]) => labels[key] === value);
    default:
      return true;
  }
}

/** `node-1, node-2`, `zone zone-a`, `nodes with pool=blue`, `all nodes`. */
export function targetsText(targets: Targets): string {
  switch (targets.kind) {
    case 'names':
      return targets.names.join(', ');
    case 'zone':
      return `zone ${targets.zone}`;
    case 'labels':
      return `nodes with ${targets.labels.map(([key, value]) => `${key}=${value}`).join(',')}`;
    case 'all':
      return 'all nodes';
  }
}
