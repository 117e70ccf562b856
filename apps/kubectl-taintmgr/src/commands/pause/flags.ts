import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { type Instant, type Millis, parseDuration, parseTime } from '@taintmgr/core/time';
import { dryRunOption } from '../../cli/dry-run-flag.ts';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';

/** The command line of `pause`. */
export interface PauseFlags extends OutputFlags {
  readonly reason?: string | undefined;
  readonly until?: Instant | undefined;
  readonly for?: Millis | undefined;
  readonly zones?: readonly string[] | undefined;
  readonly nodeSelector?: string | undefined;
  readonly taintKeys?: readonly string[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly readiness?: true | undefined;
  /** Left out: as the definition has it, they are held. */
  readonly deadlines?: boolean | undefined;
  readonly dryRun: string;
}

const help = `
It makes an EvictionPause, which taintmgr-controller follows: deadlines stand still while it holds.
Everything that is given must match; with nothing given all evictions for taints are held, and never
those of node-pressure-controller. It ends at its time, or with kubectl taintmgr resume pause/NAME.

Examples:
  kubectl taintmgr pause network-work --zones eu/eu-a --for 2h --reason "new switches"
  kubectl taintmgr pause everything
  kubectl taintmgr resume pause/network-work`;

/** `pause`, as its help shows it. */
export function pauseCommand(): CommandUnknownOpts {
  const command = new Command('pause')
    .summary('hold evictions, everywhere or in some places')
    .description(
      'hold evictions, everywhere or in some places, for a time or until they are resumed',
    )
    .argument('<name>', 'what to call the pause')
    .addHelpText('after', help);
  for (const option of options()) command.addOption(option);
  return addOutputFlags(command);
}

function options(): readonly Option[] {
  return [
    new Option('--reason <text>', 'why, for those who see it'),
    new Option('--until <time>', 'when it ends by itself, such as 2026-01-31T18:00:00Z').argParser(
      time,
    ),
    new Option('--for <duration>', 'how long it holds, such as 30m or 2h')
      .argParser(duration)
      .conflicts('until'),
    new Option(
      '--zones <zones>',
      'pods on nodes of these zones, as status prints them: region/zone',
    ).argParser(list),
    new Option('--node-selector <selector>', 'pods on nodes that this label selector leaves'),
    new Option('--taint-keys <keys>', 'evictions for taints with one of these keys').argParser(
      list,
    ),
    new Option('--namespaces <names>', 'pods in these namespaces').argParser(list),
    new Option(
      '--readiness',
      'also do not mark pods of unreachable nodes as not ready, nor taint unhealthy nodes',
    ),
    new Option(
      '--deadlines <bool>',
      'false: evictions go on, and only what --readiness is about is held',
    ).argParser(truth),
    dryRunOption('client: only print it; server: let the API server check it; none: make it'),
  ];
}

function truth(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('Want true or false.');
}

function list(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',')];
}

function time(text: string): Instant {
  const instant = parseTime(text);
  if (instant !== null) return instant;
  throw new InvalidArgumentError('Want a time such as 2026-01-31T18:00:00Z.');
}

function duration(text: string): Millis {
  const millis = parseDuration(text);
  if (millis !== null && millis > 0) return millis;
  throw new InvalidArgumentError('Want a duration such as 30m or 2h.');
}
