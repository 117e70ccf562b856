// Runs a command line: reads it, runs its command, and reports the errors.
import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  Option,
} from '@commander-js/extra-typings';
import { printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { optionNamed, plainArguments, positionOf } from './cli/arguments.ts';
import { addConnectionFlags } from './cli/common-flags.ts';
import { type ExitCode, endingOf, exitCode } from './cli/exit.ts';
import { helpLayout, helpWidth, withHelp } from './cli/help.ts';
import type { Output } from './cli/output.ts';
import { Registry, type Surroundings } from './cli/registry.ts';
import { version } from './cli/version.ts';
import { addCommands } from './commands.ts';

/** The command that kubectl_complete-taintmgr runs, with the words that were typed; users do not type it. */
const completeCommand = '__complete';

/**
 * Runs the command line (without program and script name), reports its faults or failures, and returns the
 * exit code. Throws only for a mistake of ours.
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
  // The words about a mistake, until it is clear that there are none better.
  const faults: string[] = [];
  const program = createProgram(output, registry, (text) => faults.push(text));
  try {
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
    const better = isOfWords(error) ? await correctionFor(argv, program) : null;
    const lines = better ?? [...faults, ending.lines].join('');
    if (lines !== '') output.err(withoutLineEnd(lines));
    return ending.code === exitCode.error ? codeOfError(argv) : ending.code;
  }
}

/** True for an error of the command line itself. */
function isOfWords(error: unknown): boolean {
  if (error instanceof CommanderError) return error.exitCode !== 0;
  return error instanceof UsageError || error instanceof RangeError;
}

/**
 * The line about a mistake of order or form; null: there is none. The module is loaded only after a fault.
 */
async function correctionFor(
  argv: readonly string[],
  program: CommandUnknownOpts,
): Promise<string | null> {
  const { correctionOf } = await import('./cli/mistakes.ts');
  const correction = correctionOf(argv, program);
  return correction === null ? null : `error: ${printable(correction)}`;
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
  return createProgram(surroundings.output, registry, surroundings.output.err);
}

/** The exit code for an error: with --exit-code, as with kubectl diff, 1 is an answer. */
export function codeOfError(argv: readonly string[]): ExitCode {
  return argv.includes('--exit-code') ? exitCode.noAnswer : exitCode.error;
}

/** The program with all its commands; each loads its code when it runs. */
function createProgram(
  output: Output,
  registry: Registry,
  fault: (text: string) => void,
): CommandUnknownOpts {
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
      writeErr: fault,
      getOutHelpWidth: () => helpWidth(output.widthOut),
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

/** Commander ends its texts with line ends; so does Output. */
function withoutLineEnd(text: string): string {
  return text.replace(/\n$/, '');
}
