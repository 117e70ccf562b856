// Makes all parts of a release in a separate folder: a clean build, npm packages, programs, the
// manifest of krew, the chart, SBOMs of the programs, checksums.

import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { nameOf, ownPlatform, platforms } from '../../apps/kubectl-taintmgr/scripts/platforms.ts';
import manifest from '../../packages/core/package.json' with { type: 'json' };
import { releaseNotes } from '../changelog.ts';
import { checkNode, makeable } from '../node-programs.ts';
import { type Artifact, artifactOf, modeOf, writeChecksums, writeTarball } from './artifacts.ts';
import {
  type BundledPackage,
  bundledPackages,
  licenseFaults,
  noticesOf,
  programs,
  sbomOf,
} from './bundled.ts';
import { emptyFolder, type ReleaseFlags } from './flags.ts';
import { notesFile } from './publish.ts';
import { run } from './run.ts';

const { version } = manifest;
const chart = 'deploy/helm/taintmgr';
const libraries = [
  'packages/core',
  'packages/sim-cluster',
  'packages/api-server',
  'packages/k8s-adapter',
];
/** The controller runs in clusters, whose nodes are Linux. */
const controllerSystems = ['linux'];

type Say = (text: string) => void;
type Program = keyof typeof programs;
const programNames = Object.keys(programs) as Program[];

/** Runs in the root of the repository. Throws what stands against a release. */
export async function makeRelease(flags: ReleaseFlags, say: Say): Promise<readonly Artifact[]> {
  const folder = resolve(flags.folder);
  emptyFolder(folder, process.cwd());
  run('.', process.execPath, 'scripts/check-locked.mjs');
  const notes = releaseNotes(readFileSync('CHANGELOG.md', 'utf8'), version, flags.repository);
  writeFileSync(join(folder, notesFile), notes);
  say('a clean build');
  for (const dist of globSync('{packages,apps}/*/dist')) rmSync(dist, { recursive: true });
  run('.', 'npm', 'run', '-s', 'build', '--', '--force');
  const files = [
    ...(await makePackages(folder, flags.repository, say)),
    ...(await makeSboms(folder, say)),
    ...(await makePrograms(folder, flags, say)),
    ...(await makeChart(folder, say)),
  ];
  const artifacts = files.map(artifactOf);
  writeChecksums(folder, artifacts);
  return artifacts;
}

async function makePackages(to: string, repository: string, say: Say): Promise<readonly string[]> {
  say('npm packages');
  const packed = libraries.map((folder) => packPackage({ folder, to, repository }));
  for (const name of programNames) {
    const bundled = await bundledPackages(programs[name]);
    const faults = licenseFaults(bundled);
    if (faults.length > 0) throw new Error(faults.join('\n'));
    packed.push(packPackage({ folder: `apps/${name}`, to, repository, bundled }));
  }
  return packed;
}

async function makeSboms(to: string, say: Say): Promise<readonly string[]> {
  say('what is in the programs');
  const seconds = Number(run('.', 'git', 'log', '-1', '--format=%ct'));
  const committed = new Date(seconds * 1000).toISOString();
  const files: string[] = [];
  for (const name of programNames) {
    const packages = await bundledPackages(programs[name]);
    const node = process.versions.node;
    const { description } = manifestIn(`apps/${name}`);
    const own = { name: `@taintmgr/${name}`, version, description: String(description) };
    const program = { ...own, packages, node, committed };
    const file = join(to, `${name}-${version}.cdx.json`);
    writeFileSync(file, `${JSON.stringify(sbomOf(program), null, 2)}\n`);
    files.push(file);
  }
  return files;
}

/** Archives for the machines that programs can be made for here, and krew's manifest of them. */
async function makePrograms(to: string, flags: ReleaseFlags, say: Say): Promise<readonly string[]> {
  if (flags.programs === 'none') return [];
  checkNode(`${process.platform}-${process.arch}`, process.execPath);
  const wanted = flags.programs === 'own' ? [ownPlatform] : platforms;
  const made = wanted.filter((one) => one !== undefined && makeable.includes(one.node));
  const files: string[] = [];
  for (const name of programNames) {
    const names = made.flatMap((one) =>
      one && (name !== 'controller' || controllerSystems.includes(one.os)) ? [nameOf(one)] : [],
    );
    say(`programs of ${name} for ${names.join(', ')}`);
    const archives = ['scripts/build-archives.mjs', name, '--to', to, ...names];
    files.push(
      ...run('.', process.execPath, ...archives)
        .trim()
        .split('\n'),
    );
  }
  files.push(...takeArchives(flags.archives, to));
  for (const left of wanted.filter((one) => one && !made.includes(one))) {
    if (left && !files.some((file) => file.endsWith(`-${nameOf(left)}.tar.gz`))) {
      say(`${nameOf(left)}: no programs, they can be made on such a machine only`);
    }
  }
  return [...files, krewManifest(to, flags.repository)];
}

