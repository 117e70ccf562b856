import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { githubParser } from './github-parser.ts';

// The workflows of .github: by GitHub's own parser, and whether all that they run is there. Nobody runs
// them here.

const faultsOf = await githubParser('parseWorkflow');
const root = new URL('../../', import.meta.url);
const workflows = new URL('.github/workflows/', root);
const scriptsOf = (folder: string): readonly string[] =>
  Object.keys(JSON.parse(readFileSync(new URL(`${folder}package.json`, root), 'utf8')).scripts);

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly permissions?: object;
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
        if (/^(npm install|sudo apt-get (update|install)) [-\w ]+$/.test(run)) continue;
        const [, script = '', folder = ''] =
          /^npm run -s ([\w:-]+)(?: -w (\S+))?(?: -- .*)?$/.exec(run) ?? assert.fail(run);
        assert.ok(scriptsOf(folder ? `${folder}/` : '').includes(script), run);
      }
    });

    it('gives no job a right that the job does not name', () => {
      assert.deepEqual(permissions, {});
      for (const [name, job] of Object.entries<Job>(jobs)) assert.ok(job.permissions, name);
    });

    it('names each action with a version, or with the commit of one', () => {
      for (const uses of steps.flatMap((step) => step.uses ?? [])) {
        assert.match(uses, /^[\w-]+\/[\w/-]+@(v\d+|[0-9a-f]{40})$/);
        if (!/@v\d+$/.test(uses))
          assert.match(content, new RegExp(`${uses} # v\\d+\\.\\d+\\.\\d+\n`));
      }
    });
  });
}

it('a workflow that is none is found out', () => {
  const content = 'on: push\njobs:\n  a:\n    runs-on: x\n    stepz: []\n';
  assert.match(faultsOf('a.yml', content).join('\n'), /stepz/);
});
