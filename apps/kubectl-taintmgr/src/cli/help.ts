// Help texts: an example first, then the choices, in the terminal's width.
import type {
  CommandUnknownOpts,
  Help,
  HelpConfiguration,
  Option,
} from '@commander-js/extra-typings';
import { groupBy } from '@taintmgr/k8s-adapter/command-line';
import { brokenBetweenWords } from '../render/lines.ts';
import { fullNameOf } from './arguments.ts';

/** The parts of a help text that are not in the table of arguments and flags. */
export interface HelpTexts {
  /** Commands, as they are typed; a line `# ...` above one describes it. */
  readonly examples: readonly string[];
  /** Paragraphs after the flags. */
  readonly details?: string;
  /** Exit codes, where 0 and 1 are not all. */
  readonly exits?: readonly (readonly [code: string, meaning: string])[];
}

const textsOf = new WeakMap<CommandUnknownOpts, HelpTexts>();

/** Gives a command its help texts. */
export function withHelp<C extends CommandUnknownOpts>(command: C, texts: HelpTexts): C {
  textsOf.set(command, texts);
  return command;
}

/** Lists flags of a command below headings of their own; the others keep theirs. */
export function groupFlags(
  command: CommandUnknownOpts,
  groups: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [heading, names] of Object.entries(groups)) {
    for (const option of command.options) {
      if (names.includes(option.long ?? '')) option.helpGroup(heading);
    }
  }
}

/** The group of the connection flags, which `options` lists. */
export const connectionGroup = 'Connection (as kubectl):';

/** The columns of help: those of the terminal, but no more than a person reads with ease. */
export function helpWidth(columns: number | null): number {
  return Math.min(columns ?? pipeWidth, widthMax);
}

const pipeWidth = 80;
const widthMax = 100;
/** A longer term gets a separate line. */
const termMax = 26;
const indent = '  ';

type Item = readonly [term: string, about: string];
interface Section {
  readonly heading: string;
  readonly items: readonly Item[];
  /** Left out: that of its longest term. */
  readonly termWidth?: number;
}

/** The layout of help. */
export const helpLayout: HelpConfiguration = {
  subcommandTerm: (command) => command.name(),
  formatHelp: (command, helper) => {
    const width = helper.helpWidth ?? pipeWidth;
    const { examples, details = '', exits = [] } = textsOf.get(command) ?? { examples: [] };
    const isGroup = command.commands.length > 0;
    const name = fullNameOf(command);
    const more = isGroup ? [`${name} COMMAND --help says more about a command.`] : [];
    const parts = [
      brokenBetweenWords(sentence(helper.commandDescription(command)), '', width),
      examples.length === 0 ? '' : ['Examples:', ...examples.map((one) => example(one, width))],
      ...sections(command, helper).map((one) => sectionText(one, width)),
      ...details
        .trim()
        .split('\n\n')
        .map((one) => brokenBetweenWords(one.replace(/\n/g, ' '), '', width)),
      exits.length === 0 ? '' : sectionText({ heading: 'Exit codes:', items: exits }, width),
      ['Usage:', `${indent}${isGroup ? `${name} COMMAND [options]` : usageOf(command)}`],
      [...more, globalHint].map((line) => brokenBetweenWords(line, '', width)),
    ];
    const texts = parts.map((part) => [part].flat().join('\n'));
    return `${texts.filter((text) => text !== '').join('\n\n')}\n`;
  },
};

const globalHint =
  'kubectl taintmgr options lists the flags that every command takes, such as -n and --context.';

/** The flags that every command takes, as `options` prints them. */
export function globalFlags(program: CommandUnknownOpts, width: number): string {
  const items = program.options.filter(isGlobal).map(itemOf);
  return sectionText({ heading: 'Every command takes these flags:', items }, width);
}

function isGlobal({ long }: Option): boolean {
  return long !== '--version' && long !== '--help';
}

/** `kubectl taintmgr undo [drain] [nodes...] [options]` */
function usageOf(command: CommandUnknownOpts): string {
  const usage = command.usage().replace(/^\[options\] ?/, '');
  return `${fullNameOf(command)} ${usage === '' ? '' : `${usage} `}[options]`;
}

function sections(command: CommandUnknownOpts, helper: Help): readonly Section[] {
  const commands = groupBy(helper.visibleCommands(command), (one) => one.helpGroup());
  const args = helper.visibleArguments(command);
  const flags = helper.visibleOptions(command).filter((one) => command.parent || !isGlobal(one));
  const termWidth = widest(flags.map(itemOf));
  const groups = groupBy(flags, ({ helpGroupHeading = 'Options:' }) => helpGroupHeading);
  const itemOfCommand = (one: CommandUnknownOpts): Item => [
    one.name(),
    helper.subcommandDescription(one),
  ];
  const nameWidth = widest(helper.visibleCommands(command).map(itemOfCommand));
  const all: readonly Section[] = [
    ...Array.from(commands, ([heading, list]): Section => {
      const items = list.map(itemOfCommand);
      return { heading: heading || 'Commands:', items, termWidth: nameWidth };
    }),
    {
      heading: 'Arguments:',
      items: args.map((one) => [helper.argumentTerm(one), helper.argumentDescription(one)]),
    },
    ...Array.from(groups, ([heading, list]) => ({ heading, items: list.map(itemOf), termWidth })),
  ];
  return all.filter(({ items }) => items.length > 0);
}

function sectionText(
  { heading, items, termWidth = widest(items) }: Section,
  width: number,
): string {
  const column = ' '.repeat(indent.length + termWidth + 3);
  const lines = items.map(([term, about]) => {
    const text = brokenBetweenWords(`${column}${about}`, column, width);
    const start = `${indent}${term}`;
    return term.length > termWidth
      ? `${start}\n${text}`
      : `${start.padEnd(column.length)}${text.slice(column.length)}`;
  });
  return [heading, ...lines].join('\n');
}

function widest(items: readonly Item[]): number {
  return Math.max(2, ...items.map(([term]) => (term.length > termMax ? 0 : term.length)));
}

/** Breaks a command that is too long, as a shell reads it. */
function example(line: string, width: number): string {
  // A flag and its value stay in one line, and so does a quoted text.
  const words = line.match(/(?:--?[a-z-]+ (?=[^-#|>]))?(?:'[^']*'|"[^"]*"|\S)+/g) ?? [];
  const lines: string[] = [];
  let current = '';
  for (const word of words) {
    const longer = current === '' ? `${indent}${word}` : `${current} ${word}`;
    if (current !== '' && longer.length + ' \\'.length > width) {
      lines.push(`${current} \\`);
      current = `${indent}${indent}${word}`;
    } else {
      current = longer;
    }
  }
  return [...lines, current].join('\n');
}

function itemOf(option: Option): Item {
  const short = option.short ? '' : '    ';
  return [`${short}${option.flags}`, aboutOption(option)];
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
