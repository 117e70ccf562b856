import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { childOf, fullNameOf } from '../../cli/position.ts';
import { UsageError } from '../../usage-error.ts';

/** `help [COMMAND...]`, which prints what `COMMAND... --help` prints. */
export function helpCommand(): CommandUnknownOpts {
  return new Command('help')
    .description('print the help of a command')
    .argument('[command...]', 'for example: explain node');
}

/** The command that the words lead to. Throws UsageError where they lead nowhere. */
export function topicOf(program: CommandUnknownOpts, words: readonly string[]): CommandUnknownOpts {
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
