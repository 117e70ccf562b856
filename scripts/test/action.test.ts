import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { githubParser } from './github-parser.ts';

// The action by GitHub's own parser, and what it runs, with the plugin of this clone.

const root = fileURLToPath(new URL('../..', import.meta.url));
const action = readFileSync(join(root, 'action/action.yml'), 'utf8');
const page = readFileSync(join(root, 'docs/integrations/github-action.md'), 'utf8');
const { inputs, runs } = parse(action);
const step = runs.steps.find(({ id }: { id?: string }) => id === 'check');
const [, workflow = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
const workflowFaults = await githubParser('parseWorkflow');
const actionFaults = await githubParser('parseAction');

interface Played {
  readonly code: number | null;
  readonly summary: string;
  readonly output: string;
  readonly printed: string;
}

/** Runs the step of the action as a runner does; `input` by the names of the action. */
function play(t: TestContext, input: Readonly<Record<string, string>>): Played {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-action-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [summary, output] = [join(folder, 'summary.md'), join(folder, 'output')];
  const given = Object.entries<string>(step.env).map(([name, expression]) => {
    const [, from = ''] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression) ?? assert.fail(name);
    return [name, input[from] ?? inputs[from].default] as const;
  });
  const plugin = join(root, 'apps/kubectl-taintmgr/bin/kubectl-taintmgr');
  const { status, stdout, stderr } = spawnSync('bash', ['-c', step.run], {
    cwd: root,
    encoding: 'utf8',
    env: {
      ...process.env,
      ...Object.fromEntries(given),
      GITHUB_ACTION_PATH: join(root, 'action'),
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_OUTPUT: output,
      KUBECONFIG: join(folder, 'none'),
      KUBECTL_TAINTMGR: `${process.execPath} ${plugin}`,
    },
  });
  const read = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  const printed = `${stdout}${stderr}`;
  return { code: status, summary: read(summary), output: read(output), printed };
}

const sarifIn = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-sarif-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'found.sarif');
};

