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
import { type HelpTexts, withHelp } from '../../cli/help.ts';
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

const help: HelpTexts = {
  examples: [
    'kubectl taintmgr taint-device gpu.example.com/node-1/gpu-0 health=bad:NoExecute',
    '# Preview: which pods would leave?',
    'kubectl taintmgr taint-device gpu.example.com/node-1 driver=upgrade:None --name upgrade',
    '# Then evict them, 40 at most',
    'kubectl taintmgr taint-device devicetaintrule/upgrade --max-pods 40',
    '# Later, or not at all',
    'kubectl taintmgr taint-device devicetaintrule/upgrade --snooze 30m',
    'kubectl taintmgr undo devicetaintrule/upgrade',
  ],
  details: `
The command creates a DeviceTaintRule with effect None, which evicts no pod, and shows which pods would leave.
After your confirmation the pods are counted again, and only then the effect becomes NoExecute. The command refuses
if more pods would leave than were shown, or than --max-pods allows. PodDisruptionBudgets are not asked.

With KEY:None the rule stays a preview. devicetaintrule/NAME continues with that rule, or with any rule whose
effect is None. A pool whose name has a slash ends in one: DRIVER/a/b/.

--snooze moves timeAdded, from which deadlines count. Ctrl-C before NoExecute is written leaves the rule with
effect None, or no rule.`,
};

/** `taint-device`, as its help shows it. */
export function taintDeviceCommand(): CommandUnknownOpts {
  const command = new Command('taint-device')
    .summary('taint devices such as GPUs, and evict the pods that use them')
    .description(
      'taint devices by a DeviceTaintRule, and evict the pods that use them, after showing them',
    )
    .argument(
      '<target>',
      'DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE; or devicetaintrule/NAME of an existing rule',
    )
    .argument('[taint]', 'KEY[=VALUE]:NoExecute, or KEY[=VALUE]:None for a preview')
    .option('--all-devices', 'every device of every driver, instead of DRIVER')
    .addOption(new Option('--name <name>', 'name of the rule').argParser(namedObject))
    .addOption(
      new Option('--snooze <duration>', 'evict this much later, e.g. 30m').argParser(length),
    )
    .addOption(
      new Option('--max-pods <number>', 'refuse if more pods would leave')
        .argParser(pods)
        .default(10),
    )
    .addOption(
      timeoutOption('how long to wait for the count of kube-controller-manager', 5_000, '5s'),
    )
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(
      dryRunOption(
        'client: only show which pods would leave; server: let the API server check the rule; none: taint',
      ),
    );
  return withHelp(addOutputFlags(command), help);
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
