// Runs a command line: reads it, runs its command, and says what is wrong.
import {
  Command,
  type CommandUnknownOpts,
  type Help,
  type HelpConfiguration,
  Option,
} from '@commander-js/extra-typings';
import { fullNameOf, plainArguments } from './cli/arguments.ts';
import { addConnectionFlags } from './cli/common-flags.ts';
import { type ExitCode, endingOf, exitCode } from './cli/exit.ts';
import type { Output } from './cli/output.ts';
import { Registry, type Surroundings } from './cli/registry.ts';
import { version } from './cli/version.ts';
import { addCommands } from './commands.ts';

/** What kubectl_complete-taintmgr runs, with the words that were typed; nobody types it. */
const completeCommand = '__complete';

/**
 * Runs the command line (without program and script name) and says what is wrong with it, or what
 * went wrong; the exit code. Throws only for a mistake of ours.
 */
export async function runProgram(
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { output, interrupt } = surroundings;
  let code: ExitCode = exitCode.done;
  const end = (how: ExitCode): void => {
    code = how;
  };
  const registry = new Registry(surroundings, end, runProgram);
  try {
    const program = createProgram(output, registry);
    if (argv[0] === completeCommand) {
      const { completeWords } = await import('./commands/completion.ts');
      await completeWords(argv.slice(1), program, output);
      return exitCode.done;
    }
    await program.parseAsync([...plainArguments(argv, program)], { from: 'user' });
    return code;
  } catch (error) {
    const ending = endingOf(error, interrupt);
    if (!ending) throw error;
    if (ending.lines !== '') output.err(ending.lines);
    return ending.code === exitCode.error ? codeOfError(argv) : ending.code;
  }
}

/** The program with all its commands, none of which runs: for who reads their flags. */
export function wholeProgram(surroundings: Surroundings): CommandUnknownOpts {
  const registry = new Registry(surroundings, () => undefined, runProgram);
  return createProgram(surroundings.output, registry);
}

/** The exit code for an error: with --exit-code, as with kubectl diff, 1 is an answer. */
export function codeOfError(argv: readonly string[]): ExitCode {
  return argv.includes('--exit-code') ? exitCode.noAnswer : exitCode.error;
}

/** The program with all its commands; each loads its code when it runs. */
function createProgram(output: Output, registry: Registry): CommandUnknownOpts {
  const program = new Command('kubectl taintmgr')
    .description('See, trust and control pod eviction by node taints.')
    .version(version, '--version', 'print the version and exit')
    .helpOption('-h, --help', 'print this help and exit')
    .helpCommand(false)
    .addOption(
      new Option('--color <when>', 'use colours')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.out(withoutLineEnd(text)),
      writeErr: (text) => output.err(withoutLineEnd(text)),
      outputError: (text, write) => write(withFilesHint(text)),
    })
    .configureHelp(helpLayout)
    .showHelpAfterError('See kubectl taintmgr --help for the commands.');
  addConnectionFlags(program);
  addCommands(program, registry);
  return program;
}

/** Commander ends what it writes with line ends; so does Output. */
function withoutLineEnd(text: string): string {
  return text.replace(/\n$/, '');
}

/** A shell makes several words of `-f *.json`. */
function withFilesHint(error: string): string {
  const isOfFiles = /^error: too many arguments for '(simulate|doctor)'/.test(error);
  return isOfFiles ? `${error}Give -f before each file, or -f with their folder.\n` : error;
}

type Item = readonly [term: string, about: string];

/**
 * How help is laid out: what there is to choose from comes first, and the flags that every command
 * takes are listed with the program only.
 */
const helpLayout: HelpConfiguration = {
  subcommandTerm: (command) => command.name(),
  minWidthToWrap: 30,
  formatHelp: (command, helper) => {
    return [
      `Usage: ${fullNameOf(command)} ${command.usage()}`,
      '',
      helper.boxWrap(sentence(helper.commandDescription(command)), helper.helpWidth ?? 80),
      '',
      ...sections(command, helper).flatMap(([heading, items]) => section(heading, items)),
      ...(command.parent ? [globalFlags, ''] : []),
    ].join('\n');

    function section(heading: string, items: readonly Item[]): readonly string[] {
      const width = helper.padWidth(command, helper);
      const lines = items.map(([term, about]) => helper.formatItem(term, width, about, helper));
      return helper.formatItemList(heading, lines, helper);
    }
  },
};

const globalFlags = `Every command also takes --color and kubectl's flags about the cluster and who you are, such as
--context, -n and --as: kubectl taintmgr --help lists them.`;

function sections(
  command: CommandUnknownOpts,
  helper: Help,
): readonly (readonly [heading: string, items: readonly Item[]])[] {
  const options = helper.groupItems(
    [...command.options],
    helper.visibleOptions(command),
    ({ helpGroupHeading = 'Options:' }) => helpGroupHeading,
  );
  const commands = helper.visibleCommands(command);
  const args = helper.visibleArguments(command);
  return [
    ['Commands:', commands.map((one) => [one.name(), helper.subcommandDescription(one)])],
    ['Arguments:', args.map((one) => [helper.argumentTerm(one), helper.argumentDescription(one)])],
    ...Array.from(options, ([heading, list]) => {
      return [
        heading,
        list.map((one): Item => [helper.optionTerm(one), aboutOption(one)]),
      ] as const;
    }),
  ];
}

/** `use colours (auto, always, never; default auto)` */
function aboutOption(option: Option): string {
  const { description, argChoices = [], defaultValue, defaultValueDescription } = option;
  const usual = defaultValueDescription ?? (option.isBoolean() ? undefined : defaultValue);
  const notes = [
    ...(argChoices.length > 0 ? [argChoices.join(', ')] : []),
    ...(usual === undefined || option.negate ? [] : [`default ${String(usual)}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

/** `say why` becomes `Say why.` */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}
