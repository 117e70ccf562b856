// Makes the controller one program, for this machine or for a platform that scripts/make-program.mjs knows.
// Prints the path of the program.
//
//   node apps/controller/scripts/build-program.mjs PROGRAM [PLATFORM]
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const app = fileURLToPath(new URL('..', import.meta.url));
const root = join(app, '../..');
const [program, ...platform] = process.argv.slice(2);
if (!program) throw new Error('want: build-program.mjs PROGRAM [PLATFORM]');

/** Most of the code, and what few need: --simulate, logins by plugins of clouds, the page. */
const parts = {
  'sim-cluster': 'packages/sim-cluster/src/index.ts',
  'api-server': 'packages/api-server/src/index.ts',
  'plugin-login': 'packages/k8s-adapter/src/kubeconfig/plugin-login.ts',
  page: 'packages/page/src/index.ts',
};

const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'scripts/make-program.mjs'),
    join(app, 'src/main.ts'),
    resolve(program),
    ...platform,
    ...Object.entries(parts).map(([name, file]) => `--part=${name}=${join(root, file)}`),
  ],
  { cwd: app, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
