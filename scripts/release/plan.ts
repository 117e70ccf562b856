// Where each part of a release goes, as commands: the dry run prints them, the workflow runs them.
export const targets = ['npm', 'jsr', 'image', 'chart', 'github', 'krew'] as const;
export type Target = (typeof targets)[number];

export interface Release {
  readonly version: string;
  /** `OWNER/NAME` on GitHub. */
  readonly repository: string;
  /** The folder with what was made: a path that begins with `./` or `/`. */
  readonly folder: string;
  /** The files in it. */
  readonly files: readonly string[];
}

/** A program and its arguments; run in the root of the repository. */
export type CommandLine = readonly [string, ...string[]];

/** A command of the plan. */
export interface Step {
  readonly target: Target;
  /** Where it goes, for people. */
  readonly to: string;
  readonly command: CommandLine;
  /** How to see whether it was done before, where that can be seen. */
  readonly already?: Already;
}

/** A question to the place that a step goes to. */
interface Already {
  /** Prints what is there of this version; nothing, or a failure, where nothing is. */
  readonly command: CommandLine;
  /** What has to be there. */
  readonly file: string;
  /** What the command prints of the file: `sha512-BASE64`, or all of it. */
  readonly prints: 'integrity' | 'text';
}

const platforms = 'linux/amd64,linux/arm64';

/** All commands, in the order in which they run. */
export function releasePlan(release: Release): readonly Step[] {
  return [
    ...npmSteps(release),
    jsrStep(release),
    ...imageSteps(release),
    ...chartSteps(release),
    ...githubSteps(release),
    ...krewSteps(release),
  ];
}

/** `next` for what is not final: nobody gets it who does not ask for it. */
function distTag(version: string): string {
  return version.includes('-') ? 'next' : 'latest';
}

/** What others depend on first, so that nobody finds a package whose dependencies are missing. */
const packageOrder = ['core', 'sim-cluster', 'k8s-adapter', 'controller', 'kubectl-taintmgr'];

function npmSteps({ version, folder, files }: Release): readonly Step[] {
  return packageOrder.map((name) => {
    const tarball = `taintmgr-${name}-${version}.tgz`;
    if (!files.includes(tarball)) throw new Error(`${folder} has no ${tarball}`);
    const file = `${folder}/${tarball}`;
    const flags = ['--provenance', '--access', 'public', '--tag', distTag(version)];
    const view = ['view', `@taintmgr/${name}@${version}`, 'dist.integrity'];
    return {
      target: 'npm',
      to: `https://www.npmjs.com/package/@taintmgr/${name}`,
      command: ['npm', 'publish', file, ...flags],
      already: { command: ['npm', ...view], file, prints: 'integrity' },
    };
  });
}

function jsrStep({ version }: Release): Step {
  return {
    target: 'jsr',
    to: `https://jsr.io/@taintmgr/core@${version}`,
    command: ['npm', 'run', '-s', 'jsr', '--', 'publish'],
  };
}

function imageSteps({ version, repository }: Release): readonly Step[] {
  const image = `ghcr.io/${ownerOf(repository)}/taintmgr-controller:${version}`;
  const build = ['buildx', 'build', '--platform', platforms, '--file', 'deploy/Dockerfile'];
  // Docker takes their values, with the digests, from the environment.
  const bases = ['--build-arg', 'NODE_IMAGE', '--build-arg', 'BASE_IMAGE'];
  const attested = ['--provenance=mode=max', '--sbom=true', '--tag', image, '--push', '.'];
  return [
    { target: 'image', to: image, command: ['docker', ...build, ...bases, ...attested] },
    { target: 'image', to: image, command: ['cosign', 'sign', '--yes', '--recursive', image] },
  ];
}

function chartSteps({ repository, folder, version, files }: Release): readonly Step[] {
  const chart = `taintmgr-${version}.tgz`;
  if (!files.includes(chart)) return [];
  const registry = `oci://ghcr.io/${ownerOf(repository)}/charts`;
  return [
    { target: 'chart', to: registry, command: ['helm', 'push', `${folder}/${chart}`, registry] },
    {
      target: 'chart',
      to: registry,
      command: [
        'cosign',
        'sign',
        '--yes',
        `${registry.slice('oci://'.length)}/taintmgr:${version}`,
      ],
    },
  ];
}

/** One signature is enough: of the list that has the checksums of all others. */
function githubSteps({ version, repository, folder, files }: Release): readonly Step[] {
  const to = `https://github.com/${repository}/releases/tag/v${version}`;
  const list = `${folder}/SHA256SUMS`;
  const bundle = `${list}.sigstore.json`;
  const create = ['release', 'create', `v${version}`, '--verify-tag', '--generate-notes'];
  const download = ['release', 'download', `v${version}`, '--pattern', 'SHA256SUMS'];
  const paths = [...files.map((file) => `${folder}/${file}`), list, bundle];
  return [
    { target: 'github', to, command: ['cosign', 'sign-blob', '--yes', '--bundle', bundle, list] },
    {
      target: 'github',
      to,
      command: [
        'gh',
        ...create,
        ...(distTag(version) === 'next' ? ['--prerelease'] : []),
        ...paths,
      ],
      already: { command: ['gh', ...download, '--output', '-'], file: list, prints: 'text' },
    },
  ];
}

/** Its index takes a change by pull request only, from a fork, which somebody of krew looks at. */
function krewSteps({ folder, files, version }: Release): readonly Step[] {
  if (!files.includes('taintmgr.yaml') || distTag(version) === 'next') return [];
  return [
    {
      target: 'krew',
      to: 'https://github.com/kubernetes-sigs/krew-index',
      command: ['sh', 'scripts/release/krew-pull-request.sh', `${folder}/taintmgr.yaml`, version],
    },
  ];
}

function ownerOf(repository: string): string {
  return (repository.split('/')[0] ?? '').toLowerCase();
}
