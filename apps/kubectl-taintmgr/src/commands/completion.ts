// Completes words in a shell, and installs what asks for that: completion.
import { accessSync, constants, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { formatTaint } from '@taintmgr/core';
import { formatDevice } from '@taintmgr/core/devices';
import { kubeconfigNames } from '@taintmgr/k8s-adapter';
import { resourceSliceFromJson } from '@taintmgr/k8s-adapter/client';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  ClusterReader,
  devicePaths,
  drainsOn,
  type RuleObject,
  type WorkloadKind,
  workloadNames,
} from '@taintmgr/k8s-adapter/survey';
import {
  kindAndName,
  optionsOf,
  type Position,
  pathOf,
  plainArguments,
  positionOf,
} from '../cli/arguments.ts';
import { withConnection } from '../cli/connection.ts';
import { type ExitCode, exitCode } from '../cli/exit.ts';
import type { Output } from '../cli/output.ts';
import type { GlobalFlags, Invocation } from '../cli/registry.ts';
import { workloadKindOf, workloadKindWords } from '../cli/workload-words.ts';
import { ruleMark } from '../cluster/device-rules.ts';
import { formatNames } from '../render/printer.ts';

/** The command line of `completion install`. */
export interface InstallFlags {
  readonly directory?: string | undefined;
}

/** The shell's handling of the choices, in Cobra's numbers. */
const directive = { files: 0, noSpace: 2, noFiles: 4 } as const;

/** A choice, and its description. */
interface Choice {
  readonly text: string;
  readonly about?: string;
}

interface Choices {
  readonly choices: readonly Choice[];
  readonly directive: number;
}