describe('the action', () => {
  it('is one, says the parser of GitHub', () => {
    assert.deepEqual(actionFaults('action.yml', action), []);
    assert.notDeepEqual(actionFaults('action.yml', action.replace('steps:', 'stepz:')), []);
  });

  it('is used on its page as it can be', () => {
    assert.deepEqual(workflowFaults('page.yml', workflow), []);
    const steps: readonly { uses: string; with?: object }[] = parse(workflow).jobs.check.steps;
    const used = steps.find(({ uses }) => uses.includes('taintmgr/action@'));
    for (const name of Object.keys(used?.with ?? {})) assert.ok(name in inputs, name);
    for (const name of Object.keys(inputs)) assert.ok(page.includes(`| \`${name}\` |`), name);
  });

  it('hands each input to its script, and nothing into the script', () => {
    const taken = Object.values<string>(step.env).map((one) => /inputs\.([\w-]+)/.exec(one)?.[1]);
    assert.deepEqual(taken.sort(), Object.keys(inputs).sort());
    assert.doesNotMatch(step.run, /\$\{\{/);
  });

  it('fails for manifests that block evictions, with a table and SARIF', (t) => {
    const sarif = sarifIn(t);
    const manifests = '\n  docs/commands/examples/shop.yaml\n';
    const { code, summary, output, printed } = play(t, { manifests, sarif });
    assert.equal(code, 1);
    assert.match(summary, /^## Manifests\n\n```\nLEVEL +FILE +ABOUT/);
    assert.match(summary, /FAIL +docs\/commands\/examples\/shop\.yaml:26 +pdb\/web -n shop/);
    assert.match(
      printed,
      /^::error title=taintmgr::Manifests: 5 objects in 1 file: 3 errors, 1 warning$/m,
    );
    assert.equal(output, `sarif=${sarif}\n`);
    assert.equal(JSON.parse(readFileSync(sarif, 'utf8')).runs[0].results.length, 4);
  });

  it('takes nothing of a manifest for a command, or for the end of its block', (t) => {
    const sarif = sarifIn(t);
    const file = `${sarif}.yaml`;
    const metadata = { name: '``` ::error::pwned', namespace: '::add-mask::x' };
    const spec = { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } };
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec };
    writeFileSync(file, JSON.stringify(budget));
    const { summary, printed } = play(t, { manifests: file, sarif });
    assert.match(printed, /pwned/);
    assert.equal(summary.split('```').length, 3, summary);
    const [, stop = '', shown = ''] =
      /^::stop-commands::([0-9a-f]{32})\n([\s\S]*?)\n::\1::$/m.exec(printed) ?? [];
    assert.match(shown, /pwned/);
    const rest = printed.replace(shown, '');
    const commands = rest.split('\n').filter((line) => line.trimStart().startsWith('::'));
    assert.deepEqual(commands.slice(0, 2), [`::stop-commands::${stop}`, `::${stop}::`]);
    assert.ok(commands.slice(2).every((line) => line.startsWith('::error title=taintmgr::')));
  });

  it('cuts what is too long for a summary, and writes no line end of others into an annotation', (t) => {
    const sarif = sarifIn(t);
    const file = `${sarif}.yaml`;
    const spec = { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } };
    const budgets = Array.from({ length: 1_000 }, (_, index) => {
      const metadata = { name: `budget-${index}`, namespace: 'shop' };
      return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec };
    });
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: budgets }));
    const { summary, printed } = play(t, { manifests: file, sarif });
    assert.ok(summary.length < 160_000, String(summary.length));
    assert.match(
      summary,
      /\n\.\.\. cut after 150000 characters; the log of the step has all\n```\n/,
    );
    assert.match(printed, /budget-999/);
    const odd = play(t, { manifests: 'no/such%0A::error::file.yaml', sarif });
    assert.match(odd.printed, /^::error title=taintmgr::.*no\/such%250A::error/m);
  });

  it('is content with good manifests, and writes SARIF without results', (t) => {
    const sarif = sarifIn(t);
    const manifests = 'docs/policies/10-unreachable.yaml\ndocs/policies/20-spot.yaml';
    const { code, summary } = play(t, { manifests, sarif });
    assert.equal(code, 0, summary);
    assert.match(summary, /0 errors/);
    const { results } = JSON.parse(readFileSync(sarif, 'utf8')).runs[0];
    assert.ok(results.every(({ level }: { level: string }) => level !== 'error'));
  });

  it('says what it cannot read, and leaves no SARIF that is none', (t) => {
    const sarif = sarifIn(t);
    const { code, summary, output } = play(t, { manifests: 'no/such/file.yaml', sarif });
    assert.equal(code, 1);
    assert.match(summary, /error: -f no\/such\/file\.yaml: no such file or folder/);
    assert.equal(output, '');
    assert.throws(() => readFileSync(sarif));
  });

  it('makes the folder of SARIF, and fails where it cannot be written', (t) => {
    const file = sarifIn(t);
    const manifests = 'docs/policies/10-unreachable.yaml';
    const sarif = join(file, '..', 'reports', 'of -- this', 'found.sarif');
    const { code, output } = play(t, { manifests, sarif });
    assert.deepEqual([code, output], [0, `sarif=${sarif}\n`]);
    assert.equal(JSON.parse(readFileSync(sarif, 'utf8')).version, '2.1.0');
    // What is a file is no folder, and what is a folder is no file.
    for (const refused of [join(sarif, 'found.sarif'), join(sarif, '..')]) {
      const failed = play(t, { manifests, sarif: refused });
      assert.deepEqual([failed.code, failed.output], [1, '']);
      assert.ok(
        failed.printed.includes(`::error title=taintmgr::sarif: ${refused} cannot be written\n`),
        failed.printed,
      );
      assert.match(failed.summary, /^## Manifests/);
    }
  });

  it('plays an outage with policies, and fails where a limit is crossed', (t) => {
    const cluster = 'docs/scenarios/three-zones.yaml';
    const given = { cluster, script: 'docs/scenarios/zone-outage.yaml', until: '5m' };
    const fine = play(t, { ...given, 'fail-if': 'unavailable(shop/*) > 100%' });
    assert.equal(fine.code, 0, fine.printed);
    assert.match(fine.summary, /^## Simulation\n/);
    const crossed = play(t, {
      ...given,
      policies: 'docs/policies/10-unreachable.yaml',
      'fail-if': 'unavailable(shop/*) > 100%\nunavailable(shop/*) > 10%',
    });
    assert.equal(crossed.code, 1);
    assert.match(crossed.printed, /^::error title=taintmgr::Simulation: /m);
  });

  for (const [what, manifests] of [
    ['nothing', ''],
    ['blank lines', ' \n\n  \n'],
  ] as const) {
    it(`wants something to do, and gets ${what}`, (t) => {
      const { code, summary, printed } = play(t, { manifests });
      assert.deepEqual(
        [code, summary, printed],
        [1, '', '::error::taintmgr: want manifests to check, or a cluster to simulate\n'],
      );
    });
  }

  it('only simulates where the lines with manifests are blank', (t) => {
    const cluster = 'docs/scenarios/three-zones.yaml';
    const { code, summary } = play(t, { manifests: '\n', cluster, until: '1m' });
    assert.equal(code, 0, summary);
    assert.match(summary, /^## Simulation\n/);
  });
});
