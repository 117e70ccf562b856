// How help is laid out.
import type {
  CommandUnknownOpts,
  Help,
  HelpConfiguration,
  Option,
} from '@commander-js/extra-typings';
import { fullNameOf } from './position.ts';

type Item = readonly [term: string, about: string];

/**
 * How help is laid out: what there is to choose from comes first, and the flags that every command
 * takes are listed with the program only.
 */
export const helpLayout: HelpConfiguration = {
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
