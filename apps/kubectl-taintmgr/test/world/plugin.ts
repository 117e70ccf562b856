import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Result } from './run.ts';

// The plugin as a user has it: an executable on PATH that the machine's own kubectl finds.

/** Longer than anything that is run here says that it waits itself. */
const timeout = 240_000;

/** Runs a program to its end. */
export function execute(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  input: string = '',
): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { env, timeout }, (error, out, err) => {
      const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
      resolve({ code, out, err: code === -1 ? `${err}${error?.message}` : err });
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

const hasKubectl = (await execute('kubectl', ['version', '--client'])).code === 0;
const isRequired = process.env.REQUIRE_KUBECTL === '1';

/** Why tests with kubectl are left out, or false; a machine may be required to have one. */
export const withoutKubectl: string | false =
  !hasKubectl && !isRequired && 'there is no kubectl on PATH';

/** Puts the plugin into a folder as one executable file; the PATH on which it is found. */
export function installPlugin(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  // One process, as what is published: the clone's launcher is another one in between.
  const cache = `NODE_COMPILE_CACHE='${process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled')}'`;
  const launch = `#!/bin/sh\n${cache} exec '${process.execPath}' -C @taintmgr/source '${main}' "$@"\n`;
  writeFileSync(join(bin, 'kubectl-taintmgr'), launch, { mode: 0o755 });
  return `${bin}${delimiter}${process.env.PATH}`;
}
