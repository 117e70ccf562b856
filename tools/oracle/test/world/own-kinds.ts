// The kinds that checkers of takeover look at, as far as they look.
import type { ApiServer } from '@taintmgr/api-server';

export const group = 'taintmgr.dev';

/** TaintManagers, EvictionPauses and EvictionPolicies of any form. They are served a moment later. */
export function installOwnKinds(api: ApiServer): void {
  for (const [plural, kind] of [
    ['taintmanagers', 'TaintManager'],
    ['evictionpauses', 'EvictionPause'],
    ['evictionpolicies', 'EvictionPolicy'],
  ] as const) {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const properties = { spec: open, status: open };
    const schema = { openAPIV3Schema: { type: 'object', properties } };
    const version = { name: 'v1alpha1', served: true, storage: true, schema };
    api.create('customresourcedefinitions', {
      metadata: { name: `${plural}.${group}` },
      spec: {
        ...{ group, scope: 'Cluster', names: { plural, kind } },
        versions: [{ ...version, subresources: { status: {} } }],
      },
    });
  }
}
