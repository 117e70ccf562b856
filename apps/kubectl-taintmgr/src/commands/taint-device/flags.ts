// The command line of taint-device.
import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { type Millis, parseDuration } from '@taintmgr/core/time';
import {
  addOutputFlags,
  dryRunOption,
  type OutputFlags,
  timeoutOption,
} from '../../cli/common-flags.ts';
import { namedObject } from '../../cli/values.ts';

/** The command line of `taint-device`. */
export interface TaintDeviceFlags extends OutputFlags {
  readonly allDevices?: true | undefined;
  readonly name?: string | undefined;
  readonly snooze?: Millis | undefined;
  readonly maxPods: number;
  readonly timeout: Millis;
  readonly yes?: true | undefined;
  readonly dryRun: string;
}

const help = `
It makes a DeviceTaintRule with the effect None, which evicts nobody, shows who would go and what no budget is
asked, asks, counts again and only then writes NoExecute. It refuses where more pods would go than were
shown, or than --max-pods allows. With the taint KEY:None the rule stays a preview; devicetaintrule/NAME goes
on with it, or with any rule whose effect is None. A pool whose name has a slash ends in one: DRIVER/a/b/.

--snooze moves timeAdded, from which deadlines count: a new taint evicts so much later, and a rule with
NoExecute so much later than before. Ctrl-C before NoExecute is written leaves the rule with None, or nothing.

Examples:
  kubectl taintmgr taint-device gpu.example.com/node-1/gpu-0 health=bad:NoExecute
  kubectl taintmgr taint-device gpu.example.com/node-1 driver=upgrade:None --name upgrade
  kubectl taintmgr taint-device devicetaintrule/upgrade --yes --max-pods 40
  kubectl taintmgr taint-device devicetaintrule/upgrade --snooze 30m
  kubectl taintmgr undo devicetaintrule/upgrade`;

/** `taint-device`, as its help shows it. */
export function taintDeviceCommand(): CommandUnknownOpts {
  const command = new Command('taint-device')
    .summary('taint devices, and show first who leaves for that')
    .description(
      'taint devices by a DeviceTaintRule, and evict the pods that use them: shown first, and counted again before',
    )
    .argument(
      '<target>',
      'DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE; or devicetaintrule/NAME of a rule that is there',
    )
    .argument('[taint]', 'KEY[=VALUE]:NoExecute, or KEY[=VALUE]:None for a preview')
    .option('--all-devices', 'every device of every driver, in the place of DRIVER')
    .addOption(new Option('--name <name>', 'what to call the rule').argParser(namedObject))
    .addOption(
      new Option('--snooze <duration>', 'evict so much later, such as 30m').argParser(length),
    )
    .addOption(
      new Option('--max-pods <number>', 'refuse where more pods would go')
        .argParser(pods)
        .default(10),
    )
    .addOption(
      timeoutOption("how long to wait for kube-controller-manager's own count", 5_000, '5s'),
    )
    .option('-y, --yes', 'do not ask')
    .addOption(
      dryRunOption(
        'client: only show who would go; server: let the API server check the rule; none: taint',
      ),
    )
    .addHelpText('after', help);
  return addOutputFlags(command);
}

function length(text: string): Millis {
  const millis = parseDuration(text);
  if (millis !== null && millis > 0) return millis;
  throw new InvalidArgumentError('Want a duration such as 30s, 10m or 1h30m.');
}

function pods(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Want a whole number.');
}
