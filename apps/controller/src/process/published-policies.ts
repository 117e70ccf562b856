// The policies of --policy files as the leader publishes them: nobody else can read those files.

import { formatTimeMillis } from '@taintmgr/core/time';
import type { TaintManagerStatus } from '@taintmgr/k8s-adapter/kinds';
import type { FilePolicy } from '@taintmgr/k8s-adapter/manifests';

type Published = NonNullable<TaintManagerStatus['policies']>[number];

/** So many characters in all, and of one of them. */
const specLengthMax = 8192;
const allLengthMax = 32_768;

/**
 * Each with its spec, in the order of the files, as long as there is room; after that the names alone.
 * Of a pause also since when it holds, which its file need not say.
 */
export function publishedPolicies(policies: readonly FilePolicy[]): readonly Published[] {
  let room = allLengthMax;
  return policies.map(({ object: { kind, value }, manifest }): Published => {
    const text = specText(manifest);
    const fits = text.length <= Math.min(room, specLengthMax);
    if (fits) room -= text.length;
    return {
      kind,
      name: value.name,
      ...(fits && { spec: text }),
      ...(kind === 'EvictionPause' && { since: formatTimeMillis(value.since) }),
    };
  });
}

function specText(manifest: unknown): string {
  const spec = manifest instanceof Object && 'spec' in manifest ? manifest.spec : {};
  return JSON.stringify(spec ?? {});
}
