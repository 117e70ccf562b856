import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { parseDuration } from '@taintmgr/core/time';
import { dryRunOption } from '../../cli/dry-run-flag.ts';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';

/** The command line of `install crds`. */
export interface CrdsFlags extends OutputFlags {
  readonly dryRun: string;
  readonly forceConflicts?: true | undefined;
  /** Milliseconds. */
  readonly timeout: number;
}

const help = `
The manifests are in the program. It applies them by server-side apply as the field manager taintmgr and
waits until the API server serves the kinds. What is stored already stays.

Exit codes:
  0    applied, or printed
  1    usage, permissions, or the API server
  3    a kind was not served within --timeout

Examples:
  kubectl taintmgr install crds
  kubectl taintmgr install crds --dry-run=client -o yaml
  kubectl taintmgr install crds --dry-run=server`;

/** `install`, whose commands follow. */
export function installGroup(): CommandUnknownOpts {
  return new Command('install')
    .summary('put into the cluster what taintmgr needs there')
    .description('put into the cluster what taintmgr needs there')
    .helpCommand(false);
}

/** `install crds`, as its help shows it. */
export function crdsCommand(): CommandUnknownOpts {
  const command = new Command('crds')
    .description(
      'apply the CustomResourceDefinitions of EvictionPolicy, NodeTaintRule, EvictionPause, NodeDrain and TaintManager',
    )
    .addOption(
      dryRunOption('client: only print them; server: let the API server check them; none: apply'),
    )
    .option('--force-conflicts', 'take over fields that other field managers own')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait until the kinds are served')
        .argParser(duration)
        .default(30_000, '30s'),
    )
    .addHelpText('after', help);
  return addOutputFlags(command);
}

function duration(text: string): number {
  const millis = parseDuration(text);
  if (millis !== null) return millis;
  throw new InvalidArgumentError('Want a duration such as 30s, 10m or 1h30m.');
}
