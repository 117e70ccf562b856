// Translates ways of writing flags that kubectl has and commander has not.
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { UsageError } from '../usage-error.ts';
import { childOf, optionsOf, positionOf } from './position.ts';

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

/** `explain pod/web-0` means `explain pod web-0`. */
function kindAndName(argv: readonly string[], program: CommandUnknownOpts): readonly string[] {
  const { command, args } = positionOf(program, [...argv, '']);
  const [first = ''] = args;
  const [, kind = '', name = ''] = /^([a-z]+)\/(.+)$/s.exec(first) ?? [];
  if (!childOf(command, kind)) return argv;
  return argv.flatMap((word) => (word === first ? [kind, name] : [word]));
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
