import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { addPolicyFlag, type PolicyFlag } from '../../cli/policy-flag.ts';

/** The command line of `web`. */
export interface WebFlags extends PolicyFlag {
  readonly port: number;
  readonly open?: true | undefined;
}

const portMax = 65_535;

const help = `
It is served on 127.0.0.1 only, and changes nothing in the cluster. The address that is printed lets one
browser in, once. Ctrl-C ends it.

Examples:
  kubectl taintmgr web
  kubectl taintmgr web --open --port 8002`;

/** `web`, as its help shows it. */
export function webCommand(): CommandUnknownOpts {
  const command = new Command('web')
    .summary('show in a browser who leaves when, live')
    .description(
      'show in a browser which pods will be evicted when, by whom, and what keeps them, as it changes',
    )
    .addOption(
      new Option('--port <number>', 'where to serve it, 0: wherever there is room')
        .argParser(portOf)
        .default(0),
    )
    .option('--open', 'also open it in the browser of this machine')
    .addHelpText('after', help);
  addPolicyFlag(command);
  return command;
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= portMax) return port;
  throw new InvalidArgumentError(`Want a whole number from 0 to ${portMax}.`);
}
