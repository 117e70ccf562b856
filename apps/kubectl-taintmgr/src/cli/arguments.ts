// Finds in the words of a command line the command and its flags, and translates ways of writing flags that commander has not.
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { namesKind, subjectWords } from './workload-words.ts';

/** As Go reads them. */
const truths = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const falsehoods = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/**
 * Rewrites what kubectl understands and commander does not: `pod/web-0`, `--force=true`, `-n=shop`,
 * and a flag with an optional value, which takes the next argument for its value only after `=`.
 * Throws UsageError for a value that is neither true nor false.
 */
export function plainArguments(
  argv: readonly string[],
  program: CommandUnknownOpts,
): readonly string[] {
  const end = argv.indexOf('--');
  const [flags, rest] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end)];
  const words = kindAndName(flags, program);
  const { command } = positionOf(program, [...words, '']);
  const options = new Map(optionsOf(command).flatMap(namesOf));
  return [...words.flatMap((argument) => plainArgument(argument, options)), ...rest];
}

/** `explain pod/web-0` means `explain pod web-0`, and `explain sts db` `explain workload sts db`. */
export function kindAndName(
  argv: readonly string[],
  program: CommandUnknownOpts,
): readonly string[] {
  const [group, at, last, ...more] = operandsOf(program, argv);
  const explain = childOf(program, 'explain');
  if (!explain || group === undefined || argv[group] !== 'explain' || at === undefined) return argv;
  const isKind = (kind: string): boolean => childOf(explain, kind) !== undefined;
  const word = argv[at] ?? '';
  if (last !== undefined && more.length === 0 && !namesKind(word, isKind)) {
    const kind = argv[last] ?? '';
    // The two are swapped.
    if (namesKind(kind, isKind)) return kindAndName(argv.with(at, kind).with(last, word), program);
  }
  const words = subjectWords(word, last === undefined, isKind);
  return [...argv.slice(0, at), ...words, ...argv.slice(at + 1)];
}

/**
 * The places of the words that are neither flags nor their values; all subjects of `explain` have the flags
 * of one.
 */
export function operandsOf(
  program: CommandUnknownOpts,
  argv: readonly string[],
): readonly number[] {
  let command = program;
  let isValue = false;
  return argv.flatMap((word, at) => {
    if (isValue || word.startsWith('-')) {
      const option = isValue ? null : optionNamed(command, word);
      isValue = option?.required === true && !word.includes('=');
      return [];
    }
    const next = childOf(command, word);
    if (command === program && next) command = childOf(next, 'node') ?? next;
    return [at];
  });
}

function plainArgument(argument: string, options: ReadonlyMap<string, Option>): readonly string[] {
  const [, name, value] = /^(--?[A-Za-z][\w-]*)(?:=(.*))?$/s.exec(argument) ?? [];
  const option = name === undefined ? undefined : options.get(name);
  if (name === undefined || option === undefined) return [argument];
  if (value === undefined) {
    return option.optional ? [`${name}=${String(option.presetArg)}`] : [argument];
  }
  if (option.isBoolean() || option.negate) return truthOf(name, value) ? [name] : [];
  return name.startsWith('--') ? [argument] : [name, value];
}

/** Null: it is neither true nor false. */
export function truthIn(value: string): boolean | null {
  if (truths.includes(value)) return true;
  return falsehoods.includes(value) ? false : null;
}

function truthOf(name: string, value: string): boolean {
  const truth = truthIn(value);
  if (truth !== null) return truth;
  throw new UsageError(`${name}: got ${JSON.stringify(value)}, want true or false`);
}

function namesOf(option: Option): readonly (readonly [string, Option])[] {
  return [option.short, option.long].flatMap((name) => (name ? [[name, option]] : []));
}

/** The facts about the words before the one that is completed. */
export interface Position {
  /** The command they lead to. */
  readonly command: CommandUnknownOpts;
  /** The words before it that are neither commands nor flags. */
  readonly args: readonly string[];
  /** The value of this flag is being typed; null: none. */
  readonly option: Option | null;
  /** The part of the word that is the flag, as in `--output=js`; '' where it is not. */
  readonly prefix: string;
  /** The typed part of the word, without the prefix. */
  readonly typed: string;
}

/** Reads the words before the last one, and the last one, which may be empty. */
export function positionOf(program: CommandUnknownOpts, words: readonly string[]): Position {
  const typed = words.at(-1) ?? '';
  let command = program;
  let args: string[] = [];
  let awaited: Option | null = null;
  for (const word of words.slice(0, -1)) {
    if (awaited) {
      awaited = null;
    } else if (word.startsWith('-')) {
      const option = optionNamed(command, word);
      awaited = option?.required && !word.includes('=') ? option : null;
    } else {
      const next = args.length === 0 ? childOf(command, word) : undefined;
      if (next) command = next;
      else args = [...args, word];
    }
  }
  if (awaited) return { command, args, option: awaited, prefix: '', typed };
  const [, prefix, value] = /^(--[\w-]+=)(.*)$/s.exec(typed) ?? [];
  const option = prefix === undefined ? null : optionNamed(command, prefix);
  if (option) return { command, args, option, prefix: prefix ?? '', typed: value ?? '' };
  return { command, args, option: null, prefix: '', typed };
}

/** The command of a name, or of one that means the same. */
export function childOf(command: CommandUnknownOpts, name: string): CommandUnknownOpts | undefined {
  return command.commands.find((one) => one.name() === name || one.aliases().includes(name));
}

/** The flags that a command takes, with those of the commands above it. */
export function optionsOf(command: CommandUnknownOpts): readonly Option[] {
  const above = command.parent ? optionsOf(command.parent) : [];
  return [...command.options, ...above];
}

/** `explain node`; '' for the program. */
export function pathOf(command: CommandUnknownOpts): string {
  if (!command.parent) return '';
  const above = pathOf(command.parent);
  return above === '' ? command.name() : `${above} ${command.name()}`;
}

/** `kubectl taintmgr explain node` */
export function fullNameOf(command: CommandUnknownOpts): string {
  return command.parent ? `${fullNameOf(command.parent)} ${command.name()}` : command.name();
}

/** The flag that a word such as `--for=2h` gives; null: the command takes no such flag. */
export function optionNamed(command: CommandUnknownOpts, word: string): Option | null {
  const name = word.replace(/=.*$/s, '');
  return optionsOf(command).find(({ short, long }) => short === name || long === name) ?? null;
}
