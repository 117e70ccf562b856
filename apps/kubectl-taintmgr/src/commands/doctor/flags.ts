// The command line of doctor.
import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { addOutputFlags, collect, timeoutOption } from '../../cli/common-flags.ts';
import { type HelpTexts, withHelp } from '../../cli/help.ts';

const doctorHelp: HelpTexts = {
  examples: [
    '# Check the cluster',
    'kubectl taintmgr doctor',
    '# Prove which controller evicts, with a pod made for it',
    'kubectl taintmgr doctor --probe',
    '# Check manifests, without a cluster',
    'kubectl taintmgr doctor -f deploy/ -R',
    'kubectl taintmgr doctor -f deploy/ -R -o sarif > doctor.sarif',
    'kustomize build overlays/production | kubectl taintmgr doctor -f - -o json',
  ],
  details: `
With -f, the manifests are checked against each other, and no cluster is read. Check what is applied: pipe
the output of kustomize or helm into -f -. With -f, -o sarif is available for code scanning.

--probe proves whether kube-controller-manager evicts for NoExecute taints. The probe creates a Node without
a machine, with a taint, and a pod on that node in a new namespace, watches which controller evicts the pod,
and deletes everything, also after Ctrl-C. The next probe deletes what a killed probe left. A probe needs
these permissions: create, get, list and delete nodes and pods; create, list and delete namespaces; list
events; get serviceaccounts.`,
  exits: [
    ['0', 'nothing worse than a warning'],
    ['1', 'the cluster could not be examined; with -f: an error in a manifest, or in reading it'],
    ['2', 'a check fails in the cluster, or a probe could not delete all that it made'],
  ],
};

/** `doctor`, as its help shows it. */
export function doctorCommand(): CommandUnknownOpts {
  const command = new Command('doctor')
    .summary('find what would keep evictions from working')
    .description(
      'find what would keep evictions from working: missing permissions, two controllers for the same pods, PodDisruptionBudgets that never allow an eviction, taints without a time, different clocks',
    )
    .addOption(
      new Option(
        '-f, --filename <path>',
        'check manifests instead: a file, a directory, or - for standard input; may be repeated',
      ).argParser(collect),
    )
    .option('-R, --recursive', 'with -f: also read subdirectories')
    .option('--probe', 'prove which controller evicts, with a pod and a Node made for the probe')
    .addOption(timeoutOption('with --probe: how long to wait for an eviction', 30_000, '30s'));
  return withHelp(addOutputFlags(command), doctorHelp);
}
