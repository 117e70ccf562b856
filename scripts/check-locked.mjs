// Whether what is installed is what package-lock.json says, version by version and hash by hash:
// what `npm ci` sees to. It cannot be used, because the lockfile does not hold the packages of every
// platform and npm ci wants them all. Run it before anything that was installed is.
//
//   node scripts/check-locked.mjs [FOLDER]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '.'] = process.argv.slice(2);
const locked = packagesIn('package-lock.json');
// npm writes down here what it has installed.
const installed = packagesIn(join('node_modules', '.package-lock.json'));

const faults = Object.entries(installed).flatMap(([path, { version, integrity, link }]) => {
  const want = locked[path];
  if (!want) return [`${path} ${version} is not in package-lock.json`];
  if (link || (want.version === version && want.integrity === integrity)) return [];
  return [`${path} is ${version} ${integrity}, want ${want.version} ${want.integrity}`];
});
const unhashed = Object.entries(installed).flatMap(([path, { integrity, link, resolved }]) => {
  const isOurs = link || !path.includes('node_modules/') || resolved?.startsWith('file:');
  return integrity || isOurs ? [] : [`${path} has no hash`];
});
for (const fault of [...faults, ...unhashed]) process.stderr.write(`error: ${fault}\n`);
process.exitCode = faults.length + unhashed.length > 0 ? 1 : 0;

function packagesIn(file) {
  return JSON.parse(readFileSync(join(folder, file), 'utf8')).packages;
}
