// The command line: flags, help and usage errors.
import { Command, Option } from '@commander-js/extra-typings';
import { type ConnectionFlag, connectionFlags } from '@taintmgr/k8s-adapter';
import { version } from '../version.ts';
import { inputPaths } from './files.ts';
import { list, paths } from './kind.ts';
import { groups, type Setting } from './settings.ts';

/** Where help and usage errors go. */
export interface Terminal {
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
}

/** Values as they were written, by the long name of their flag; only those that were given. */
export type Texts = ReadonlyMap<string, string>;

const processTerminal: Terminal = {
  writeOut: (text) => void process.stdout.write(text),
  writeErr: (text) => void process.stderr.write(text),
};

const summary = `Evicts pods from nodes with NoExecute taints: on time, never before, never
forgotten.

Each flag is also an environment variable and, but for those of connection,
simulation and --policy, a field of the configuration file (config.schema.json):
--kube-api-qps is TAINTMGR_KUBE_API_QPS and clientConnection.qps. What counts is
the flag, then the variable, then the file, then the default. Without
--kubeconfig it looks where kubectl looks; inside a pod it uses the service
account. Logs go to stderr. SIGTERM or Ctrl-C ends it after the evictions under
way.`;

const examples = `
Examples:
  taintmgr-controller --kubeconfig ~/.kube/config
  taintmgr-controller --mode=evict --logging-format=json
  taintmgr-controller --config taintmgr.yaml --dry-run
  taintmgr-controller --simulate --authorization-always-allow-paths='/*'
  curl -k 'https://localhost:10257/readyz?verbose'`;

/**
 * Reads the command line (without program and script name). Prints the faults, or the help, and throws
 * CommanderError with the exit code to use. The values are checked elsewhere.
 */
export function readCommandLine(
  argv: readonly string[],
  terminal: Terminal = processTerminal,
): Texts {
  const program = new Command('taintmgr-controller')
    .description(summary)
    .version(version, '--version', 'print the version and exit')
    .helpOption('-h, --help', 'print this help and exit')
    .addHelpText('after', examples)
    .showHelpAfterError('See taintmgr-controller --help for the flags.')
    .allowExcessArguments(false)
    // Presets and the like are not worth the room.
    .configureHelp({ optionDescription: (option) => option.description })
    .configureOutput(terminal)
    .exitOverride();
  const options = new Map<string, Option>();
  for (const [heading, entries] of headings()) {
    program.optionsGroup(`${heading}:`);
    for (const [flag, option] of entries) {
      options.set(flag, option);
      program.addOption(option);
    }
  }
  const given: Readonly<Record<string, unknown>> = program.parse(argv, { from: 'user' }).opts();
  return new Map(
    Array.from(options, ([flag, option]) => [flag, given[option.attributeName()]] as const).filter(
      (entry): entry is readonly [string, string] => typeof entry[1] === 'string',
    ),
  );
}

/** The long name of a connection flag, without dashes. */
export function connectionFlagName({ flags }: ConnectionFlag): string {
  return /--([a-z-]+)/.exec(flags)?.[1] ?? '';
}

type Entry = readonly [flag: string, option: Option];

function headings(): readonly (readonly [heading: string, entries: readonly Entry[]])[] {
  const connection = connectionFlags.map((flag): Entry => {
    return [connectionFlagName(flag), connectionOption(flag)];
  });
  const ours = Object.entries(groups).map(([heading, group]) => {
    const entries = Object.values(group).map((setting): Entry => {
      return [setting.flag, settingOption(setting)];
    });
    return [heading, entries] as const;
  });
  return [...ours, ['Connection', connection]];
}

function settingOption({ flag, kind, initial, description }: Setting<unknown>): Option {
  const isShort = flag === 'v';
  const value = kind.format(initial);
  const isPlain = value === '' || value === 'false' || value === 'none';
  const shown = isPlain ? description : `${description} (default ${value})`;
  const option = new Option(`${isShort ? '-v, ' : ''}--${flag} ${kind.placeholder}`, shown);
  option.argParser(isShort ? withoutEquals : isList(kind) ? joined : lastOne);
  return kind.placeholder.startsWith('[') ? option.preset('true') : option;
}

function connectionOption(connection: ConnectionFlag): Option {
  const { flags, description, option: name } = connection;
  const takesValue = flags.includes('<');
  const option = new Option(takesValue ? flags : `${flags} [boolean]`, description);
  option.argParser(name === 'asGroup' ? joined : lastOne);
  return takesValue ? option : option.preset('true');
}

function isList(kind: unknown): boolean {
  return kind === list || kind === paths || kind === inputPaths;
}

function lastOne(value: string): string {
  return value;
}

/** A list may be given in parts. */
function joined(value: string, before: unknown): string {
  return typeof before === 'string' ? `${before},${value}` : value;
}

/** kube-controller-manager takes `-v=4` too. */
function withoutEquals(value: string): string {
  return value.replace(/^=/, '');
}
