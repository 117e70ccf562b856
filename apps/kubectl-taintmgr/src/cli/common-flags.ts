// The flags that commands share.
import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Millis, parseDuration } from '@taintmgr/core/time';
import { connectionFlags, UsageError } from '@taintmgr/k8s-adapter/command-line';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { formatNames } from '../render/printer.ts';
import { truthIn } from './arguments.ts';
import { connectionGroup } from './help.ts';
import { type Output, warn } from './output.ts';

/** kubectl's connection flags that reach us and not the kubeconfig. */
export interface ExtraConnectionFlags {
  readonly as?: string | undefined;
  readonly asUserExtra?: readonly string[] | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
}

/** Adds kubectl's connection flags; on the program, they count before and after its commands. */
export function addConnectionFlags(command: CommandUnknownOpts): void {
  for (const { flags, description, option } of connectionFlags) {
    const flag = new Option(flags, description).helpGroup(connectionGroup);
    command.addOption(option === 'asGroup' ? flag.argParser(collect) : flag);
  }
  const known = new Set(connectionFlags.map(({ flags }) => flags.split(' ').at(-2)));
  for (const [flags, description] of others) {
    if (known.has(flags.split(' ')[0])) continue;
    const flag = new Option(flags, description).helpGroup(connectionGroup);
    command.addOption(flags.startsWith('--as-user-extra') ? flag.argParser(collect) : flag);
  }
}

const others: readonly (readonly [flags: string, description: string])[] = [
  ['--as-user-extra <key=value>', 'extra field of the user to impersonate; may be repeated'],
  ['--username <name>', 'name to log in with'],
  ['--password <password>', 'password to log in with'],
  ['--cache-dir <directory>', 'accepted for compatibility; no effect'],
  ['--disable-compression', 'accepted for compatibility; no effect'],
];

/** The values of a flag that may be repeated. */
export function collect(value: string, before: unknown): readonly string[] {
  return Array.isArray(before) ? [...before, value] : [value];
}

/** The flags of every command that prints an answer. */
export interface OutputFlags {
  readonly output?: string | undefined;
  /** False with --no-headers. */
  readonly headers?: boolean | undefined;
}

/** Adds kubectl's flags about how the answer is printed. */
export function addOutputFlags(command: CommandUnknownOpts): CommandUnknownOpts {
  return command
    .addOption(
      new Option(
        '-o, --output <format>',
        `output format: ${formatNames.join(', ')} (default table)`,
      ),
    )
    .option('--no-headers', 'omit the header row');
}

/** The flag --dry-run and its values. */
export type DryRun = 'none' | 'client' | 'server';

/** The value that kubectl uses for the flag without a value. */
const bare = 'unchanged';

/** The flag as kubectl has it. */
export function dryRunOption(description: string): Option {
  return new Option('--dry-run [strategy]', description).preset(bare).default('none');
}

/** Reads its value; without one it is `client`, and a warning. Throws UsageError in kubectl's words. */
export function readDryRun(text: string, allowed: readonly DryRun[], output: Output): DryRun {
  if (text === bare) {
    warn(output, '--dry-run is deprecated and can be replaced with --dry-run=client.');
    return 'client';
  }
  const truth = truthIn(text);
  if (truth !== null && allowed.includes('client')) {
    const means = truth ? 'client' : 'none';
    warn(
      output,
      `--dry-run=${text} is deprecated (boolean value) and can be replaced with --dry-run=${means}.`,
    );
    return means;
  }
  const found = allowed.find((one) => one === text);
  if (found) return found;
  const names = allowed.map((one) => `"${one}"`);
  const last = names.pop();
  throw new UsageError(`Invalid dry-run value (${text}). Must be ${names.join(', ')}, or ${last}.`);
}

export interface PolicyFlag {
  readonly policy?: readonly string[] | undefined;
}

export function addPolicyFlag(command: CommandUnknownOpts): void {
  command.addOption(
    new Option(
      '--policy <path>',
      'assume the policies of this file or directory; may be repeated',
    ).argParser(collect),
  );
}

/**
 * The policies of the files; a pause holds from now on. Warns of earlier names. Throws UsageError with all
 * faults.
 */
export async function readPolicyFlag(
  { policy = [] }: PolicyFlag,
  output: Output,
): Promise<readonly PolicyObject[]> {
  if (policy.length === 0) return [];
  // The YAML parser takes long to load.
  const manifests = await import('@taintmgr/k8s-adapter/manifests');
  try {
    const { actionHint } = await import('@taintmgr/k8s-adapter/kinds');
    const read = manifests.readPolicyManifests(policy, Date.now());
    for (const { object, manifest } of read) {
      const hint = actionHint(manifest);
      if (hint !== null) warn(output, `--policy: ${object.kind} "${object.value.name}": ${hint}`);
    }
    return read.map(({ object }) => object);
  } catch (error) {
    if (error instanceof manifests.FaultyFile) throw new UsageError(error.faults);
    if (error instanceof manifests.PolicyPathError) {
      throw new UsageError(`--policy ${error.message}`);
    }
    throw error;
  }
}

/** `shown`: the default as help prints it. */
export function timeoutOption(description: string, value: Millis, shown: string): Option {
  return new Option('--timeout <duration>', description).argParser(duration).default(value, shown);
}

function duration(text: string): Millis {
  const millis = parseDuration(text);
  if (millis !== null) return millis;
  throw new InvalidArgumentError('Want a duration such as 30s, 10m or 1h30m.');
}
