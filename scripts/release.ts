// Makes a release, and says where each part of it would go, or brings it there. The workflow of a release
// (.github/workflows/release.yml) runs the same commands that a dry run prints.
//
//   npm run release -- --dry-run [--programs own|none] [--twice]
//   npm run release -- --publish npm,jsr,github
import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../packages/core/package.json' with { type: 'json' };
import { artifactTable, readChecksums, sizeText } from './release/artifacts.ts';
import { checkTag, parseReleaseFlags, type ReleaseFlags } from './release/flags.ts';
import { differences, makeRelease } from './release/make.ts';
import { releasePlan, type Step } from './release/plan.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** A tarball of the core that is larger says that something came in which does not belong there. */
const coreBytesMax = 200_000;
process.chdir(root);

try {
  await main(parseReleaseFlags(process.argv.slice(2), process.env));
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 1;
}

async function main(flags: ReleaseFlags): Promise<void> {
  checkTag(manifest.version, process.env);
  if (flags.publish.length > 0) return publish(flags);
  const artifacts = await makeRelease(flags, say);
  if (flags.twice) {
    const again = await makeRelease({ ...flags, folder: `${flags.folder}-again` }, say);
    for (const line of differences(artifacts, again)) print(line);
  }
  print('');
  print(artifactTable(artifacts));
  const core = artifacts.find(({ file }) => file.startsWith('taintmgr-core-'));
  if (!core || core.bytes >= coreBytesMax) {
    throw new Error(
      `the tarball of @taintmgr/core has ${sizeText(core?.bytes ?? 0)}, want less than ${sizeText(coreBytesMax)}`,
    );
  }
  checkPublishing(planOf(flags, artifacts));
}

/** The plan in words; npm is asked whether it would take its part. */
function checkPublishing(plan: readonly Step[]): void {
  print('What would be published where:');
  for (const step of plan) {
    print(`\n  ${step.to}\n    ${step.command.join(' ')}`);
    if (step.target !== 'npm') continue;
    const [command, ...args] = step.command.filter((word) => word !== '--provenance');
    const { status, stderr } = spawnSync(command ?? '', [...args, '--dry-run'], {
      encoding: 'utf8',
      env: { ...process.env, npm_config_loglevel: 'error' },
    });
    print(status === 0 ? '    npm would take it' : `    npm would refuse it: ${stderr}`);
    if (status !== 0) process.exitCode = 1;
  }
  print('\nNothing was published. npm run release -- --publish TARGET,... runs these commands.');
}

/** Publishes what was made and nothing else: each file has to be as its checksum says. */
function publish(flags: ReleaseFlags): void {
  const artifacts = readChecksums(flags.folder);
  for (const { target, to, command } of planOf(flags, artifacts)) {
    if (!flags.publish.includes(target)) continue;
    print(`${to}\n  ${command.join(' ')}`);
    const [program, ...args] = command;
    const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
    if (status !== 0)
      throw new Error(`${command.join(' ')}: ${error?.message ?? `exit ${status}`}`);
  }
}

function planOf(flags: ReleaseFlags, artifacts: readonly { file: string }[]): readonly Step[] {
  return releasePlan({
    version: manifest.version,
    repository: flags.repository,
    // Without ./ npm takes it for a repository on GitHub.
    folder: `./${relative(root, join(root, flags.folder))}`,
    files: artifacts.map(({ file }) => file),
  });
}

function say(text: string): void {
  process.stderr.write(`release: ${text}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
