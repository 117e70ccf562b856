// kubectl's connection flags.
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { connectionFlags } from '@taintmgr/k8s-adapter/command-line';

const group = 'Connection (as kubectl):';

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
    const flag = new Option(flags, description).helpGroup(group);
    command.addOption(option === 'asGroup' ? flag.argParser(collect) : flag);
  }
  const known = new Set(connectionFlags.map(({ flags }) => flags.split(' ').at(-2)));
  for (const [flags, description] of others) {
    if (known.has(flags.split(' ')[0])) continue;
    const flag = new Option(flags, description).helpGroup(group);
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
