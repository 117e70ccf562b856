import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { githubParser } from './github-parser.ts';

// The workflows of .github: by GitHub's own parser, and whether all that they run is there. Nobody runs
// them here.

const faultsOf = await githubParser('parseWorkflow');
const root = new URL('../../', import.meta.url);
/** An action at a commit, which nobody can put elsewhere; or a workflow of this repository. */
const ofACommit = /^([\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\S+)$/;
const workflows = new URL('.github/workflows/', root);
const scriptsOf = (folder: string): readonly string[] =>
  Object.keys(JSON.parse(readFileSync(new URL(`${folder}package.json`, root), 'utf8')).scripts);

interface Step {
  readonly run?: string;
}
interface Job {
  readonly permissions?: object;
  readonly environment?: string;
  readonly steps?: readonly Step[];
}

for (const file of readdirSync(workflows)) {
  const content = readFileSync(new URL(file, workflows), 'utf8');
  const { jobs, permissions } = parse(content);
  const steps = Object.values<Job>(jobs).flatMap((job) => job.steps ?? []);

  describe(file, () => {
    it('is a workflow, says the parser of GitHub', () => {
      assert.deepEqual(faultsOf(file, content), []);
    });

    it('installs what it needs, and runs scripts that there are', () => {
      const runs = steps.flatMap(({ run }) => run ?? []);
      assert.ok(runs.length > 0);
      for (const run of runs) {
        if (
          /^(npm install|npm rebuild|sudo apt-get (update|install)|helm lint) [-\w/ ]+(node@\$\{\{ matrix\.node \}\})?$/.test(
            run,
          )
        )
          continue;
        const [, script = '', folder = ''] =
          /^npm run -s ([\w:-]+)(?: -w (\S+))?(?: -- .*)?$/.exec(run) ?? assert.fail(run);
        assert.ok(scriptsOf(folder ? `${folder}/` : '').includes(script), run);
      }
    });

    it('installs without changing the lockfile: JSR takes nothing from a clone with changes', () => {
      const installs = steps.filter(({ run }) => run?.startsWith('npm install '));
      for (const { run } of installs) assert.match(run ?? '', / --no-save /);
    });

    it('gives no job a right that the job does not name', () => {
      assert.deepEqual(permissions, {});
      for (const [name, job] of Object.entries<Job>(jobs)) assert.ok(job.permissions, name);
    });

    it('names each action by the commit of a version', () => {
      const used = [...content.matchAll(/uses: (.*)/g)].map(([, uses = '']) => uses);
      assert.ok(used.length > 0);
      for (const uses of used) assert.match(uses, ofACommit);
    });
  });
}

it('a release begins for tags of versions, and for no others', () => {
  const { on } = parse(readFileSync(new URL('release.yml', workflows), 'utf8'));
  assert.equal(on.push.tags.length, 1);
  // As GitHub reads it: + is more of what is before it, * is anything but a slash.
  const pattern = on.push.tags[0].replaceAll('.', '\\.').replaceAll('*', '[^/]*');
  for (const [tag, isVersion] of [
    ['v0.1.0', true],
    ['v12.0.3-rc.1', true],
    ['v0', false],
    ['v0.1', false],
    ['vendor', false],
  ] as const) {
    assert.equal(new RegExp(`^${pattern}$`).test(tag), isVersion, tag);
  }
});

it('a release leaves nothing in the clone that git does not know', () => {
  const { jobs } = parse(readFileSync(new URL('release.yml', workflows), 'utf8'));
  const steps: readonly { uses?: string; with?: { path?: string } }[] = [
    ...jobs.build.steps,
    ...jobs.publish.steps,
  ];
  const downloads = steps.filter(({ uses }) => uses?.startsWith('actions/download-artifact@'));
  assert.ok(downloads.length > 1);
  const ignored = readFileSync(new URL('.gitignore', root), 'utf8');
  assert.match(ignored, /^\/release\/$/m);
  for (const step of downloads) {
    assert.match(step.with?.path ?? '', /^(\$\{\{ runner\.temp \}\}\/.+|release)$/);
  }
});

it('a release gives rights to one job, after an approval, which runs no scripts of packages', () => {
  const { jobs } = parse(readFileSync(new URL('release.yml', workflows), 'utf8'));
  const mayWrite = Object.entries<Job>(jobs).filter(([, { permissions = {} }]) =>
    Object.values(permissions).includes('write'),
  );
  assert.deepEqual(
    mayWrite.map(([name, { environment }]) => [name, environment]),
    [['publish', 'release']],
  );
  const runs = mayWrite.flatMap(([, { steps = [] }]) => steps.flatMap(({ run }) => run ?? []));
  assert.deepEqual(
    runs.map((run) => run.replace(/(--publish) .*/, '$1')),
    [
      'npm install --no-save --ignore-scripts --no-audit --no-fund',
      'npm rebuild node',
      'npm run -s release -- --publish',
      'npm run -s release -- --publish',
    ],
  );
});

it('docs/releases.md builds again what the workflow builds, and expects its signature', () => {
  const page = readFileSync(new URL('docs/releases.md', root), 'utf8');
  const { jobs } = parse(readFileSync(new URL('release.yml', workflows), 'utf8'));
  const runs = jobs.build.steps.flatMap(({ run }: Step) => run ?? []);
  for (const run of runs) {
    assert.ok(page.includes(`\n${run.replace(/ --twice.*/, '')}\n`), run);
  }
  const identities = [...page.matchAll(/--certificate-identity (\S+)/g)].map(([, one]) => one);
  const repository = 'https://github.com/taintmgr/taintmgr';
  assert.deepEqual(
    [...new Set(identities)],
    [`${repository}/.github/workflows/release.yml@refs/tags/vVERSION`],
  );
});

it('the action for pull requests names its own actions by their commits', () => {
  const action = readFileSync(new URL('action/action.yml', root), 'utf8');
  const used = [...action.matchAll(/uses: (.*)/g)].map(([, uses = '']) => uses);
  assert.ok(used.length > 0);
  for (const uses of used) assert.match(uses, ofACommit);
});

it('a workflow that is none is found out', () => {
  const content = 'on: push\njobs:\n  a:\n    runs-on: x\n    stepz: []\n';
  assert.match(faultsOf('a.yml', content).join('\n'), /stepz/);
});
