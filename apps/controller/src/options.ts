import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Config } from '@taintmgr/core';
import { connectionFlags, connectionOptions, type KubeconfigOptions } from '@taintmgr/k8s-adapter';
import type { LogFormat } from './log.ts';
import { version } from './version.ts';

/** What the command line says. */
export interface Options {
  readonly connection: KubeconfigOptions;
  /** Run against an embedded cluster instead of a real one. */
  readonly simulate: boolean;
  /** Seed of the embedded cluster. */
  readonly seed: number;
  /** Path of the configuration file; null: none. */
  readonly config: string | null;
  /** What flags say about evictions; it goes before what the configuration file says. */
  readonly engine: Partial<Config>;
  readonly logFormat: LogFormat;
  readonly verbosity: number;
}

const summary = `Evicts pods from nodes with NoExecute taints: on time, never before, never forgotten.

Flags go before the configuration file.
Without --kubeconfig it looks where kubectl looks; inside a pod it uses the service account.
Logs go to stderr. SIGTERM or Ctrl-C ends it after the evictions under way.
SIGUSR2 opens limits that have tripped.`;

const examples = `
Examples:
  taintmgr-controller --kubeconfig ~/.kube/config
  taintmgr-controller --mode=evict --logging-format=json
  taintmgr-controller --config taintmgr.yaml
  taintmgr-controller --simulate`;

const modes = ['delete', 'evict', 'evictThenDelete'] as const;
const semantics = ['precise', 'upstream-1.36'] as const;
const formats = ['text', 'json'] as const;

/** Where help and usage errors go. */
export interface Terminal {
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
}

const processTerminal: Terminal = {
  writeOut: (text) => void process.stdout.write(text),
  writeErr: (text) => void process.stderr.write(text),
};

/**
 * Reads the command line (without program and script name). Prints what is wrong, or the help, and
 * throws CommanderError with the exit code to use.
 */
export function parseOptions(
  argv: readonly string[],
  terminal: Terminal = processTerminal,
): Options {
  const program = new Command('taintmgr-controller')
    .description(summary)
    .version(version, '--version', 'print the version and exit')
    .helpOption('-h, --help', 'print this help and exit')
    .option('--simulate', 'run against an embedded cluster, started for the purpose')
    .option('--seed <number>', 'seed of the embedded cluster', wholeNumber(0), 1)
    .option('--config <file>', 'configuration file, YAML or JSON (config.schema.json)')
    .addOption(
      new Option(
        '--mode <mode>',
        'how pods leave where no policy says it; delete by default',
      ).choices(modes),
    )
    .addOption(
      new Option('--semantics <name>', 'whose rules hold; precise by default').choices(semantics),
    )
    .option(
      '--concurrent-evictions <number>',
      'evictions under way at once; 50 by default',
      wholeNumber(1),
    )
    .addOption(
      new Option('--logging-format <format>', 'how log lines are written')
        .choices(formats)
        .default(formats[0]),
    )
    .option('-v, --v <level>', 'log level; from 2 on with every detail', wholeNumber(0), 0)
    .addHelpText('after', examples)
    .showHelpAfterError('See taintmgr-controller --help for the flags.')
    .allowExcessArguments(false)
    .configureOutput(terminal)
    .exitOverride();
  program.optionsGroup('Connection:');
  for (const { flags, description, option } of connectionFlags) {
    const connection = new Option(flags, description);
    program.addOption(option === 'asGroup' ? connection.argParser(collect) : connection);
  }
  const parsed = program.parse(argv, { from: 'user' }).opts();
  const { simulate = false, seed, config = null, loggingFormat, v } = parsed;
  const connection = connectionOptions(parsed);
  if (simulate && Object.keys(connection).length > 0) {
    const given = connectionFlags.filter(({ option }) => connection[option] !== undefined);
    const names = given.map(({ flags }) => /--[a-z-]+/.exec(flags)?.[0]).join(', ');
    program.error(`error: --simulate starts its own cluster: leave out ${names}`);
  }
  return {
    connection,
    simulate,
    seed,
    config,
    engine: engineOptions(parsed),
    logFormat: loggingFormat,
    verbosity: v,
  };
}

function engineOptions({
  mode,
  semantics,
  concurrentEvictions,
}: {
  readonly mode?: Config['mode'];
  readonly semantics?: Config['semantics'];
  readonly concurrentEvictions?: number;
}): Partial<Config> {
  return {
    ...(mode && { mode }),
    ...(semantics && { semantics }),
    ...(concurrentEvictions !== undefined && { evictionsInFlightMax: concurrentEvictions }),
  };
}

function wholeNumber(min: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= min) return value;
    throw new InvalidArgumentError(`Want a whole number from ${min}.`);
  };
}

function collect(value: string, before: unknown): readonly string[] {
  return Array.isArray(before) ? [...before, value] : [value];
}