/** The kind of name of each argument; the last counts for all that follow. */
const argumentSources: Readonly<Record<string, readonly NameKind[]>> = {
  'explain node': ['nodes'],
  'explain pod': ['pods'],
  'explain zone': ['zones'],
  'explain taint': ['taint-keys'],
  'explain device': ['devices'],
  'explain devicetaintrule': ['device-rules'],
  'explain policy': ['pods-and-nodes'],
  history: ['pods-and-nodes'],
  'drain-by-taint': ['taints', 'nodes'],
  'taint-device': ['device-targets'],
  undo: ['undoable', 'nodes'],
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

/** Fixed values; a value that ends in `=` or `:` continues. */
const flagValues: Readonly<Record<string, readonly string[]>> = {
  '--output': ['wide', ...formatNames.map(withValue).filter((name) => name !== 'wide')],
  '--dry-run': ['none', 'client', 'server'],
  '--pdb-policy': ['respect', 'delete-after:', 'ignore'],
  '--sort-by': ['due', 'name', 'node'],
  '--compare': ['kube-controller-manager'],
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
 * Prints what the last word may be, one choice a line, then a line with a directive: kubectl's contract with
 * plugins. Values that cannot be found out are no choices; nothing else is ever printed.
 */
export async function completeWords(
  words: readonly string[],
  program: CommandUnknownOpts,
  output: Output,
): Promise<void> {
  const typed = words.at(-1) ?? '';
  const before = kindAndName(words.slice(0, -1), program);
  const position = positionOf(program, [...before, typed]);
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
    const kinds = pathOf(command) === 'explain' ? workloadKindWords.map((text) => ({ text })) : [];
    return { choices: [...choices, ...kinds], directive: directive.noFiles };
  }
  const path = pathOf(command);
  const sources =
    path === 'explain workload' ? workloadSources(args) : (argumentSources[path] ?? []);
  const isLimited =
    path.startsWith('explain ') && path !== 'explain node' && path !== 'explain pod';
  const source = isLimited ? sources[args.length] : (sources[args.length] ?? sources.at(-1));
  const names = source ? await namesOrNone(source, program, words) : [];
  const rest = names.filter((name) => !args.includes(name));
  return { choices: rest.map((text) => ({ text })), directive: directive.noFiles };
}

/** The name of a workload comes after its kind. */
function workloadSources([word = '']: readonly string[]): readonly NameKind[] {
  const kind = workloadKindOf(word);
  return kind === null || kind === 'node-or-pod' ? ['workload-kinds'] : ['workload-kinds', kind];
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

/** The flags for people, with their descriptions. */
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

/** The form of a drain's name: a client that may write on a node may have written any text. */
const drainId = /^drain-\d{8}-\d{6}-[0-9a-f]{4}$/;
/** Characters that a shell would not take as part of a name, or that a terminal would obey. */
const steering = /[\p{Cc}\p{Cf}\p{Z}\p{DI}]/u;

/** Where names of the cluster are read. */
const clusterNames = {
  nodes: async (reader: ClusterReader) => (await reader.nodes()).map(({ node }) => node.name),
  pods: (reader: ClusterReader, namespace: string) => reader.podNames(namespace),
  'pods-and-nodes': async (reader: ClusterReader, namespace: string) => [
    ...(await reader.podNames(namespace)).map((name) => `pod/${name}`),
    ...(await reader.nodes()).map(({ node }) => `node/${node.name}`),
  ],
  zones: async (reader: ClusterReader) =>
    (await reader.nodes()).map(({ zone }) => zone).filter((zone) => zone !== ''),
  'taint-keys': async (reader: ClusterReader) =>
    (await reader.nodes()).flatMap(({ node }) => node.taints.map(({ key }) => key)),
  taints: async (reader: ClusterReader) =>
    (await reader.nodes()).flatMap(({ node }) => node.taints.map(formatTaint)),
  undoable: async (reader: ClusterReader) => [
    ...drainsOn(await reader.nodes()).flatMap(({ id }) => (drainId.test(id) ? [id] : [])),
    ...(await ruleNames(reader, isMarked)).map((name) => `devicetaintrule/${name}`),
  ],
  devices: deviceNames,
  'device-rules': (reader: ClusterReader) => ruleNames(reader, () => true),
  'device-targets': async (reader: ClusterReader) => [
    ...(await deviceNames(reader)),
    ...(await ruleNames(reader, () => true)).map((name) => `devicetaintrule/${name}`),
  ],
  namespaces: (reader: ClusterReader) => reader.namespaceNames(),
  pauses: async (reader: ClusterReader) =>
    (await reader.pauseNames()).map((name) => `pause/${name}`),
} as const;

/** `driver/pool/device` of each that is published. */
async function deviceNames(reader: ClusterReader): Promise<readonly string[]> {
  const path = (await devicePaths(reader))?.resourceslices ?? null;
  const slices = path === null ? [] : await reader.objects(path);
  return slices.flatMap((slice) => {
    const { driver, pool, devices } = resourceSliceFromJson(slice);
    return devices.map(({ name }) => formatDevice({ driver, pool, device: name }));
  });
}

async function ruleNames(
  reader: ClusterReader,
  isMeant: (rule: RuleObject) => boolean,
): Promise<readonly string[]> {
  const path = (await devicePaths(reader))?.devicetaintrules ?? null;
  const rules = path === null ? [] : await reader.objects(path);
  return (rules as readonly RuleObject[]).filter(isMeant).map(({ metadata }) => metadata.name);
}

function isMarked({ metadata }: RuleObject): boolean {
  return metadata.annotations?.[ruleMark] !== undefined;
}

/** Names from the cluster that can complete a word. */
type NameKind =
  | keyof typeof clusterNames
  | WorkloadKind
  | 'contexts'
  | 'clusters'
  | 'users'
  | 'workload-kinds';

type Flags = GlobalFlags & Readonly<Record<string, unknown>>;

/** The longest wait for a list of names. */
const requestTimeout = '3s';

/** The names that there are, in their order. */
export async function namesFrom(source: NameKind, flags: Flags): Promise<readonly string[]> {
  if (source === 'contexts' || source === 'clusters' || source === 'users') {
    const { kubeconfig } = flags;
    const names = await kubeconfigNames(
      source,
      typeof kubeconfig === 'string' ? { kubeconfig } : {},
    );
    return harmless(names);
  }
  if (source === 'workload-kinds') return workloadKindWords;
  const quick = { ...flags, requestTimeout: flags.requestTimeout ?? requestTimeout };
  const { signal } = new AbortController();
  return await withConnection({ flags: quick, interrupt: signal }, async ({ client, cluster }) => {
    const reader = new ClusterReader(client);
    const names = isClusterName(source)
      ? await clusterNames[source](reader, cluster.namespace)
      : await workloadNames(reader, source, cluster.namespace);
    return harmless([...new Set(names)].sort());
  });
}

function isClusterName(source: string): source is keyof typeof clusterNames {
  return Object.hasOwn(clusterNames, source);
}

function harmless(names: readonly string[]): readonly string[] {
  return names.filter((name) => !steering.test(name));
}

const plugin = 'kubectl-taintmgr';
const completer = 'kubectl_complete-taintmgr';

/** The executable that kubectl calls for completions. */
const completionScript: string = `#!/bin/sh
exec ${plugin} __complete "$@"
`;

/** Prints the executable. */
export function printCompletion({ output }: Invocation<object>): ExitCode {
  output.write(completionScript);
  return exitCode.done;
}

/** Writes the executable into the directory of the plugin, or the one that is named. */
export function installCompletion({ flags, output }: Invocation<InstallFlags>): ExitCode {
  const file = join(flags.directory ?? pluginDirectory(process.env.PATH ?? ''), completer);
  try {
    writeFileSync(file, completionScript, { mode: 0o755 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UsageError(
      `${file} cannot be written (${code}); name another place with --directory`,
    );
  }
  output.out(`${file} written`);
  return exitCode.done;
}

/** Where on the PATH the plugin is. Throws UsageError where it is not. */
function pluginDirectory(path: string): string {
  const directories = path.split(delimiter).filter((directory) => directory !== '');
  const found = directories.find((directory) => isExecutable(join(directory, plugin)));
  if (found !== undefined) return found;
  throw new UsageError(`${plugin} is not on the PATH; name a place that is with --directory`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
