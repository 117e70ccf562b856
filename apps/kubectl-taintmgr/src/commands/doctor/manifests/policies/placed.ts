// The policies, taint rules and pauses among manifests, each with its place.
import { type PolicyObject, readManifest } from '@taintmgr/core/policy';
import type { Manifest } from '../files.ts';
import { findingAt, type PlacedFinding, placeOf } from '../finding.ts';

type Kind = PolicyObject['kind'];

/** What a manifest says, and where. */
export interface Placed<K extends Kind> {
  readonly manifest: Manifest;
  readonly value: Extract<PolicyObject, { readonly kind: K }>['value'];
}

/** All that are right, kind by kind. */
export interface PlacedPolicies {
  readonly policies: readonly Placed<'EvictionPolicy'>[];
  readonly rules: readonly Placed<'NodeTaintRule'>[];
  readonly pauses: readonly Placed<'EvictionPause'>[];
  readonly drains: readonly Placed<'NodeDrain'>[];
}

/** Those that the API server would take; the others are found elsewhere. */
export function placedPolicies(manifests: readonly Manifest[]): PlacedPolicies {
  const policies: Placed<'EvictionPolicy'>[] = [];
  const rules: Placed<'NodeTaintRule'>[] = [];
  const pauses: Placed<'EvictionPause'>[] = [];
  const drains: Placed<'NodeDrain'>[] = [];
  for (const manifest of manifests) {
    // When a pause began makes no difference here.
    const judged = readManifest(manifest.field.value, 0);
    if (judged.kind === 'refused') continue;
    const { kind, value } = judged.value;
    if (kind === 'EvictionPolicy') policies.push({ manifest, value });
    else if (kind === 'NodeTaintRule') rules.push({ manifest, value });
    else if (kind === 'EvictionPause') pauses.push({ manifest, value });
    else if (kind === 'NodeDrain') drains.push({ manifest, value });
  }
  return { policies, rules, pauses, drains };
}

/** Something that is to be looked at, at the value of this path or the name of the object. */
export function warnAt(
  manifest: Manifest,
  path: readonly (string | number)[],
  message: string,
  fix: string,
): PlacedFinding {
  return findingAt('policies', 'WARN', { manifest, at: manifest.field.find(path) }, message, fix);
}

/** `FILE:LINE` of an object's name. */
export function placeOfName(manifest: Manifest): string {
  return placeOf(findingAt('policies', 'WARN', { manifest }, ''));
}
