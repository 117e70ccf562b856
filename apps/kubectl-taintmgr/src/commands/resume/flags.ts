import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';

/** The command line of `resume`. */
export interface ResumeFlags {
  readonly lease?: string | undefined;
}

const help = `
The request stands in the lease taintmgr-controller-limits until the controller that leads has carried
it out, within 5 s. Who may patch that lease may resume evictions. It is found by what the leader
publishes (kubectl get taintmanagers), else in the namespaces taintmgr-system and kube-system.
Pauses are ended only by name: nobody ends all of them by mistake.

Examples:
  kubectl taintmgr resume                 all limits that have tripped
  kubectl taintmgr resume zone=eu/eu-a    this one
  kubectl taintmgr resume pause/web       the pause web`;

/** `resume`, as its help shows it. */
export function resumeCommand(): CommandUnknownOpts {
  return new Command('resume')
    .summary('open limits of the controller that have tripped, or end a pause')
    .description(
      'open limits of the controller that have tripped (onLimit: trip): what they held is evicted, and their windows begin anew; or end pauses: delete them',
    )
    .argument(
      '[names...]',
      'limits as status shows them, or pause/NAME; all limits that have tripped when left out',
    )
    .option('--lease <namespace/name>', 'lease that keeps the limits, where it is another')
    .addHelpText('after', help);
}
