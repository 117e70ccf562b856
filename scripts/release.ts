// Makes a release, and says where each part of it would go, or brings it there. The workflow of a release
// (.github/workflows/release.yml) runs the same commands that a dry run prints.
//
//   npm run release -- --dry-run [--programs own|none] [--twice]
//   npm run release -- --publish npm,jsr,github
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../packages/core/package.json' with { type: 'json' };
import { artifactTable, readChecksums, sizeText } from './release/artifacts.ts';
import { checkFolder, checkTag, parseReleaseFlags, type ReleaseFlags } from './release/flags.ts';
import { compareReleases, makeRelease } from './release/make.ts';
import { askRegistries, publish, type Release, releasePlan } from './release/publish.ts';

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
  if (flags.publish.length > 0) {
    // The release and nothing else: each file has to match its checksum.
    const release = releaseOf(flags, readChecksums(flags.folder));
    return publish(release, releasePlan(release), flags.publish, print);
  }
  const folder = resolve(flags.folder);
  const second = `${folder}-again`;
  for (const one of flags.twice ? [folder, second] : [folder]) checkFolder(one, process.cwd());
  const artifacts = await makeRelease(flags, say);
  if (flags.twice) {
    const again = await makeRelease({ ...flags, folder: second }, say);
    compareReleases(artifacts, again);
    say(`built twice, with the same checksums: ${artifacts.length} files`);
  }
  print('');
  print(artifactTable(artifacts));
  const core = artifacts.find(({ file }) => file.startsWith('taintmgr-core-'));
  if (!core || core.bytes >= coreBytesMax) {
    throw new Error(
      `the tarball of @taintmgr/core has ${sizeText(core?.bytes ?? 0)}, want less than ${sizeText(coreBytesMax)}`,
    );
  }
  const plan = releasePlan(releaseOf(flags, artifacts));
  const isCi = process.env.CI !== undefined;
  if (!askRegistries(plan, isCi, print)) process.exitCode = 1;
  print('\nNothing was published. npm run release -- --publish TARGET,... runs these commands.');
}

function releaseOf(flags: ReleaseFlags, artifacts: readonly { file: string }[]): Release {
  return {
    version: manifest.version,
    repository: flags.repository,
    // Without ./ npm takes it for a repository on GitHub.
    folder: `./${relative(root, resolve(root, flags.folder))}`,
    files: artifacts.map(({ file }) => file),
  };
}

function say(text: string): void {
  process.stderr.write(`release: ${text}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