/** Takes the archives of this version, whatever else is there. */
function takeArchives(from: string | undefined, to: string): readonly string[] {
  if (from === undefined) return [];
  const archives = globSync(join(from, `*-v${version}-*.tar.gz`));
  if (archives.length === 0) throw new Error(`--archives: ${from} has none of version ${version}`);
  return archives.map((archive) => {
    copyFileSync(archive, join(to, basename(archive)));
    return join(to, basename(archive));
  });
}

function krewManifest(folder: string, repository: string): string {
  const home = `https://github.com/${repository}`;
  const script = ['apps/kubectl-taintmgr/scripts/print-manifest.mjs', '--archives', folder];
  const urls = ['--homepage', home, '--url', `${home}/releases/download/v{version}/{archive}`];
  const file = join(folder, 'taintmgr.yaml');
  writeFileSync(file, run('.', process.execPath, ...script, ...urls));
  return file;
}

/** The chart as `helm package` makes it: one folder by the name of the chart. */
async function makeChart(to: string, say: Say): Promise<readonly string[]> {
  if (!existsSync(chart)) return [];
  say('the chart');
  const file = join(to, `taintmgr-${version}.tgz`);
  await writeTarball(file, join(chart, '..'), [basename(chart)]);
  return [file];
}

/** Throws the files that one of two releases of the same sources lacks, or has with another checksum. */
export function compareReleases(first: readonly Artifact[], second: readonly Artifact[]): void {
  const sumsOf = (artifacts: readonly Artifact[]) =>
    new Map(artifacts.map(({ file, sha256 }) => [file, sha256]));
  const [one, other] = [sumsOf(first), sumsOf(second)];
  const different = [...new Map([...one, ...other]).keys()].flatMap((file) =>
    one.get(file) === other.get(file)
      ? []
      : [`${file}: sha256 is ${one.get(file) ?? 'none'}, then ${other.get(file) ?? 'none'}`],
  );
  if (different.length > 0) throw new Error(`--twice: built differently:\n${different.join('\n')}`);
}

// The tarballs that go to the npm registry.
const notices = 'THIRD-PARTY-NOTICES';

/** A package.json, with the fields that change here. */
type Manifest = Readonly<Record<string, unknown>>;

interface Packing {
  /** The folder of the package, built. */
  readonly folder: string;
  /** The folder of the tarball. */
  readonly to: string;
  /** `OWNER/NAME` on GitHub: npm compares the provenance with it. */
  readonly repository: string;
  /**
   * For a program, the bundled packages. All its dependencies are bundled, so an installation needs
   * no other package: its package.json names no dependencies, and the notices are included.
   */
  readonly bundled?: readonly BundledPackage[] | undefined;
}

/** Packs what `npm pack` would; gives the path of the tarball. */
export function packPackage({ folder, to, repository, bundled }: Packing): string {
  const stage = mkdtempSync(join(tmpdir(), 'taintmgr-package-'));
  try {
    const paths = pack(folder, '--dry-run').files.map(({ path }) => path);
    for (const path of paths) {
      mkdirSync(dirname(join(stage, path)), { recursive: true });
      cpSync(join(folder, path), join(stage, path));
    }
    const published = {
      ...publishedManifest(manifestIn(folder), bundled !== undefined),
      ...from(repository, folder),
    };
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
    if (bundled) writeFileSync(join(stage, notices), noticesOf(bundled));
    for (const path of bundled ? [...paths, notices] : paths) {
      chmodSync(join(stage, path), modeOf(statSync(join(stage, path)).mode));
    }
    return join(to, pack(stage, '--pack-destination', to).filename);
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/**
 * Leaves out the fields that only serve the repository, and for a program the bundled dependencies.
 */
function publishedManifest(manifest: Manifest, isProgram: boolean): Manifest {
  const { scripts, devDependencies, dependencies, files, exports, ...rest } = manifest;
  const shipped = Array.isArray(files) ? files : [];
  return isProgram
    ? { ...rest, files: [...shipped, notices] }
    : { ...rest, exports: withoutSources(exports), files: shipped, dependencies };
}

/** The doors of a package without the condition of their sources, which are not packed. */
function withoutSources(exports: unknown): unknown {
  const text = JSON.stringify(exports, (key, value) =>
    key === '@taintmgr/source' ? undefined : value,
  );
  return text === undefined ? undefined : JSON.parse(text);
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** With the folder, by which npm makes the links of its README. */
function from(repository: string, directory: string): Manifest {
  const home = `https://github.com/${repository}`;
  return {
    homepage: `${home}/tree/main/${directory}#readme`,
    bugs: `${home}/issues`,
    repository: { type: 'git', url: `git+${home}.git`, directory },
  };
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

function pack(folder: string, ...args: readonly string[]): Packed {
  const [packed] = JSON.parse(run(folder, 'npm', 'pack', '--json', '--ignore-scripts', ...args));
  return packed;
}
