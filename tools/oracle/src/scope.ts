// What a limit of evictions counts pods by.
import type { KubeObject } from '@taintmgr/sim-cluster';
import { zoneOf } from './lifecycle/zones.ts';
import type { ObjectHistory } from './object-history.ts';
import type { WindowTerm } from './terms.ts';

/** The scope that a pod is in at that instant; null: it is in none. */
export function scopeOf(
  history: ObjectHistory,
  per: WindowTerm['per'],
  { metadata, spec }: KubeObject,
  at: number,
): string | null {
  switch (per) {
    case 'total':
      return '';
    case 'node':
      return spec.nodeName ?? '';
    case 'namespace':
      return metadata.namespace ?? '';
    case 'workload': {
      const owner = metadata.ownerReferences?.find(({ controller }) => controller);
      return owner ? `${metadata.namespace}/${owner.kind}/${owner.name}` : null;
    }
    case 'zone': {
      const node = history.during(history.node(spec.nodeName ?? ''), at, at).at(-1)?.object;
      return node ? zoneOf(node) : null;
    }
  }
}
