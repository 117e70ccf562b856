// Every check of manifests, each a row of one table.

import { metadataFaults } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { checkBudgets } from './budgets.ts';
import type { Manifest, Manifests } from './files.ts';
import { findingAt, type PlacedFinding, placeOf } from './finding.ts';
import { checkPolicies } from './policies/checks.ts';
import { isOfOurs } from './policies/sense.ts';
import { workloadsIn } from './workloads.ts';

type ManifestCheck = (manifests: readonly Manifest[], now: Instant) => readonly PlacedFinding[];

const checks: readonly ManifestCheck[] = [
  (manifests) => checkBudgets(manifests, workloadsIn(manifests)),
  checkPolicies,
  (manifests) => manifests.flatMap(checkMetadata),
];

/** Labels and annotations of which every API server refuses the object. Those of ours their schema is asked about. */
function checkMetadata(manifest: Manifest): readonly PlacedFinding[] {
  const { apiVersion, field } = manifest;
  if (isOfOurs(apiVersion)) return [];
  const group = apiVersion.split('/')[0] ?? '';
  const isOfKubernetes = !group.includes('.') || group.endsWith('.k8s.io');
  return [
    ...faultsAt(manifest, ['metadata'], field.find(['metadata'])?.value),
    ...(isOfKubernetes ? labelMaps : []).flatMap((path) => {
      const labels = field.find(path)?.value;
      return labels === undefined ? [] : faultsAt(manifest, path, { labels });
    }),
  ];
}

const pods = [[], ['template'], ['jobTemplate', 'spec', 'template']];
/** Labels of the pods that an object makes, and what selects pods and nodes by labels. */
const labelMaps: readonly (readonly string[])[] = [
  ['spec', 'selector', 'matchLabels'],
  ...pods.slice(1).map((path) => ['spec', ...path, 'metadata', 'labels']),
  ...pods.map((path) => ['spec', ...path, ...(path.length === 0 ? [] : ['spec']), 'nodeSelector']),
];

/** Faults of metadata, and of labels that stand elsewhere. */
function faultsAt(
  manifest: Manifest,
  place: readonly string[],
  metadata: unknown,
): readonly PlacedFinding[] {
  return metadataFaults(metadata).flatMap(({ path, text }) => {
    // Some kinds have names that others may not have.
    if (path[1] === 'name') return [];
    const isMap = place.length > 1;
    const at = manifest.field.at(isMap ? [...place, ...path.slice(2)] : path);
    const why = isMap ? text.replaceAll('metadata.labels', place.join('.')) : text;
    return [findingAt('manifest', 'FAIL', { manifest, at }, why, at.hint(why))];
  });
}

/** What is wrong with them at this time, file by file and line by line. */
export function checkManifests(
  { files, manifests, faults }: Manifests,
  now: Instant,
): readonly PlacedFinding[] {
  const [used, repeated] = withoutRepeated(manifests);
  const unreadable = faults.map(({ file, line, text, isForeign }): PlacedFinding => {
    return {
      check: 'manifest',
      level: isForeign ? 'INFO' : 'FAIL',
      file,
      line,
      about: '',
      message: text,
      fix: '',
    };
  });
  const found = [...unreadable, ...repeated, ...checks.flatMap((check) => check(used, now))];
  const order = new Map(files.map((file, index) => [file, index] as const));
  const rank = ({ file }: PlacedFinding): number => order.get(file) ?? 0;
  return found.sort((a, b) => rank(a) - rank(b) || a.line - b.line);
}

/** An object that stands there twice, as in a base and its overlay, is one: the first counts. */
function withoutRepeated(
  manifests: readonly Manifest[],
): readonly [used: readonly Manifest[], repeated: readonly PlacedFinding[]] {
  const first = new Map<string, Manifest>();
  const repeated: PlacedFinding[] = [];
  for (const manifest of manifests) {
    const { apiVersion, kind, namespace, name, field } = manifest;
    const isGenerated = field.find(['metadata', 'name']) === null;
    const key = JSON.stringify([
      apiVersion.split('/', 1)[0],
      kind,
      namespace,
      name,
      isGenerated && field.line,
    ]);
    const before = first.get(key);
    if (!before) {
      first.set(key, manifest);
      continue;
    }
    const place = placeOf(findingAt('manifest', 'WARN', { manifest: before }, ''));
    repeated.push(
      findingAt('manifest', 'WARN', { manifest }, `is at ${place} too, and was checked there`),
    );
  }
  return [[...first.values()], repeated];
}
