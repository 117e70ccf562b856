// Installs the executable that kubectl asks for completions.
import { accessSync, constants, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { UsageError } from '../../usage-error.ts';
import type { InstallFlags } from './flags.ts';

const plugin = 'kubectl-taintmgr';
const completer = 'kubectl_complete-taintmgr';

/** The executable that kubectl asks; what it prints is ours to say. */
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
