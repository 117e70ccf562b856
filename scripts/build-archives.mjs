// Builds the archives that people download, and krew with them: the plugin or the controller as one
// program, its license and those of what is in it. For the machine this runs on, or for those that are
// named, as Go and krew name them. Prints the path of each archive. The program has the Node that --node
// names, whose license is beside it.
//
//   node scripts/build-archives.mjs kubectl-taintmgr|controller [--to FOLDER] [--node FILE] [linux-amd64 ...]
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  archiveOf,
  nameOf,
  ownPlatform,
  platforms,
} from '../apps/kubectl-taintmgr/scripts/platforms.ts';
import manifest from '../packages/core/package.json' with { type: 'json' };
import { nodeLicense } from './node-programs.ts';
import { writeTarball } from './release/artifacts.ts';
import { bundledPackages, licenseFaults, noticesOf, programs } from './release/bundled.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The programs, and whether they are made of the package as it is built; otherwise of sources. */
const makers = {
  'kubectl-taintmgr': { program: 'kubectl-taintmgr', isOfPackage: true },
  controller: { program: 'taintmgr-controller', isOfPackage: false },
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { to: { type: 'string' }, node: { type: 'string' } },
});
const [app = '', ...names] = positionals;
const { program, isOfPackage } = makers[app] ?? fail(`no program "${app}"`, Object.keys(makers));
const wanted = names.length > 0 ? names.map(platformOf) : [ownPlatform];
const archives = resolve(values.to ?? join(root, 'apps', app, 'archives'));

mkdirSync(archives, { recursive: true });
if (isOfPackage) run('npm', 'run', '-s', 'build', '-w', `apps/${app}`);
const notices = await noticesText();
for (const platform of wanted) process.stdout.write(`${await buildArchive(platform)}\n`);

function platformOf(name) {
  const found = platforms.find((platform) => nameOf(platform) === name);
  return found ?? fail(`no platform "${name}"`, platforms.map(nameOf));
}

async function noticesText() {
  const packages = await bundledPackages(programs[app]);
  const faults = licenseFaults(packages);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const license = values.node
    ? readFileSync(join(dirname(values.node), 'LICENSE'), 'utf8')
    : nodeLicense();
  return `${noticesOf(packages)}\n${'-'.repeat(78)}\n\nNode.js ${process.versions.node}\nhttps://nodejs.org\n\n${license}`;
}

async function buildArchive(platform) {
  const content = mkdtempSync(join(tmpdir(), 'taintmgr-archive-'));
  try {
    const script = join('apps', app, 'scripts/build-program.mjs');
    const node = values.node ? [`--node=${values.node}`] : [];
    run(process.execPath, script, join(content, program), platform.node, ...node);
    cpSync(join(root, 'LICENSE'), join(content, 'LICENSE'));
    writeFileSync(join(content, 'THIRD-PARTY-NOTICES'), notices);
    const archive = join(archives, archiveOf(program, platform, manifest.version));
    await writeTarball(archive, content, readdirSync(content));
    return archive;
  } finally {
    rmSync(content, { recursive: true });
  }
}

/** Runs a program to its end; throws what it has to say where that is a failure. */
function run(command, ...args) {
  const { status, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

function fail(what, known) {
  process.stderr.write(`error: ${what}; there are ${known.join(', ')}\n`);
  return process.exit(1);
}
