// The command line of `doctor`.
import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { collect } from '../../cli/connection-flags.ts';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';

/** The command line of `doctor`. */
export interface DoctorFlags extends OutputFlags {
  /** Files and folders to check instead of a cluster. */
  readonly filename?: readonly string[] | undefined;
  readonly recursive?: true | undefined;
}

const help = `
With -f no cluster is asked: the manifests are checked, among themselves, as a CI job does it. What is
given there should be what is applied, so pipe the output of kustomize or helm into -f -. With -f there is
-o sarif as well, for code scanning.

Examples:
  kubectl taintmgr doctor
  kubectl taintmgr doctor -f deploy/ -R
  kubectl taintmgr doctor -f deploy/ -R -o sarif > doctor.sarif
  kustomize build overlays/production | kubectl taintmgr doctor -f - -o json

Exit codes:
  0  nothing worse than a warning
  1  the cluster could not be examined; with -f: an error, in a manifest or in reading it
  2  something fails in the cluster`;

/** `doctor`, as its help shows it. */
export function doctorCommand(): CommandUnknownOpts {
  const command = new Command('doctor')
    .summary('find what would keep evictions from working')
    .description(
      'find what would keep evictions from working: missing permissions, two controllers for the same pods, PodDisruptionBudgets that never allow an eviction, taints without a time, clocks that differ',
    )
    .addOption(
      new Option(
        '-f, --filename <path>',
        'check manifests instead: a file, a folder, or - for standard input; may be repeated',
      ).argParser(collect),
    )
    .option('-R, --recursive', 'with -f: folders in folders too')
    .addHelpText('after', help);
  return addOutputFlags(command);
}
