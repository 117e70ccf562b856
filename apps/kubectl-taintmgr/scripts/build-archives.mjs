// Builds the archives that krew downloads: the plugin as one program, and the
// license. For the machine this runs on, or for those that are named, as krew names them. Prints
// the path of each archive.
//
//   npm run -w apps/kubectl-taintmgr archives -- [linux-amd64 linux-arm64 windows-amd64 ...]
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { archiveOf, nameOf, ownPlatform, platforms } from './platforms.mjs';

const app = fileURLToPath(new URL('..', import.meta.url));
const root = join(app, '../..');
const archives = join(app, 'archives');

const names = process.argv.slice(2);
mkdirSync(archives, { recursive: true });
run('npm', 'run', '-s', 'build', '-w', 'apps/kubectl-taintmgr');
for (const platform of names.length > 0 ? names.map(platformOf) : [ownPlatform]) {
  process.stdout.write(`${buildArchive(platform)}\n`);
}

function platformOf(name) {
  const found = platforms.find((platform) => nameOf(platform) === name);
  if (found) return found;
  throw new Error(`no platform ${name}; there are ${platforms.map(nameOf).join(', ')}`);
}

function buildArchive(platform) {
  const content = mkdtempSync(join(tmpdir(), 'taintmgr-archive-'));
  try {
    const buildProgram = join(app, 'scripts/build-program.mjs');
    run(process.execPath, buildProgram, join(content, 'kubectl-taintmgr'), platform.node);
    cpSync(join(app, 'LICENSE'), join(content, 'LICENSE'));
    const archive = join(archives, archiveOf(platform, manifest.version));
    run('tar', '-czf', archive, '-C', content, ...readdirSync(content));
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
