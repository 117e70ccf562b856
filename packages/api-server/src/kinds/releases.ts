// The minor versions of Kubernetes that a server can stand for: what each serves by default, by the sources of
// kube-apiserver and k8s.io/api.
import type { Resource } from '@taintmgr/sim-cluster/server';

/** A minor version of Kubernetes. */
export type KubernetesVersion =
  | '1.30'
  | '1.31'
  | '1.32'
  | '1.33'
  | '1.34'
  | '1.35'
  | '1.36'
  | '1.37'
  | '1.38';

/** The API of a server of one version, as far as clients of taintmgr can tell. */
export interface Release {
  /** GET /version. */
  readonly version: typeof latestVersion;
  /** True where it serves the resource by default; left out: it serves all that there are. */
  readonly serves?: (resource: Resource) => boolean;
  /** False while the gate WatchList is off: a watch cannot begin with a list. */
  readonly streamsLists: boolean;
}

const latestVersion = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.2',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
};

/** The server without a version: it stands for 1.36, with the beta kinds and the rules of 1.37 switched on. */
export const latestRelease: Release = { version: latestVersion, streamsLists: true };

/** The minor version that first serves a kind, of the kinds that are younger than 1.30. */
const servedSince: Readonly<Record<string, number>> = {
  'networking.k8s.io/v1/ipaddresses': 33,
  'networking.k8s.io/v1/servicecidrs': 33,
  'resource.k8s.io/v1/deviceclasses': 34,
  'resource.k8s.io/v1/resourceclaims': 34,
  'resource.k8s.io/v1/resourceclaimtemplates': 34,
  'resource.k8s.io/v1/resourceslices': 34,
  'storage.k8s.io/v1/volumeattributesclasses': 34,
  'resource.k8s.io/v1/devicetaintrules': 37,
};

/** Off before 1.32, and in 1.33 again. */
const withoutStreamedLists: readonly number[] = [30, 31, 33];

/** The server of a version with its default flags. */
export function releaseOf(version: KubernetesVersion): Release {
  const minor = Number(version.slice(version.indexOf('.') + 1));
  return {
    version: { ...latestVersion, minor: String(minor), gitVersion: `v${version}.0` },
    // Beta versions are off by default.
    serves: ({ group, version: served, plural }) =>
      !served.includes('beta') && (servedSince[`${group}/${served}/${plural}`] ?? 0) <= minor,
    streamsLists: !withoutStreamedLists.includes(minor),
  };
}
