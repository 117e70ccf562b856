// Runs the plan of a release, or asks whether it would succeed. Artifacts that an interrupted
// release has already published are not published again.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { run } from './run.ts';

type Print = (text: string) => void;
/** The state of this version at the target of a step. */
type Presence = 'nothing' | 'this' | 'another';

/**
 * Publishes to `wanted`. Throws before the first step if a part cannot be published, and when a
 * step fails; a second run continues from there.
 */
export function publish(
  { version, folder }: Release,
  plan: readonly Step[],
  wanted: readonly Target[],
  print: Print,
): void {
  const steps = plan.filter(({ target }) => wanted.includes(target));
  for (const target of wanted.filter((one) => !steps.some((step) => step.target === one))) {
    if (target !== 'krew' || !version.includes('-')) {
      throw new Error(`--publish ${target}: ${folder} has nothing for it`);
    }
    print(`krew: nothing, since ${version} is not final`);
  }
  // All others publish files that are as their checksums say.
  const readsClone = wanted.includes('jsr') || wanted.includes('image');
  const dirty = readsClone ? uncommittedFiles() : [];
  if (dirty.length > 0) throw new Error(dirtyText(dirty));
  const asked = steps.map((step) => ({ step, presence: presenceOf(step) }));
  const other = asked.find(({ presence }) => presence === 'another');
  if (other)
    throw new Error(
      `${other.step.to} has another ${version} already: docs/releases.md says how to go on`,
    );
  const notes = `${folder}/${notesFile}`;
  if (asked.some(({ step, presence }) => presence === 'nothing' && step.command.includes(notes))) {
    const earlier = plan.filter(({ target }) => !wanted.includes(target));
    for (const { pushes } of earlier) if (pushes) withDigest(`${pushes.name}@DIGEST`, folder);
  }
  for (const { step, presence } of asked) {
    if (presence === 'this') print(`${step.to}\n  is there already`);
    else execute(step, folder, print);
  }
}

function execute({ to, command: planned, pushes }: Step, folder: string, print: Print): void {
  const command = planned.map((word) => withDigest(word, folder));
  print(`${to}\n  ${command.join(' ')}`);
  const [program = '', ...args] = command;
  const isRead = pushes?.digestIn === 'output';
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    stdio: isRead ? 'pipe' : 'inherit',
    encoding: 'utf8',
  });
  const output = isRead ? `${stdout}${stderr}` : '';
  process.stderr.write(output);
  if (status !== 0) throw new Error(`${command.join(' ')}: ${error?.message ?? `exit ${status}`}`);
  if (pushes) keepDigest(pushes, output, folder);
}

/** Adds a digest to the notes of the release. Throws if the command that pushed did not say the digest. */
function keepDigest({ name, digestIn }: Push, output: string, folder: string): void {
  const digest =
    digestIn === 'output'
      ? /^Digest: (\S+)$/m.exec(output)?.[1]
      : JSON.parse(readFileSync(digestIn, 'utf8'))['containerimage.digest'];
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw new Error(`${name} was pushed, and its digest is not known: got "${digest}"`);
  }
  const [notes = ''] = readNotes(folder).split(digestsTitle);
  const digests = [...digestsIn(folder).set(name, digest)];
  const lines = digests.map(([name, digest]) => `    ${name}@${digest}\n`);
  writeFileSync(`${folder}/${notesFile}`, `${notes}${digestsTitle}${lines.join('')}`);
}

/** `NAME@DIGEST` with the digest of what was pushed by that name; other words as they are. */
function withDigest(word: string, folder: string): string {
  const [, name] = /^(.+)@DIGEST$/.exec(word) ?? [];
  if (name === undefined) return word;
  const digest = digestsIn(folder).get(name);
  if (digest) return `${name}@${digest}`;
  throw new Error(
    `${folder}/${notesFile} has no digest of ${name}: --publish image,chart pushes both`,
  );
}

function digestsIn(folder: string): Map<string, string> {
  const lines = readNotes(folder).matchAll(/^ {4}(\S+)@(sha256:\S+)$/gm);
  return new Map(Array.from(lines, ([, name = '', digest = '']) => [name, digest]));
}

function readNotes(folder: string): string {
  return readFileSync(`${folder}/${notesFile}`, 'utf8');
}

const digestsTitle = '\nThe image and the chart, by digest:\n\n';

/**
 * Prints the plan, and whether npm and JSR would take their parts. False where one would not; where
 * `isClean` is wanted, as in CI, also where files are not committed, which stops JSR.
 */
export function askRegistries(plan: readonly Step[], isClean: boolean, print: Print): boolean {
  const dirty = uncommittedFiles();
  print('What would be published where:');
  const answers = plan.map((step) => {
    print(`\n  ${step.to}\n    ${step.command.join(' ')}`);
    return step.target === 'npm' || step.target === 'jsr'
      ? isTaken(step, dirty.length > 0, print)
      : true;
  });
  if (dirty.length > 0) print(`\n${isClean ? 'error' : 'Warning'}: ${dirtyText(dirty)}`);
  return answers.every((one) => one) && !(isClean && dirty.length > 0);
}

