// `doctor -f`: checks manifests, without a cluster.
import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import type { Invocation } from '../../../cli/invocation.ts';
import { count } from '../../../render/count.ts';
import { readFormat } from '../../../render/format.ts';
import { type Answer, printAnswer } from '../../../render/printer.ts';
import { type Column, renderColumns } from '../../../render/table.ts';
import { apiVersion } from '../../../report/documents.ts';
import { none } from '../../../report/words.ts';
import { levelTones } from '../finding.ts';
import type { DoctorFlags } from '../flags.ts';
import { checkManifests } from './checks.ts';
import { readManifests } from './files.ts';
import { type PlacedFinding, placeOf } from './finding.ts';

/** Reads the files and says what is wrong with them; errors make it 1. */
export async function checkFiles(
  { flags, output }: Invocation<DoctorFlags>,
  paths: readonly string[],
): Promise<ExitCode> {
  const format = await readFormat(flags.output);
  const { namespace = 'default', recursive = false } = flags;
  const read = await readManifests({ paths, recursive, namespace });
  const findings = checkManifests(read, Date.now());
  const errors = findings.filter(({ level }) => level === 'FAIL').length;
  const warnings = findings.filter(({ level }) => level === 'WARN').length;
  const paint = output.paintOut;
  const tone = ({ level }: PlacedFinding) => levelTones[level];
  const answer: Answer = {
    document: {
      apiVersion,
      kind: 'ManifestReport',
      files: read.files.length,
      objects: read.manifests.length,
      healthy: errors === 0,
      findings,
    },
    rows: findings,
    names: findings.map(placeOf),
    table: (options) => renderColumns(columns, findings, options, { head: 'LEVEL', tone, paint }),
  };
  if (findings.length > 0 || format.kind !== 'table') {
    output.write(await printAnswer(answer, format, flags.headers !== false));
  }
  const of = `${count(read.manifests.length, 'object')} in ${count(read.files.length, 'file')}`;
  output.err(`${of}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`);
  return errors > 0 ? exitCode.error : exitCode.done;
}

const columns: readonly Column<PlacedFinding>[] = [
  ['LEVEL', ({ level }) => level],
  ['FILE', placeOf],
  ['ABOUT', ({ about }) => about || '-'],
  ['FINDING', ({ message }) => message],
  ['FIX', ({ fix }) => fix || none],
];
