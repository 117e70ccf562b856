// Checks manifests of files: doctor -f.
import type { Instant } from '@taintmgr/core/time';
import { count, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { apiVersion } from '@taintmgr/k8s-adapter/explain';
import { metadataFaults } from '@taintmgr/k8s-adapter/kinds';
import type { Log, ReportingDescriptor, Result } from 'sarif';
import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import type { Invocation } from '../../../cli/registry.ts';
import { version } from '../../../cli/version.ts';
import { type Manifest, type Manifests, readManifests } from '../../../cluster/manifests.ts';
import { type Answer, printAnswer, readFormat } from '../../../render/printer.ts';
import { renderBlocks } from '../blocks.ts';
import type { DoctorFlags, Level } from '../finding.ts';
import { checkBudgets, workloadsIn } from './budgets.ts';
import { checkDevices } from './devices.ts';
import { findingAt, type PlacedFinding, placeOf } from './placed-finding.ts';
import { checkPolicies, isOfOurs } from './policies.ts';

/** Reads the files and reports their faults; errors make the exit code 1. */
export async function checkFiles(
  { flags, output }: Invocation<DoctorFlags>,
  paths: readonly string[],
): Promise<ExitCode> {
  const isSarif = flags.output === 'sarif';
  const format = await readFormat(isSarif ? 'json' : flags.output);
  const { namespace = 'default', recursive = false } = flags;
  const read = await readManifests({ flag: '-f', paths, recursive, namespace });
  const findings = checkManifests(read, Date.now());
  const errors = findings.filter(({ level }) => level === 'FAIL').length;
  const warnings = findings.filter(({ level }) => level === 'WARN').length;
  const answer: Answer = {
    document: isSarif ? sarifOf(findings) : reportOf(read, findings),
    rows: findings,
    names: findings.map(placeOf),
    table: (options) => renderBlocks(findings, placeOf, options),
  };
  if (findings.length > 0 || format.kind !== 'table') {
    output.write(await printAnswer(answer, format, flags.headers !== false, output));
  }
  const of = `${count(read.manifests.length, 'object')} in ${count(read.files.length, 'file')}`;
  output.err(`${of}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`);
  // The program that makes the manifests of a CI job may have failed silently.
  if (read.manifests.length === 0 && findings.length === 0) {
    throw new UsageError(
      `-f ${paths.join(' -f ')}: no manifest in it, want what kubectl apply takes`,
    );
  }
  return errors > 0 ? exitCode.error : exitCode.done;
}

function reportOf(read: Manifests, findings: readonly PlacedFinding[]): object {
  return {
    apiVersion,
    kind: 'ManifestReport',
    files: read.files.length,
    objects: read.manifests.length,
    healthy: findings.every(({ level }) => level !== 'FAIL'),
    findings,
  };
}

type ManifestCheck = (manifests: readonly Manifest[], now: Instant) => readonly PlacedFinding[];

const checks: readonly ManifestCheck[] = [
  (manifests) => checkBudgets(manifests, workloadsIn(manifests)),
  checkPolicies,
  checkDevices,
  (manifests) => manifests.flatMap(checkMetadata),
];

/**
 * Labels and annotations of which every API server refuses the object. Our kinds are checked by their schema.
 */
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

/** The faults at this time, file by file and line by line. */
function checkManifests(
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

const schema = 'https://json.schemastore.org/sarif-2.1.0.json';

const levels: Readonly<Record<Level, Result.level>> = {
  OK: 'none',
  INFO: 'note',
  WARN: 'warning',
  FAIL: 'error',
};

/** The subject of each check, by the name in its findings. */
const rules: Readonly<Record<string, string>> = {
  manifest: 'The file holds objects of Kubernetes, each of them once.',
  budgets: 'PodDisruptionBudgets allow evictions, and cover the pods that they are meant for.',
  policies: 'Policies of taintmgr.dev are accepted by the API server, and do what they seem to do.',
  devices:
    'Taints of devices select what they are meant for, and claims tolerate what they seem to.',
};

/** A SARIF run with one result for each finding; files by their paths from where the command ran. */
export function sarifOf(findings: readonly PlacedFinding[]): Log {
  const driver = {
    name: 'kubectl-taintmgr',
    semanticVersion: version,
    rules: Object.entries(rules).map(
      ([id, text]): ReportingDescriptor => ({ id, shortDescription: { text } }),
    ),
  };
  return {
    $schema: schema,
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results: findings.map(resultOf) }],
  };
}

function resultOf({ check, level, file, line, about, message, fix }: PlacedFinding): Result {
  const what = about === '' ? message : `${about}: ${message}`;
  return {
    ruleId: check,
    ruleIndex: Object.keys(rules).indexOf(check),
    level: levels[level],
    message: { text: fix === '' ? what : `${what}. To mend it: ${fix}` },
    locations: [
      { physicalLocation: { artifactLocation: sarifPlaceOf(file), region: { startLine: line } } },
    ],
    // The same finding is known again after lines have moved.
    partialFingerprints: { 'finding/v1': [check, file, what].join('|') },
  };
}

/** A path is a reference to a URI: what means something else in one is escaped. */
function sarifPlaceOf(file: string): { uri: string; uriBaseId?: string } {
  if (file === '-') return { uri: 'stdin' };
  const path = file.replaceAll('\\', '/').replace(/^(\.\/)+/, '');
  const uri = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? { uri: `file://${uri}` } : { uri, uriBaseId: '%SRCROOT%' };
}
