// `doctor -f`: checks manifests, without a cluster.
import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import type { Invocation } from '../../../cli/invocation.ts';
import { count } from '../../../render/count.ts';
import { readFormat } from '../../../render/format.ts';
import { type Answer, printAnswer } from '../../../render/printer.ts';
import { type Column, renderColumns } from '../../../render/table.ts';
import { apiVersion } from '../../../report/documents.ts';
import { none } from '../../../report/words.ts';
import { UsageError } from '../../../usage-error.ts';
import { levelTones } from '../finding.ts';
import type { DoctorFlags } from '../flags.ts';
import { checkManifests } from './checks.ts';
import { type Manifests, readManifests } from './files.ts';
import { type PlacedFinding, placeOf } from './finding.ts';
import { sarifOf } from './sarif.ts';

/** Reads the files and says what is wrong with them; errors make it 1. */
export async function checkFiles(
  { flags, output }: Invocation<DoctorFlags>,
  paths: readonly string[],
): Promise<ExitCode> {
  const isSarif = flags.output === 'sarif';
  const format = await readFormat(isSarif ? 'json' : flags.output);
  const { namespace = 'default', recursive = false } = flags;
  const read = await readManifests({ paths, recursive, namespace });
  const findings = checkManifests(read, Date.now());
  const errors = findings.filter(({ level }) => level === 'FAIL').length;
  const warnings = findings.filter(({ level }) => level === 'WARN').length;
  const paint = output.paintOut;
  const tone = ({ level }: PlacedFinding) => levelTones[level];
  const answer: Answer = {
    document: isSarif ? sarifOf(findings) : reportOf(read, findings),
    rows: findings,
    names: findings.map(placeOf),
    table: (options) => renderColumns(columns, findings, options, { head: 'LEVEL', tone, paint }),
  };
  if (findings.length > 0 || format.kind !== 'table') {
    output.write(await printAnswer(answer, format, flags.headers !== false));
  }
  const of = `${count(read.manifests.length, 'object')} in ${count(read.files.length, 'file')}`;
  output.err(`${of}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`);
  // What makes the manifests of a CI job may have failed without a word.
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

const columns: readonly Column<PlacedFinding>[] = [
  ['LEVEL', ({ level }) => level],
  ['FILE', placeOf],
  ['ABOUT', ({ about }) => about || '-'],
  ['FINDING', ({ message }) => message],
  ['FIX', ({ fix }) => fix || none],
];