function isTaken(step: Step, isDirty: boolean, print: Print): boolean {
  const presence = presenceOf(step);
  if (presence !== 'nothing') {
    // Between two releases the packages have the version of the last one.
    print(
      `    ${step.target} has ${presence === 'this' ? 'it' : 'another of this version'} already`,
    );
    return true;
  }
  const [program, ...args] = step.command.filter((word) => word !== '--provenance');
  const allowed = step.target === 'jsr' && isDirty ? ['--allow-dirty'] : [];
  const { status, stderr, error } = spawnSync(program ?? '', [...args, '--dry-run', ...allowed], {
    encoding: 'utf8',
    env: { ...process.env, npm_config_loglevel: 'error' },
  });
  const isWilling = status === 0;
  const fault = error?.message ?? stderr;
  print(`    ${step.target} would ${isWilling ? 'take it' : `refuse it: ${fault}`}`);
  return isWilling;
}

/** A command that fails has found nothing; where it failed for another reason, publishing fails as well. */
function presenceOf({ already }: Step): Presence {
  if (!already) return 'nothing';
  const found = output(already.command);
  if (found === '') return 'nothing';
  const content = readFileSync(already.file);
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const wanted = already.prints === 'integrity' ? integrity : content.toString().trim();
  return found === wanted ? 'this' : 'another';
}

function output([program, ...args]: CommandLine): string {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

/** The files that git lists as changed or new, such as `?? mac/`. */
function uncommittedFiles(): readonly string[] {
  const listed = run('.', 'git', 'status', '--porcelain').trimEnd();
  return listed === '' ? [] : listed.split('\n');
}

function dirtyText(files: readonly string[]): string {
  const [first = '', ...others] = files;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  return `not everything is committed, and JSR and the image are made of the clone: ${first.trim()}${more}`;
}

// The targets of a release, as commands: the dry run prints them, the workflow runs them.
export const targets = ['npm', 'jsr', 'image', 'chart', 'github', 'krew'] as const;
export type Target = (typeof targets)[number];

export interface Release {
  readonly version: string;
  /** `OWNER/NAME` on GitHub. */
  readonly repository: string;
  /** The folder of the release: a path that begins with `./` or `/`. */
  readonly folder: string;
  /** The files in it. */
  readonly files: readonly string[];
}

/** A program and its arguments; run in the root of the repository. */
type CommandLine = readonly [string, ...string[]];

/** A command of the plan. */
export interface Step {
  readonly target: Target;
  /** The target, for people. */
  readonly to: string;
  readonly command: CommandLine;
  /** Checks whether the step was done before, where that can be seen. */
  readonly already?: Already;
  /** The tag that the command pushes. Later commands name the result as `NAME@DIGEST`. */
  readonly pushes?: Push;
}

/** Signatures are of digests: a tag may have moved before it is signed. */
interface Push {
  readonly name: string;
  /** The output of the command has `Digest: sha256:...`, or the metadata of buildx are in this file. */
  readonly digestIn: 'output' | `${string}.json`;
}

/** A question to the place that a step goes to. */
interface Already {
  /** Prints the published state of this version; nothing, or a failure, if there is none. */
  readonly command: CommandLine;
  /** The file that must exist. */
  readonly file: string;
  /** The output of the command: `sha512-BASE64` of the file, or the whole file. */
  readonly prints: 'integrity' | 'text';
}

/** The text of the page on GitHub: made with the files, and no file of the release itself. */
export const notesFile = 'NOTES.md';

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

/** `next` for prereleases: only those who ask for one get it. */
function distTag(version: string): string {
  return version.includes('-') ? 'next' : 'latest';
}

/** Dependencies first, so that no published package lacks its dependencies. */
const packageOrder = [
  'core',
  'sim-cluster',
  'api-server',
  'k8s-adapter',
  'controller',
  'kubectl-taintmgr',
];

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

function imageSteps({ version, repository, folder }: Release): readonly Step[] {
  const name = `ghcr.io/${ownerOf(repository)}/taintmgr-controller:${version}`;
  const digestIn = `${folder}/image.json` as const;
  const build = ['buildx', 'build', '--platform', platforms, '--file', 'deploy/Dockerfile'];
  // Docker takes their values, with the digests, from the environment.
  const bases = ['--build-arg', 'NODE_IMAGE', '--build-arg', 'BASE_IMAGE'];
  const attested = ['--provenance=mode=max', '--sbom=true', '--metadata-file', digestIn];
  const push = ['docker', ...build, ...bases, ...attested, '--tag', name, '--push', '.'] as const;
  const sign = ['cosign', 'sign', '--yes', '--recursive', `${name}@DIGEST`] as const;
  return [
    { target: 'image', to: name, command: push, pushes: { name, digestIn } },
    { target: 'image', to: name, command: sign },
  ];
}

function chartSteps({ repository, folder, version, files }: Release): readonly Step[] {
  const chart = `taintmgr-${version}.tgz`;
  if (!files.includes(chart)) return [];
  const charts = `ghcr.io/${ownerOf(repository)}/charts`;
  const name = `${charts}/taintmgr:${version}`;
  const push = ['helm', 'push', `${folder}/${chart}`, `oci://${charts}`] as const;
  const sign = ['cosign', 'sign', '--yes', `${name}@DIGEST`] as const;
  return [
    { target: 'chart', to: name, command: push, pushes: { name, digestIn: 'output' } },
    { target: 'chart', to: name, command: sign },
  ];
}

/** One signature is enough: of the list with the checksums of all other files. */
function githubSteps({ version, repository, folder, files }: Release): readonly Step[] {
  const to = `https://github.com/${repository}/releases/tag/v${version}`;
  const list = `${folder}/SHA256SUMS`;
  const bundle = `${list}.sigstore.json`;
  const notes = ['--notes-file', `${folder}/${notesFile}`];
  const create = ['release', 'create', `v${version}`, '--verify-tag', ...notes];
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

/**
 * The krew index takes changes only by pull request from a fork, which a krew maintainer reviews.
 */
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
