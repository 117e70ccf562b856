import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { exitCode, UsageError } from '../../cli/exit.ts';
import { childOf, fullNameOf } from '../../cli/position.ts';
import type { Registry } from '../../cli/registry.ts';

/** `help [COMMAND...]`, which prints what `COMMAND... --help` prints. */
export function addHelp(program: CommandUnknownOpts, registry: Registry): void {
  const command = new Command('help')
    .description('print the help of a command')
    .argument('[command...]', 'for example: explain node');
  registry.add<object>(program, command, async (_, words) => {
    topicOf(program, words as readonly string[]).outputHelp();
    return exitCode.done;
  });
}

/** The command that the words lead to. Throws UsageError where they lead nowhere. */
function topicOf(program: CommandUnknownOpts, words: readonly string[]): CommandUnknownOpts {
  let command = program;
  for (const word of words) {
    const next = childOf(command, word);
    if (!next) {
      const topic = JSON.stringify(words.join(' '));
      throw new UsageError(
        `unknown help topic ${topic}; ${fullNameOf(command)} --help lists the commands`,
      );
    }
    command = next;
  }
  return command;
}
