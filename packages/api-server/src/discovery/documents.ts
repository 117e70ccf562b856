// Discovery: the documents that describe which resources are served.

import type { ServedResources, Subresource } from '@taintmgr/sim-cluster/server';
import { reviews } from '../auth/reviews.ts';

/** A resource as discovery describes it. */
interface Entry {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly custom?: object | null;
}

const reviewEntries: readonly Entry[] = reviews.map((review) => ({
  ...review,
  namespaced: false,
  verbs: ['create'],
  shortNames: [],
  categories: [],
  subresources: [],
}));

/** In the order in which the real server lists them. */
const customVerbs: readonly string[] =
  'delete deletecollection get list patch create update watch'.split(' ');
const creating: readonly string[] = ['create', 'patch', 'update'];

/** Objects of a resource whose definition is being deleted cannot be created. */
function entriesOf(served: ServedResources): readonly Entry[] {
  const entries = served.all.map((entry) => {
    if (!entry.custom) return entry;
    const { isTerminating } = entry.custom;
    const verbs = customVerbs.filter((verb) => !isTerminating || !creating.includes(verb));
    return { ...entry, verbs };
  });
  return [...entries, ...reviewEntries];
}

/** The named API groups, in the order in which clients prefer them. */
export function apiGroups(served: ServedResources): readonly string[] {
  return [
    ...new Set(
      entriesOf(served)
        .map(({ group }) => group)
        .filter((group) => group !== ''),
    ),
  ];
}

/** The versions of a group, the preferred one first. */
function versionsOf(served: ServedResources, group: string): readonly string[] {
  const entries = entriesOf(served).filter((entry) => entry.group === group);
  return [...new Set(entries.map(({ version }) => version))].sort(byPriority);
}

/** GET /api. */
export function coreVersions(): object {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
}

/** GET /apis/GROUP; null for a group that is not served. */
export function groupDocument(
  served: ServedResources,
  group: string,
): Readonly<Record<string, unknown>> | null {
  const versions = versionsOf(served, group).map((version) => ({
    groupVersion: `${group}/${version}`,
    version,
  }));
  if (group === '' || versions.length === 0) return null;
  return {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: group,
    versions,
    preferredVersion: versions[0],
  };
}

/** GET /apis. */
export function groupList(served: ServedResources): object {
  const groups = apiGroups(served).map((group) => {
    const { kind: _kind, apiVersion: _version, ...rest } = groupDocument(served, group) ?? {};
    return rest;
  });
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** GET /api/v1 and /apis/GROUP/VERSION; null if it is not served. */
export function resourceList(
  served: ServedResources,
  group: string,
  version: string,
): object | null {
  const entries = entriesOf(served).filter(
    (entry) => entry.group === group && entry.version === version,
  );
  if (entries.length === 0) return null;
  return {
    kind: 'APIResourceList',
    ...(group ? { apiVersion: 'v1' } : {}),
    groupVersion: group ? `${group}/${version}` : version,
    resources: entries.flatMap((entry) => [legacyEntry(entry), ...legacySubresources(entry)]),
  };
}

function legacyEntry(entry: Entry): unknown {
  const { shortNames, categories } = entry;
  return {
    name: entry.plural,
    singularName: entry.singular,
    namespaced: entry.namespaced,
    kind: entry.kind,
    verbs: entry.verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  };
}

function legacySubresources({ plural, kind, namespaced, subresources }: Entry): readonly unknown[] {
  return subresources.map((subresource) => ({
    name: `${plural}/${subresource.name}`,
    singularName: '',
    namespaced,
    ...(subresource.kind ?? { kind }),
    verbs: subresource.verbs,
  }));
}

/** The media type parameters of aggregated discovery. */
export const aggregatedType =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Aggregated discovery of the core group or of all named groups. */
export function aggregated(served: ServedResources, core: boolean): unknown {
  const groups = core ? [''] : apiGroups(served);
  const items = groups.map((group) => ({
    metadata: group ? { name: group } : {},
    versions: versionsOf(served, group).map((version) => ({
      version,
      resources: entriesOf(served)
        .filter((entry) => entry.group === group && entry.version === version)
        .map(aggregatedEntry),
      freshness: 'Current',
    })),
  }));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items,
  };
}

function aggregatedEntry(entry: Entry): unknown {
  const { shortNames, categories, subresources } = entry;
  // The kinds of every server are in the group and version around them.
  const place = entry.custom ? entry : { group: '', version: '' };
  const responseKind = { group: place.group, version: place.version, kind: entry.kind };
  return {
    resource: entry.plural,
    responseKind,
    scope: entry.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: entry.singular,
    verbs: entry.verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map(({ name, verbs, kind }) => ({
            subresource: name,
            responseKind: { ...responseKind, ...kind },
            verbs,
          })),
        }
      : {}),
  };
}

// The order of API versions: stable ones by number, then beta, then alpha, then others by name.

const pattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const stages: readonly (string | undefined)[] = ['alpha', 'beta', undefined];

/** Sorts versions, the one that clients prefer first. */
export function byPriority(a: string, b: string): number {
  const [mine, theirs] = [pattern.exec(a), pattern.exec(b)];
  if (!mine || !theirs) return mine ? -1 : theirs ? 1 : a < b ? -1 : a > b ? 1 : 0;
  return (
    stages.indexOf(theirs[2]) - stages.indexOf(mine[2]) ||
    Number(theirs[1]) - Number(mine[1]) ||
    Number(theirs[3] ?? 0) - Number(mine[3] ?? 0)
  );
}
