// Runs a command line: reads it, runs its command, and says what is wrong.
import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { optionNamed, plainArguments, positionOf } from './cli/arguments.ts';
import { addConnectionFlags } from './cli/common-flags.ts';
import { type ExitCode, endingOf, exitCode } from './cli/exit.ts';
import { helpLayout, helpWidth, withHelp } from './cli/help.ts';
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
    const words = plainArguments(argv, program);
    const group = groupAlone(words, program);
    if (group) group.outputHelp();
    else await program.parseAsync([...words], { from: 'user' });
    return code;
  } catch (error) {
    const ending = endingOf(error, interrupt);
    if (!ending) throw error;
    if (ending.lines !== '') output.err(ending.lines);
    return ending.code === exitCode.error ? codeOfError(argv) : ending.code;
  }
}

/** A command whose commands follow, and none does: as kubectl, it prints its help. Undefined: another one. */
function groupAlone(
  words: readonly string[],
  program: CommandUnknownOpts,
): CommandUnknownOpts | undefined {
  const { command, args, option } = positionOf(program, [...words, '']);
  const isAlone = command.commands.length > 0 && args.length === 0 && option === null;
  const isKnown = words.every((word) => !word.startsWith('-') || isFlagOf(command, word));
  return isAlone && isKnown ? command : undefined;
}

function isFlagOf(command: CommandUnknownOpts, word: string): boolean {
  const option = optionNamed(command, word);
  return option !== null && option.long !== '--version';
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
      new Option('--color <when>', 'when to use colours')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.write(text),
      writeErr: (text) => output.err(withoutLineEnd(text)),
      getOutHelpWidth: () => helpWidth(output.widthOut),
      outputError: (text, write) => write(withFilesHint(text)),
    })
    .configureHelp(helpLayout)
    .showHelpAfterError('See kubectl taintmgr --help for the commands.');
  addConnectionFlags(program);
  addCommands(program, registry, output);
  return withHelp(program, {
    examples: [
      '# What happens to the pods of a node, and when',
      'kubectl taintmgr explain node NODE',
      '# What would happen if the node were tainted',
      'kubectl taintmgr explain node NODE --with-taint maintenance=kernel',
      '# What taintmgr sees in this cluster',
      'kubectl taintmgr status',
    ],
  });
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
