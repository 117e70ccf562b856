// Makes the plugin one program, of the package as it was built: for this machine, or for a platform that
// scripts/make-program.mjs knows. Prints the path of the program.
//
//   node apps/kubectl-taintmgr/scripts/build-program.mjs PROGRAM [PLATFORM]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const app = fileURLToPath(new URL('..', import.meta.url));
const root = join(app, '../..');
const [program, ...platform] = process.argv.slice(2);
if (!program) throw new Error('want: build-program.mjs PROGRAM [PLATFORM]');

const parts = ['main', 'plugin-login'].map((name) => [name, join(app, `dist/${name}.js`)]);
if (!parts.every(([, file]) => existsSync(file))) {
  throw new Error('the package comes first: npm run build');
}

const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'scripts/make-program.mjs'),
    join(app, 'scripts/program-start.cjs'),
    resolve(program),
    ...platform,
    ...parts.map(([name, file]) => `--part=${name}=${file}`),
  ],
  { cwd: app, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
