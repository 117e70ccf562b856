// Publishing, with programs on the PATH that stand in for those of the registries: nothing leaves the machine.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { artifactOf, writeChecksums } from '../../release/artifacts.ts';
import {
  askRegistries,
  publish,
  type Release,
  releasePlan,
  type Step,
  type Target,
} from '../../release/publish.ts';

const names = [
  'core',
  'sim-cluster',
  'api-server',
  'k8s-adapter',
  'controller',
  'kubectl-taintmgr',
];

/** What the programs answer: by the beginning of their command line, what they print, or that they fail. */
type Answers = Readonly<Record<string, string | 'fails'>>;

/** A release in a folder, and the world that it goes to. */
class World {
  readonly folder: string;
  readonly release: Release;
  readonly plan: readonly Step[];
  printed = '';

  constructor(t: TestContext, version = '0.1.0', more: readonly string[] = ['taintmgr.yaml']) {
    this.folder = mkdtempSync(join(tmpdir(), 'taintmgr-publish-'));
    const files = [...names.map((name) => `taintmgr-${name}-${version}.tgz`), ...more];
    for (const file of files) writeFileSync(join(this.folder, file), file);
    writeChecksums(
      this.folder,
      files.map((file) => artifactOf(join(this.folder, file))),
    );
    const digest = `sha256:${'0'.repeat(64)}`;
    writeFileSync(
      join(this.folder, 'NOTES.md'),
      `Changes.\n\n    ghcr.io/taintmgr/taintmgr-controller:${version}@${digest}\n`,
    );
    this.release = { version, repository: 'taintmgr/taintmgr', folder: this.folder, files };
    this.plan = releasePlan(this.release);
    const path = process.env.PATH;
    process.env.PATH = `${this.folder}${delimiter}${path}`;
    t.after(() => {
      process.env.PATH = path;
      rmSync(this.folder, { recursive: true });
    });
    this.answer({});
  }

  /**
   * From now on the programs answer so, docker in its metadata; of all else they print nothing, and
   * succeed.
   */
  answer(answers: Answers): void {
    for (const program of ['npm', 'gh', 'git', 'sh', 'docker', 'cosign', 'helm']) {
      const to = program === 'docker' ? ` >'${this.folder}/image.json'` : '';
      const cases = Object.entries(answers).flatMap(([begin, text]) =>
        begin.startsWith(`${program} `)
          ? [`"${begin}"*) ${text === 'fails' ? 'exit 1' : `echo '${text}'${to}`} ;;`]
          : [],
      );
      const lines = [
        '#!/bin/sh',
        `echo "${program} $*" >>'${join(this.folder, 'calls')}'`,
        `case "${program} $*" in`,
        ...[...cases, '*) ;;', 'esac', ''],
      ];
      writeFileSync(join(this.folder, program), lines.join('\n'));
      chmodSync(join(this.folder, program), 0o755);
    }
    writeFileSync(join(this.folder, 'calls'), '');
  }

