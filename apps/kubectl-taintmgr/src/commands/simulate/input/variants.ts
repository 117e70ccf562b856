// What --variant names: policies, or whose rules, that are played beside each other from the same start.

import type { Instant } from '@taintmgr/core/time';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { PolicyPathError, readPolicyFiles } from '@taintmgr/k8s-adapter/manifests';
import { filesFirst } from '../../../cluster/policies.ts';
import { UsageError } from '../../../usage-error.ts';
import type { Semantics } from '../stage/run.ts';
import { unchangedWord, upstreamWord, type VariantFlag } from '../variant-flag.ts';

/** One of the runs that are compared. */
export interface Variant {
  readonly name: string;
  readonly semantics: Semantics;
  readonly policies: readonly PolicyObject[];
}

/** What is in force in each variant: what its own files say counts before all others. */
export function variantsOf(
  flags: readonly VariantFlag[],
  {
    own,
    policies,
    now,
  }: {
    /** The rules of the script. */
    readonly own: Semantics;
    /** What is in force without a variant. */
    readonly policies: readonly PolicyObject[];
    /** Since when a pause of a file holds that does not say so. */
    readonly now: Instant;
  },
): readonly Variant[] {
  return flags.map(({ name, from }) => {
    if (from === unchangedWord) return { name, semantics: own, policies };
    if (from === upstreamWord) return { name, semantics: 'upstream-1.36', policies };
    return { name, semantics: own, policies: filesFirst(readVariant(name, from, now), policies) };
  });
}

function readVariant(name: string, from: string, now: Instant): readonly PolicyObject[] {
  try {
    return readPolicyFiles([from], now);
  } catch (error) {
    if (!(error instanceof PolicyPathError)) throw error;
    const reserved = `${unchangedWord} or ${upstreamWord}`;
    throw new UsageError(
      `--variant ${name}=${error.message}; want a file, a directory, ${reserved}`,
    );
  }
}
