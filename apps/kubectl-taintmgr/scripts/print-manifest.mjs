// Prints the krew manifest for the archives that were built.
//
//   npm run -s -w apps/kubectl-taintmgr krew-manifest -- \
//     --homepage URL --url 'https://HOST/v{version}/{archive}' [--archives FOLDER] > taintmgr.yaml
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { krewManifest } from './krew-manifest.mjs';

const { values } = parseArgs({
  options: {
    homepage: { type: 'string' },
    url: { type: 'string' },
    archives: { type: 'string', default: fileURLToPath(new URL('../archives', import.meta.url)) },
  },
});
const { homepage, url, archives: folder } = values;
if (!homepage || !url) throw new Error('--homepage and --url are needed');
process.stdout.write(krewManifest({ version: manifest.version, folder, url, homepage }));
