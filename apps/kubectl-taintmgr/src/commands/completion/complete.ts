// Answers the shell: what can complete the word that is being typed.
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { plainArguments } from '../../cli/arguments.ts';
import type { GlobalFlags } from '../../cli/invocation.ts';
import type { Output } from '../../cli/output.ts';
import { optionsOf, type Position, pathOf, positionOf } from '../../cli/position.ts';
import { formatNames } from '../../render/format.ts';
import { type NameKind, namesFrom } from './names.ts';

/** What the shell is to do with the choices, in Cobra's numbers. */
const directive = { files: 0, noSpace: 2, noFiles: 4 } as const;

/** A choice, and a word about it. */
interface Choice {
  readonly text: string;
  readonly about?: string;
}

interface Choices {
  readonly choices: readonly Choice[];
  readonly directive: number;
}

/** What each argument of a command is the name of; the last counts for all that follow. */
const argumentSources: Readonly<Record<string, readonly NameKind[]>> = {
  'explain node': ['nodes'],
  'explain pod': ['pods'],
  'explain zone': ['zones'],
  'explain taint': ['taint-keys'],
  'explain policy': ['policy-subjects'],
  'drain-by-taint': ['taints', 'nodes'],
  undo: ['drains', 'nodes'],
  resume: ['pauses'],
  'takeover enable': ['namespaces'],
  'takeover disable': ['namespaces'],
};

const flagSources: Readonly<Record<string, NameKind>> = {
  '--namespace': 'namespaces',
  '--context': 'contexts',
  '--cluster': 'clusters',
  '--user': 'users',
  '--with-taint': 'taints',
  '--without-taint': 'taints',
  '--taint-keys': 'taint-keys',
  '--namespaces': 'namespaces',
  '--node': 'nodes',
};

/** Values that are always the same; one that ends in `=` or `:` goes on. */
const flagValues: Readonly<Record<string, readonly string[]>> = {
  '--output': ['wide', ...formatNames.map(withValue).filter((name) => name !== 'wide')],
  '--dry-run': ['none', 'client', 'server'],
  '--pdb-policy': ['respect', 'delete-after:', 'ignore'],
  '--sort-by': ['due', 'name', 'node'],
  '--compare': ['kcm-1.36'],
  '--held': ['evict', 'delete', 'leave'],
};

const fileFlags: readonly string[] = [
  '--kubeconfig',
  '--certificate-authority',
  '--client-certificate',
  '--client-key',
  '--cache-dir',
  '--directory',
  '--policy',
  '--filename',
];

/**
 * Prints what the last word may be, one choice a line, then a line with a directive: kubectl's
 * contract with plugins. What cannot be found out is no choice; nothing else is ever printed.
 */
export async function completeWords(
  words: readonly string[],
  program: CommandUnknownOpts,
  output: Output,
): Promise<void> {
  const position = positionOf(program, words);
  const { choices, directive: code } = await choicesAt(position, program, words);
  for (const { text, about } of choices) {
    if (!text.startsWith(position.typed)) continue;
    output.out(`${position.prefix}${text}${about ? `\t${about}` : ''}`);
  }
  output.out(`:${code}`);
}

async function choicesAt(
  position: Position,
  program: CommandUnknownOpts,
  words: readonly string[],
): Promise<Choices> {
  const { command, args, option, typed } = position;
  if (option) return await valuesOf(option, program, words);
  if (typed.startsWith('-')) return { choices: flagChoices(command), directive: directive.noFiles };
  if (command.commands.length > 0) {
    const choices = command.commands.map((one) => ({
      text: one.name(),
      about: one.summary() || one.description(),
    }));
    return { choices, directive: directive.noFiles };
  }
  const sources = argumentSources[pathOf(command)] ?? [];
  const isLimited = pathOf(command).startsWith('explain ');
  const source = isLimited ? sources[args.length] : (sources[args.length] ?? sources.at(-1));
  const names = source ? await namesOrNone(source, program, words) : [];
  const rest = names.filter((name) => !args.includes(name));
  return { choices: rest.map((text) => ({ text })), directive: directive.noFiles };
}

async function valuesOf(
  option: Option,
  program: CommandUnknownOpts,
  words: readonly string[],
): Promise<Choices> {
  const name = option.long ?? '';
  if (fileFlags.includes(name)) return { choices: [], directive: directive.files };
  const fixed = flagValues[name] ?? option.argChoices ?? [];
  const source = flagSources[name];
  const names = source ? await namesOrNone(source, program, words) : [];
  const choices = [...fixed, ...names].map((text) => ({ text }));
  const goesOn = fixed.some((text) => /[=:]$/.test(text));
  return { choices, directive: directive.noFiles + (goesOn ? directive.noSpace : 0) };
}

/** The flags that are meant for people, with what they do. */
function flagChoices(command: CommandUnknownOpts): readonly Choice[] {
  return optionsOf(command)
    .filter(({ hidden }) => !hidden)
    .map(({ long, description }) => ({ text: long ?? '', about: description }));
}

/** Names of the cluster that the flags among the words lead to; none where that does not work. */
async function namesOrNone(
  source: NameKind,
  program: CommandUnknownOpts,
  words: readonly string[],
): Promise<readonly string[]> {
  try {
    return await namesFrom(source, connectionFlagsIn(words, program));
  } catch {
    return [];
  }
}

/** The flags of the program itself among the words. */
function connectionFlagsIn(
  words: readonly string[],
  program: CommandUnknownOpts,
): GlobalFlags & Readonly<Record<string, unknown>> {
  const flags: Record<string, unknown> = { color: 'never' };
  const plain = plainArguments(words.slice(0, -1), program);
  for (const [index, word] of plain.entries()) {
    const [name = '', ...value] = word.split('=');
    const option = program.options.find(({ short, long }) => short === name || long === name);
    if (!option) continue;
    const given = value.length > 0 ? value.join('=') : plain[index + 1];
    flags[option.attributeName()] = option.required ? given : true;
  }
  return flags as GlobalFlags & Readonly<Record<string, unknown>>;
}

function withValue(name: string): string {
  return /^(jsonpath|custom-columns)/.test(name) ? `${name}=` : name;
}
