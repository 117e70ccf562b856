// Discovery: the documents that describe which resources are served.
import { reviews } from '../auth/reviews.ts';
import type { Subresource } from '../resources/resource.ts';
import { resources } from '../resources/resources.ts';

/** One resource as discovery describes it. */
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
}

const servedEntries: readonly Entry[] = [
  ...resources,
  ...reviews.map((review) => ({
    ...review,
    namespaced: false,
    verbs: ['create'],
    shortNames: [],
    categories: [],
    subresources: [],
  })),
];

/** The named API groups, in the order in which clients prefer them. */
export const apiGroups: readonly string[] = [
  ...new Set(servedEntries.map(({ group }) => group).filter((group) => group !== '')),
];

const onlyVersion = 'v1';

/** GET /version. */
export const versionInfo = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.2',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
} as const;

/** GET /api. */
export function coreVersions(): unknown {
  return { kind: 'APIVersions', versions: [onlyVersion], serverAddressByClientCIDRs: [] };
}

/** GET /apis/GROUP; null for a group that is not served. */
export function groupDocument(group: string): Readonly<Record<string, unknown>> | null {
  if (!apiGroups.includes(group)) return null;
  const version = { groupVersion: `${group}/${onlyVersion}`, version: onlyVersion };
  return {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: group,
    versions: [version],
    preferredVersion: version,
  };
}

/** GET /apis. */
export function groupList(): unknown {
  const groups = apiGroups.map((group) => {
    const { kind: _kind, apiVersion: _version, ...rest } = groupDocument(group) ?? {};
    return rest;
  });
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** GET /api/v1 and /apis/GROUP/VERSION; null for what is not served. */
export function resourceList(group: string, version: string): unknown {
  const entries = servedEntries.filter(
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
export function aggregated(core: boolean): unknown {
  const groups = core ? [''] : apiGroups;
  const items = groups.map((group) => ({
    metadata: group ? { name: group } : {},
    versions: [
      {
        version: onlyVersion,
        resources: servedEntries.filter((entry) => entry.group === group).map(aggregatedEntry),
        freshness: 'Current',
      },
    ],
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
  const responseKind = { group: '', version: '', kind: entry.kind };
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
