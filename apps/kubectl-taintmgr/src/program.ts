// The commands, each loaded when it runs.
import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { plainArguments } from './cli/arguments.ts';
import { addConnectionFlags } from './cli/connection-flags.ts';
import { type ExitCode, endingOf, exitCode } from './cli/exit.ts';
import { helpLayout } from './cli/help.ts';
import type { Output } from './cli/output.ts';
import { Registry, type Surroundings } from './cli/registry.ts';
import { version } from './cli/version.ts';
import { addCompletion } from './commands/completion/flags.ts';
import { addDoctor } from './commands/doctor/flags.ts';
import { addDrain } from './commands/drain-by-taint/flags.ts';
import { addExplain } from './commands/explain/flags.ts';
import { addHelp } from './commands/help/flags.ts';
import { addPending } from './commands/pending/flags.ts';
import { addResume } from './commands/resume/flags.ts';
import { addSimulate } from './commands/simulate/flags.ts';
import { addSnapshot } from './commands/snapshot/flags.ts';
import { addStatus } from './commands/status/flags.ts';
import { addUndo } from './commands/undo/flags.ts';
import { addVersion } from './commands/version/flags.ts';

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
  const registry = new Registry(surroundings, (how) => {
    code = how;
  });
  try {
    const program = createProgram(output, registry);
    if (argv[0] === completeCommand) {
      const { completeWords } = await import('./commands/completion/complete.ts');
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

/** The exit code for an error: with --exit-code, as with kubectl diff, 1 is an answer. */
export function codeOfError(argv: readonly string[]): ExitCode {
  return argv.includes('--exit-code') ? exitCode.notTold : exitCode.error;
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
    })
    .configureHelp(helpLayout)
    .showHelpAfterError('See kubectl taintmgr --help for the commands.');
  addConnectionFlags(program);
  addExplain(program, registry);
  addDrain(program, registry);
  addUndo(program, registry);
  addSimulate(program, registry);
  addPending(program, registry);
  addStatus(program, registry);
  addResume(program, registry);
  addDoctor(program, registry);
  addSnapshot(program, registry);
  addCompletion(program, registry);
  addVersion(program, registry);
  addHelp(program, registry);
  return program;
}

/** Commander ends what it writes with line ends; so does Output. */
function withoutLineEnd(text: string): string {
  return text.replace(/\n$/, '');
}
