// Everything about policies and the other kinds of taintmgr.dev: what the API server would refuse, in its
// words, and what it would take and nobody can want.
import { policyKinds, readManifest } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import type { Manifest } from '../files.ts';
import { findingAt, type PlacedFinding } from '../finding.ts';
import { checkMatch, checkOverlaps } from './matching.ts';
import { placedPolicies } from './placed.ts';
import {
  checkDrains,
  checkPauses,
  checkRules,
  checkSense,
  checkWindows,
  isOfOurs,
} from './sense.ts';

/** Every fault of each of them, and of them together. `now` is for what ends. */
export function checkPolicies(
  manifests: readonly Manifest[],
  now: Instant,
): readonly PlacedFinding[] {
  const ours = manifests.filter(({ apiVersion }) => isOfOurs(apiVersion));
  const placed = placedPolicies(ours);
  return [
    ...ours.flatMap((manifest) => {
      const faults = checkSchema(manifest);
      return [...faults, ...(faults.length === 0 ? checkNumbers(manifest) : [])];
    }),
    ...checkMatch(placed),
    ...checkOverlaps(placed),
    ...checkSense(placed),
    ...checkRules(placed),
    ...checkPauses(placed, now),
    ...checkDrains(placed),
    ...checkWindows(placed, now),
  ];
}

/** Numbers that the API server takes, and that are others than people read. */
function checkNumbers(manifest: Manifest): readonly PlacedFinding[] {
  return manifest.field.oddNumbers().map((at) => {
    const message = `${at.path}: kubectl reads the number ${at.value}: a 0 in front makes it octal`;
    const fix = `write ${at.value}, or leave the 0 out`;
    return findingAt('policies', 'WARN', { manifest, at }, message, fix);
  });
}

function checkSchema(manifest: Manifest): readonly PlacedFinding[] {
  // When a pause began makes no difference here.
  const judged = readManifest(manifest.field.value, 0);
  if (judged.kind === 'allowed') return [];
  return judged.faults.map(({ path, text }) => {
    // Files of ours that are no objects of a cluster, such as topologies, have this group too.
    const isOther = path[0] === 'kind' && !Object.hasOwn(policyKinds, manifest.kind);
    const meant = isOther ? didYouMean(manifest.kind, Object.keys(policyKinds)) : '';
    const level = isOther && meant === '' ? 'WARN' : 'FAIL';
    const at = manifest.field.at(path);
    const fix = at.hint(text) || meant.replace(/^, /, '');
    return findingAt('policies', level, { manifest, at }, text, fix);
  });
}
