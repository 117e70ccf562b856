import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Millis } from '@taintmgr/core/time';
import {
  addOutputFlags,
  dryRunOption,
  type OutputFlags,
  timeoutOption,
} from '../../cli/common-flags.ts';
import { namedObject, objectNames } from '../../cli/values.ts';

/** The command line of `takeover status`. */
export type StatusFlags = OutputFlags;

/** Of `takeover enable`. */
export interface ChangeFlags extends OutputFlags {
  readonly yes?: true | undefined;
  readonly dryRun: string;
}

/** Of `takeover disable`. */
export interface DisableFlags extends ChangeFlags {
  readonly all?: true | undefined;
  readonly held: string;
  readonly timeout: Millis;
}

/** Of `takeover verify`. */
export interface VerifyFlags extends ChangeFlags {
  readonly node: string;
  readonly scratch: string;
  readonly timeout: Millis;
}

const enableHelp = `
First it is proved that the API server refuses what kube-controller-manager would do: by a server-side
dry run of that very request, on a pod of a namespace that is taken over already or in a namespace
that is made for it and deleted again. Nothing is changed where that fails.

Examples:
  kubectl taintmgr takeover enable shop
  kubectl taintmgr takeover enable shop cart --yes
  kubectl taintmgr takeover enable shop --dry-run=server`;

const disableHelp = `
kube-controller-manager has forgotten the pods that it was refused. So they are evicted before the label
is taken off; those that PodDisruptionBudgets keep until --timeout are left, and named.

What it was refused for taints of devices it has not forgotten. It deletes those that are left at once, as
their ResourceClaims are annotated for a moment; without the right to patch these, within 17 minutes.

Exit codes:
  0    nothing is left
  1    usage, permissions, or the API server
  3    pods are left that nobody evicts

Examples:
  kubectl taintmgr takeover disable shop
  kubectl taintmgr takeover disable --all --held=leave --yes`;

const verifyHelp = `
It makes two namespaces, puts pods on the node, taints it with taintmgr.dev/verify:NoExecute, watches what
becomes of them, and takes everything away again. A node with pods that do not tolerate the taint is
refused. Where taints of devices are held, and it may write ResourceSlices, ResourceClaims and their
status, it taints a device of its own, too.

Exit codes:
  0    all cases passed
  1    usage, permissions, or the API server
  2    a case failed

Examples:
  kubectl taintmgr takeover verify --node spare-1
  kubectl taintmgr takeover verify --node spare-1 --dry-run=client`;

/** `takeover`, whose commands follow. */
export function takeoverGroup(): CommandUnknownOpts {
  return new Command('takeover')
    .summary('decide about evictions in the place of kube-controller-manager')
    .description(
      'decide about evictions in the place of kube-controller-manager, in a cluster where it cannot be changed',
    )
    .helpCommand(false);
}

export function statusCommand(): CommandUnknownOpts {
  return addOutputFlags(
    new Command('status').description('say whether takeover works, and what it has done'),
  );
}

export function enableCommand(): CommandUnknownOpts {
  const command = new Command('enable')
    .description('take over the pods of namespaces')
    .argument('<namespaces...>', 'namespaces', objectNames)
    .option('-y, --yes', 'do not ask')
    .addOption(
      dryRunOption(
        'client: only say what would change; server: let the API server check it, and prove what can be proved; none: take over',
      ),
    )
    .addHelpText('after', enableHelp);
  return addOutputFlags(command);
}

export function disableCommand(): CommandUnknownOpts {
  const command = new Command('disable')
    .description('give the pods of namespaces back to kube-controller-manager')
    .argument('[namespaces...]', 'namespaces', objectNames)
    .option('--all', 'every namespace that is taken over')
    .addOption(
      new Option('--held <what>', 'pods that it was refused: evict, delete or leave').default(
        'evict',
      ),
    )
    .addOption(timeoutOption('how long to evict what budgets refuse', 30_000, '30s'))
    .option('-y, --yes', 'do not ask')
    .addOption(
      dryRunOption(
        'client: only say what would change; server: let the API server check it; none: give back',
      ),
    )
    .addHelpText('after', disableHelp);
  return addOutputFlags(command);
}

export function verifyCommand(): CommandUnknownOpts {
  const command = new Command('verify')
    .description('play what takeover promises, on a node and in namespaces made for it')
    .requiredOption('--node <name>', 'a node that may be tainted for a while', namedObject)
    .option('--scratch <name>', 'what to call the namespaces', namedObject, 'taintmgr-verify')
    .addOption(timeoutOption('how long to wait for each case', 60_000, '1m'))
    .option('-y, --yes', 'do not ask')
    .addOption(
      dryRunOption(
        'client: only say what would be done; server: the same, checked by the API server',
      ),
    )
    .addHelpText('after', verifyHelp);
  return addOutputFlags(command);
}
