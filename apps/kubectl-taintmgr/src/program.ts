// The commands, each loaded when it runs.
import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { plainArguments } from './cli/arguments.ts';
import { addConnectionFlags } from './cli/connection-flags.ts';
import { type ExitCode, endingOf, exitCode } from './cli/exit.ts';
import { helpLayout } from './cli/help.ts';
import type { Invocation, Surroundings } from './cli/invocation.ts';
import type { Output } from './cli/output.ts';
import { Registry } from './cli/registry.ts';
import { version } from './cli/version.ts';
import { completionGroup, installCommand, scriptCommand } from './commands/completion/flags.ts';
import { doctorCommand } from './commands/doctor/flags.ts';
import { drainCommand } from './commands/drain-by-taint/flags.ts';
import {
  type ExplainFlags,
  explainGroup,
  subjectCommand,
  subjectKinds,
} from './commands/explain/flags.ts';
import { policyCommand } from './commands/explain/policy/flags.ts';
import { pressureCommand } from './commands/explain/pressure/flags.ts';
import { helpCommand, topicOf } from './commands/help/flags.ts';
import { crdsCommand, installGroup } from './commands/install/flags.ts';
import { pauseCommand } from './commands/pause/flags.ts';
import { pendingCommand } from './commands/pending/flags.ts';
import { resumeCommand } from './commands/resume/flags.ts';
import { simulateCommand } from './commands/simulate/flags.ts';
import { snapshotCommand } from './commands/snapshot/flags.ts';
import { statusCommand } from './commands/status/flags.ts';
import {
  disableCommand,
  enableCommand,
  takeoverGroup,
  statusCommand as takeoverStatusCommand,
  verifyCommand,
} from './commands/takeover/flags.ts';
import { undoCommand } from './commands/undo/flags.ts';
import { versionCommand } from './commands/version/flags.ts';
import { webCommand } from './commands/web/flags.ts';

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
    const program = createProgram(output, registry, argv);
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

/** The program's help in lines of at most so many columns. */
export function programHelp(surroundings: Surroundings, columns: number): string {
  return wholeProgram(surroundings)
    .configureOutput({ getOutHelpWidth: () => columns })
    .helpInformation();
}

/** The program with all its commands, none of which runs: for who reads their flags. */
export function wholeProgram(surroundings: Surroundings): CommandUnknownOpts {
  const registry = new Registry(surroundings, () => undefined, runProgram);
  return createProgram(surroundings.output, registry, []);
}

/** The exit code for an error: with --exit-code, as with kubectl diff, 1 is an answer. */
export function codeOfError(argv: readonly string[]): ExitCode {
  return argv.includes('--exit-code') ? exitCode.noAnswer : exitCode.error;
}

/** The program with all its commands; each loads its code when it runs. */
function createProgram(
  output: Output,
  registry: Registry,
  [first]: readonly string[],
): CommandUnknownOpts {
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
  addExplain(registry.addGroup(program, explainGroup()), registry);
  // It answers at once: who names it waits until no other command is put together.
  if (first !== 'explain') addOthers(program, registry);
  return program;
}

/** The commands after `explain`, in the order in which the help lists them. */
function addOthers(program: CommandUnknownOpts, registry: Registry): void {
  registry.addChanging(
    program,
    drainCommand(),
    () => import('./commands/drain-by-taint/command.ts'),
  );
  registry.addChanging(program, undoCommand(), () => import('./commands/undo/command.ts'));
  registry.add(program, simulateCommand(), () => import('./commands/simulate/command.ts'));
  registry.add(program, pendingCommand(), () => import('./commands/pending/command.ts'));
  registry.add(program, statusCommand(), () => import('./commands/status/command.ts'));
  registry.add(program, webCommand(), () => import('./commands/web/command.ts'));
  registry.addChanging(program, pauseCommand(), () => import('./commands/pause/command.ts'));
  registry.addChanging(program, resumeCommand(), () => import('./commands/resume/command.ts'));
  addTakeover(registry.addGroup(program, takeoverGroup()), registry);
  // With --probe it changes the cluster.
  registry.addChanging(program, doctorCommand(), () => import('./commands/doctor/command.ts'));
  registry.add(program, snapshotCommand(), () => import('./commands/snapshot/command.ts'));
  const install = registry.addGroup(program, installGroup());
  registry.addChanging(install, crdsCommand(), () => import('./commands/install/command.ts'));
  addCompletion(registry.addGroup(program, completionGroup()), registry);
  registry.add(program, versionCommand(), () => import('./commands/version/command.ts'));
  registry.add(program, helpCommand(), async () => ({
    run: (_: Invocation<object>, words: readonly string[]) => {
      topicOf(program, words).outputHelp();
      return exitCode.done;
    },
  }));
}

function addExplain(explain: CommandUnknownOpts, registry: Registry): void {
  for (const kind of subjectKinds) {
    registry.add(explain, subjectCommand(kind), async () => {
      const { explain: run } = await import('./commands/explain/command.ts');
      return {
        run: (invocation: Invocation<ExplainFlags>, name: string) => run(kind, name, invocation),
      };
    });
  }
  registry.add(explain, policyCommand(), () => import('./commands/explain/policy/command.ts'));
  registry.add(explain, pressureCommand(), () => import('./commands/explain/pressure/command.ts'));
}

function addTakeover(takeover: CommandUnknownOpts, registry: Registry): void {
  registry.add(takeover, takeoverStatusCommand(), () => import('./commands/takeover/status.ts'));
  registry.addChanging(takeover, enableCommand(), () => import('./commands/takeover/enable.ts'));
  registry.addChanging(takeover, disableCommand(), () => import('./commands/takeover/disable.ts'));
  registry.addChanging(takeover, verifyCommand(), () => import('./commands/takeover/verify.ts'));
}

function addCompletion(completion: CommandUnknownOpts, registry: Registry): void {
  registry.add(completion, installCommand(), async () => ({
    run: (await import('./commands/completion/install.ts')).installCompletion,
  }));
  registry.add(completion, scriptCommand(), async () => ({
    run: (await import('./commands/completion/install.ts')).printCompletion,
  }));
}

/** Commander ends what it writes with line ends; so does Output. */
function withoutLineEnd(text: string): string {
  return text.replace(/\n$/, '');
}