  publish(...wanted: readonly Target[]): void {
    publish(this.release, this.plan, wanted, (text) => this.#print(text));
  }

  ask(isClean = false): boolean {
    return askRegistries(this.plan, isClean, (text) => this.#print(text));
  }

  /** The calls of `program`, without the folder. */
  calls(program: string): readonly string[] {
    return readFileSync(join(this.folder, 'calls'), 'utf8')
      .replaceAll(this.folder, '.')
      .split('\n')
      .filter((call) => call.startsWith(`${program} `));
  }

  /** What has published something, each by its first words. */
  get published(): readonly string[] {
    return readFileSync(join(this.folder, 'calls'), 'utf8')
      .split('\n')
      .filter((call) => /^(npm publish|npm run|gh release create|sh) /.test(call))
      .map((call) => call.replace(`${this.folder}/`, '').split(' ').slice(0, 3).join(' '));
  }

  integrity(name: string): string {
    const tarball = join(this.folder, `taintmgr-${name}-${this.release.version}.tgz`);
    return `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  }

  #print(text: string): void {
    this.printed += `${text}\n`;
  }
}

describe('--publish', () => {
  it('publishes nothing from a clone with files that git does not know', (t) => {
    const world = new World(t);
    world.answer({ 'git status --porcelain': '?? mac/' });
    assert.throws(() => world.publish('npm', 'jsr'), {
      message: 'not everything is committed, and JSR and the image are made of the clone: ?? mac/',
    });
    assert.deepEqual(world.published, []);
    world.publish('github');
    assert.deepEqual(world.published, ['gh release create']);
  });

  it('goes on where it stopped', (t) => {
    const world = new World(t);
    world.answer({ 'npm run': 'fails', 'npm view': 'fails' });
    assert.throws(
      () => world.publish('npm', 'jsr', 'github'),
      /^Error: npm run -s jsr -- publish: /,
    );
    assert.equal(world.published.length, names.length + 1);
    const views = names.map((name) => [`npm view @taintmgr/${name}@0.1.0`, world.integrity(name)]);
    world.answer(Object.fromEntries(views));
    world.publish('npm', 'jsr', 'github');
    assert.deepEqual(world.published, ['npm run -s', 'gh release create']);
    assert.match(world.printed, /\/@taintmgr\/core\n {2}is there already\n/);
  });

  it('publishes the packages that are missing only', (t) => {
    const world = new World(t);
    world.answer({ 'npm view @taintmgr/core@0.1.0': world.integrity('core') });
    world.publish('npm');
    const missing = names.slice(1).map((name) => `npm publish taintmgr-${name}-0.1.0.tgz`);
    assert.deepEqual(world.published, missing);
  });

  for (const [where, answers] of [
    [
      'https://www.npmjs.com/package/@taintmgr/controller',
      { 'npm view @taintmgr/controller@': 'sha512-AAAA' },
    ],
    [
      'https://github.com/taintmgr/taintmgr/releases/tag/v0.1.0',
      { 'gh release download': 'abc  a.tgz' },
    ],
  ] as const) {
    it(`publishes nothing where there is another 0.1.0: ${where}`, (t) => {
      const world = new World(t);
      world.answer(answers);
      assert.throws(() => world.publish('npm', 'github'), {
        message: `${where} has another 0.1.0 already: docs/releases.md says how to go on`,
      });
      assert.deepEqual(world.published, []);
    });
  }

  it('passes over a release on GitHub with the same checksums', (t) => {
    const world = new World(t);
    const sums = readFileSync(join(world.folder, 'SHA256SUMS'), 'utf8');
    world.answer({ 'gh release download v0.1.0 --pattern SHA256SUMS': sums });
    world.publish('github');
    assert.deepEqual(world.published, []);
  });

  for (const [target, version, isRefused] of [
    ['krew', '0.1.0', true],
    ['chart', '0.1.0', true],
    ['krew', '1.0.0-rc.1', false],
    ['chart', '1.0.0-rc.1', true],
  ] as const) {
    it(`${isRefused ? 'is refused' : 'is nothing'} for ${target} of ${version} where nothing was made for it`, (t) => {
      const world = new World(t, version, []);
      const publishing = () => world.publish('npm', target);
      if (isRefused) {
        assert.throws(publishing, {
          message: `--publish ${target}: ${world.folder} has nothing for it`,
        });
        assert.deepEqual(world.published, []);
      } else {
        publishing();
        assert.match(world.printed, /^krew: nothing, since 1\.0\.0-rc\.1 is not final$/m);
      }
    });
  }
});

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const image = 'ghcr.io/taintmgr/taintmgr-controller:0.1.0';
const chart = 'ghcr.io/taintmgr/charts/taintmgr:0.1.0';
const pushes = {
  'docker buildx': `{"containerimage.digest": "${digestOf('a')}"}`,
  'helm push': `Pushed: ${chart}\nDigest: ${digestOf('b')}`,
};

describe('the image and the chart', () => {
  it('are signed by the digests that were pushed, and named so by the release', (t) => {
    const world = new World(t, '0.1.0', ['taintmgr-0.1.0.tgz']);
    writeFileSync(join(world.folder, 'NOTES.md'), 'Changes.\n');
    world.answer(pushes);
    world.publish('image', 'chart', 'github');
    assert.deepEqual(world.calls('cosign'), [
      `cosign sign --yes --recursive ${image}@${digestOf('a')}`,
      `cosign sign --yes ${chart}@${digestOf('b')}`,
      'cosign sign-blob --yes --bundle ./SHA256SUMS.sigstore.json ./SHA256SUMS',
    ]);
    assert.match(world.calls('gh').at(-1) ?? '', / --notes-file \.\/NOTES\.md /);
    assert.equal(
      readFileSync(join(world.folder, 'NOTES.md'), 'utf8'),
      'Changes.\n\nThe image and the chart, by digest:\n\n' +
        `    ${image}@${digestOf('a')}\n    ${chart}@${digestOf('b')}\n`,
    );
  });

  it('are pushed before the release names them, by this run or an earlier one', (t) => {
    const world = new World(t, '0.1.0', ['taintmgr-0.1.0.tgz']);
    writeFileSync(join(world.folder, 'NOTES.md'), 'Changes.\n');
    assert.throws(() => world.publish('npm', 'github'), {
      message: `${world.folder}/NOTES.md has no digest of ${image}: --publish image,chart pushes both`,
    });
    assert.deepEqual(world.published, []);
    world.answer(pushes);
    world.publish('image', 'chart');
    world.publish('github');
    assert.deepEqual(world.published, ['gh release create']);
  });

  for (const [program, answer, got] of [
    ['docker buildx', '{}', 'undefined'],
    ['docker buildx', '{"containerimage.digest": "sha256:1"}', 'sha256:1'],
    ['helm push', 'Pushed', 'undefined'],
  ] as const) {
    it(`are not signed where ${program} answers ${answer}`, (t) => {
      const world = new World(t, '0.1.0', ['taintmgr-0.1.0.tgz']);
      world.answer({ [program]: answer });
      const [target, name] = program === 'helm push' ? ['chart', chart] : ['image', image];
      assert.throws(() => world.publish(target === 'chart' ? 'chart' : 'image'), {
        message: `${name} was pushed, and its digest is not known: got "${got}"`,
      });
      assert.deepEqual(world.calls('cosign'), []);
    });
  }
});

describe('a dry run', () => {
  it('asks npm and JSR, and publishes nothing', (t) => {
    const world = new World(t);
    assert.equal(world.ask(true), true);
    const calls = readFileSync(join(world.folder, 'calls'), 'utf8');
    assert.match(calls, /^npm run -s jsr -- publish --dry-run$/m);
    for (const call of calls.match(/^npm publish .*$/gm) ?? []) assert.match(call, / --dry-run$/);
    assert.doesNotMatch(calls, /^(gh|docker|helm|cosign) /m);
  });

  it('warns of files that are not committed, and fails for them in CI', (t) => {
    const world = new World(t);
    world.answer({ 'git status --porcelain': ' M README.md' });
    assert.equal(world.ask(), true);
    assert.match(world.printed, /^Warning: not everything is committed, .*: M README\.md$/m);
    const calls = readFileSync(join(world.folder, 'calls'), 'utf8');
    assert.match(calls, /^npm run -s jsr -- publish --dry-run --allow-dirty$/m);
    assert.equal(world.ask(true), false);
  });

  it('is content with what is published already, also by the last release', (t) => {
    const world = new World(t);
    world.answer({
      'npm view @taintmgr/core@0.1.0': world.integrity('core'),
      'npm view @taintmgr/controller@0.1.0': 'sha512-AAAA',
      ...{ 'npm publish': 'fails', 'npm view': 'sha512-BBBB' },
    });
    assert.equal(world.ask(), true);
    assert.match(world.printed, /taintmgr-core-.*\n {4}npm has it already\n/);
    assert.match(
      world.printed,
      /taintmgr-controller-.*\n {4}npm has another of this version already\n/,
    );
  });

  for (const command of ['npm publish', 'npm run']) {
    it(`fails where ${command} would`, (t) => {
      const world = new World(t);
      world.answer({ [command]: 'fails' });
      assert.equal(world.ask(), false);
    });
  }
});

describe('the plan of a release', () => {
  const tarballs = [
    'core',
    'sim-cluster',
    'api-server',
    'k8s-adapter',
    'controller',
    'kubectl-taintmgr',
  ];
  const planOf = (version: string, ...more: readonly string[]) => {
    const files = [...tarballs.map((name) => `taintmgr-${name}-${version}.tgz`), ...more];
    return releasePlan({ version, repository: 'taintmgr/taintmgr', folder: './release', files });
  };

  it('is what docs/releases.md shows', () => {
    const plan = planOf('0.1.0', 'taintmgr-0.1.0.tgz', 'taintmgr.yaml');
    const shown = plan.map(({ to, command }) => `${to}\n  ${command.join(' ')}\n`).join('');
    const page = readFileSync(new URL('../../../docs/releases.md', import.meta.url), 'utf8');
    assert.ok(page.includes(`\`\`\`\n${shown}\`\`\`\n`), shown);
  });

  it('gives nobody what is not final who does not ask for it', () => {
    const plan = planOf('1.0.0-rc.1', 'taintmgr.yaml');
    const npm = plan.filter(({ target }) => target === 'npm');
    assert.ok(npm.length > 0);
    for (const { command } of npm) assert.match(command.join(' '), / --tag next$/);
    assert.deepEqual(
      plan.filter(({ target }) => target === 'krew'),
      [],
    );
  });

  it('is none where a package is missing', () => {
    assert.throws(
      () => releasePlan({ version: '0.1.0', repository: 'a/b', folder: './release', files: [] }),
      { message: './release has no taintmgr-core-0.1.0.tgz' },
    );
  });
});
