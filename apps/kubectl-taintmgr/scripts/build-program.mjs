// Makes the plugin one program, of the package as it was built: for this machine, or for a platform that
// scripts/make-program.mjs knows. Prints the path of the program.
//
//   node apps/kubectl-taintmgr/scripts/build-program.mjs PROGRAM [PLATFORM]
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { makeWithParts } from '../../../scripts/program-with-parts.mjs';
import { seldomLibraries } from './seldom-libraries.ts';

const app = 'apps/kubectl-taintmgr';
if (!existsSync(fileURLToPath(new URL('../dist/explain.js', import.meta.url)))) {
  throw new Error('the package comes first: npm run build');
}
const built = [...seldomLibraries, 'explain', 'explain-answers', 'explain-more'];
const parts = {
  ...Object.fromEntries(built.map((name) => [name, `${app}/dist/${name}.js`])),
  'plugin-login': 'packages/k8s-adapter/src/kubeconfig/plugin-login.ts',
};
makeWithParts(app, parts, `${app}/scripts/program-start.cjs`);
