// Which policies, pauses and taint rules count: of the cluster, of the controller's files, of ours.
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import type { OwnSettings } from './own-settings.ts';

/** What counts, and where it comes from. */
export interface PoliciesInForce {
  readonly objects: readonly PolicyObject[];
  /** The names of those that only the files of taintmgr-controller have. */
  readonly ofController: readonly string[];
  /** Those of them of which only the name is known. */
  readonly unknown: readonly string[];
  /** Whether the cluster has some that taintmgr-controller does not follow. */
  readonly isIgnored: boolean;
}

type Settings = Pick<OwnSettings, 'engine' | 'followsCluster' | 'policies'>;

/**
 * Of several with one name that of `files` counts, which are assumed to be given to the controller, then
 * that of its own files, then that of the cluster. By the rules of kube-controller-manager none counts.
 */
export function policiesInForce(
  cluster: readonly PolicyObject[],
  settings: Settings | undefined,
  files: readonly PolicyObject[] = [],
): PoliciesInForce {
  const isUpstream = settings?.engine.semantics === 'upstream-1.36';
  const isIgnored = settings?.followsCluster === false && cluster.length > 0;
  if (isUpstream) return { objects: [], ofController: [], unknown: [], isIgnored };
  const taken = new Set(files.map(keyOf));
  const own = (settings?.policies ?? []).filter(({ kind, name }) => !taken.has(`${kind} ${name}`));
  for (const { kind, name } of own) taken.add(`${kind} ${name}`);
  const followed = settings?.followsCluster === false ? [] : cluster;
  return {
    objects: [
      ...files,
      ...own.flatMap(({ object }) => object ?? []),
      ...followed.filter((object) => !taken.has(keyOf(object))),
    ],
    ofController: own.map(({ name }) => name),
    unknown: own.flatMap(({ name, object }) => (object ? [] : [name])),
    isIgnored,
  };
}

/** Tells policies apart. */
export function keyOf({ kind, value }: PolicyObject): string {
  return `${kind} ${value.name}`;
}
