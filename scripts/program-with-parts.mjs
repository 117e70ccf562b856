// Makes a program of an app by make-program.mjs, with what it seldom needs as parts of their own.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Makes it as the arguments of this process say, `PROGRAM [PLATFORM] [--node=FILE]`, and prints its path. `app` is
 * the folder with src/main.ts, `parts` are files by their names, from the project's root, and `start` runs first, where
 * there is one.
 */
export function makeWithParts(app, parts, start = null) {
  const [program, ...more] = process.argv.slice(2);
  if (!program) throw new Error('want: build-program.mjs PROGRAM [PLATFORM]');
  const flags = Object.entries(parts).map(([name, file]) => `--part=${name}=${join(root, file)}`);
  if (start !== null) flags.push(`--start=${join(root, start)}`);
  const maker = join(root, 'scripts/make-program.mjs');
  const command = [maker, join(root, app, 'src/main.ts'), resolve(program), ...more, ...flags];
  const { status } = spawnSync(process.execPath, command, {
    cwd: join(root, app),
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
