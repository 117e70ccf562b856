// The command line of `doctor`.
import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Millis } from '@taintmgr/core/time';
import { collect } from '../../cli/connection-flags.ts';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';
import { timeoutOption } from '../../cli/timeout-flag.ts';

/** The command line of `doctor`. */
export interface DoctorFlags extends OutputFlags {
  /** Files and folders to check instead of a cluster. */
  readonly filename?: readonly string[] | undefined;
  readonly recursive?: true | undefined;
  /** Put a pod of our own on a Node of our own with a taint, and see who evicts it. */
  readonly probe?: true | undefined;
  /** How long to wait for that. */
  readonly timeout: Millis;
}

const help = `
With -f no cluster is asked: the manifests are checked, among themselves, as a CI job does it. What is
given there should be what is applied, so pipe the output of kustomize or helm into -f -. With -f there is
-o sarif as well, for code scanning.

--probe shows whether kube-controller-manager evicts for NoExecute taints, where nothing else does: it makes
a Node that is no machine, with a taint, and a pod on it in a Namespace of its own, sees who evicts the pod,
and takes everything away again, also after Ctrl-C. The next probe takes away what a killed one has left.
It needs these permissions: create, get, list and delete nodes and pods; create, list and delete namespaces;
list events; get serviceaccounts.

Examples:
  kubectl taintmgr doctor
  kubectl taintmgr doctor --probe
  kubectl taintmgr doctor -f deploy/ -R
  kubectl taintmgr doctor -f deploy/ -R -o sarif > doctor.sarif
  kustomize build overlays/production | kubectl taintmgr doctor -f - -o json

Exit codes:
  0  nothing worse than a warning
  1  the cluster could not be examined; with -f: an error, in a manifest or in reading it
  2  something fails in the cluster, or something of a probe is left`;

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
    .option('--probe', 'see who evicts a pod that is made for it, on a Node that is made for it')
    .addOption(timeoutOption('with --probe: how long to wait for an eviction', 30_000, '30s'))
    .addHelpText('after', help);
  return addOutputFlags(command);
}
