import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Millis } from '@taintmgr/core/time';
import {
  addOutputFlags,
  dryRunOption,
  type OutputFlags,
  timeoutOption,
} from '../../cli/common-flags.ts';
import { type HelpTexts, withHelp } from '../../cli/help.ts';
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

const enableHelp: HelpTexts = {
  examples: [
    'kubectl taintmgr takeover enable shop',
    'kubectl taintmgr takeover enable shop cart --yes',
    '# Only print what would change, and prove what can be proved',
    'kubectl taintmgr takeover enable shop --dry-run=server',
  ],
  details: `
The command first proves that the API server refuses what kube-controller-manager would do. The proof is a
server-side dry run of the same request, on a pod of a namespace that is taken over, or in a namespace made
for the proof. If the proof fails, nothing is changed.`,
};

const disableHelp: HelpTexts = {
  examples: [
    'kubectl taintmgr takeover disable shop',
    '# Give every namespace back, and leave the pods that were held',
    'kubectl taintmgr takeover disable --all --held=leave --yes',
  ],
  details: `
kube-controller-manager has forgotten the pods that the API server refused to it. These pods are evicted before
the label is removed. Pods that PodDisruptionBudgets keep until --timeout are left, and named.

kube-controller-manager has not forgotten what it was refused for device taints. It deletes these pods at once,
because the command annotates their ResourceClaims for a moment; without the right to patch
ResourceClaims, within 17 minutes.`,
  exits: [
    ['0', 'no pod is left'],
    ['1', 'usage, permissions, or the API server'],
    ['3', 'pods are left that no controller evicts'],
  ],
};

const verifyHelp: HelpTexts = {
  examples: [
    'kubectl taintmgr takeover verify --node spare-1',
    'kubectl taintmgr takeover verify --node spare-1 --dry-run=client',
  ],
  details: `
The command creates two namespaces, puts pods on the node, taints the node with
taintmgr.dev/verify:NoExecute, watches what happens to the pods, and deletes everything. A node with pods that
do not tolerate the taint is refused. Where device taints are held, and the user may write ResourceSlices,
ResourceClaims and their status, a device made for the test is tainted too.`,
  exits: [
    ['0', 'all cases passed'],
    ['1', 'usage, permissions, or the API server'],
    ['2', 'a case failed'],
  ],
};

/** `takeover`, whose commands follow. */
export function takeoverGroup(): CommandUnknownOpts {
  const command = new Command('takeover')
    .summary('let taintmgr evict where kube-controller-manager cannot be changed')
    .description(
      'let taintmgr evict instead of kube-controller-manager, in a cluster where its flags cannot be changed',
    )
    .helpCommand(false);
  return withHelp(command, {
    examples: ['kubectl taintmgr takeover enable shop', 'kubectl taintmgr takeover status'],
  });
}

export function statusCommand(): CommandUnknownOpts {
  const command = new Command('status').description('say whether takeover works, and what it did');
  return withHelp(addOutputFlags(command), { examples: ['kubectl taintmgr takeover status'] });
}

export function enableCommand(): CommandUnknownOpts {
  const command = new Command('enable')
    .description('let taintmgr evict the pods of namespaces, instead of kube-controller-manager')
    .argument('<namespaces...>', 'names of the namespaces', objectNames)
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(
      dryRunOption(
        'client: only print what would change; server: let the API server check it, and prove what can be proved; none: take over',
      ),
    );
  return withHelp(addOutputFlags(command), enableHelp);
}

export function disableCommand(): CommandUnknownOpts {
  const command = new Command('disable')
    .description('give the pods of namespaces back to kube-controller-manager')
    .argument('[namespaces...]', 'names of the namespaces', objectNames)
    .option('--all', 'all namespaces that are taken over')
    .addOption(
      new Option(
        '--held <what>',
        'what to do with pods that kube-controller-manager was refused: evict, delete or leave',
      ).default('evict'),
    )
    .addOption(timeoutOption('how long to retry pods that budgets refuse', 30_000, '30s'))
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(
      dryRunOption(
        'client: only print what would change; server: let the API server check it; none: give back',
      ),
    );
  return withHelp(addOutputFlags(command), disableHelp);
}

export function verifyCommand(): CommandUnknownOpts {
  const command = new Command('verify')
    .description('test what takeover promises, on a node and in namespaces made for the test')
    .requiredOption('--node <name>', 'node that may be tainted during the test', namedObject)
    .option(
      '--scratch <name>',
      'prefix of the names of the namespaces',
      namedObject,
      'taintmgr-verify',
    )
    .addOption(timeoutOption('how long to wait for each case', 60_000, '1m'))
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(
      dryRunOption(
        'client: only print what would be done; server: the same, checked by the API server; none: test',
      ),
    );
  return withHelp(addOutputFlags(command), verifyHelp);
}
