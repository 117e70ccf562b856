// What is wrong with policies and the other kinds of taintmgr.dev, in the words of the API server.
import { readManifest } from '@taintmgr/core/policy';
import type { Manifest } from './files.ts';
import { findingAt, type PlacedFinding } from './finding.ts';

const group = /^taintmgr\.dev\//;

/** Every fault of each of them; more checks of policies go here. */
export function checkPolicies(manifests: readonly Manifest[]): readonly PlacedFinding[] {
  return manifests.filter(({ apiVersion }) => group.test(apiVersion)).flatMap(checkSchema);
}

function checkSchema(manifest: Manifest): readonly PlacedFinding[] {
  // When a pause began makes no difference here.
  const judged = readManifest(manifest.field.value, 0);
  if (judged.kind === 'allowed') return [];
  return judged.faults.map(({ path, text }) => {
    // Files of ours that are no objects of a cluster, such as topologies, have this group too.
    const level = path[0] === 'kind' ? 'WARN' : 'FAIL';
    return findingAt('policies', level, { manifest, at: manifest.field.at(path) }, text);
  });
}
