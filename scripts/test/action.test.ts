// The action by GitHub's own parser, and what it runs, with the plugin of this clone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { githubParser } from './github-parser.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const action = readFileSync(join(root, 'action/action.yml'), 'utf8');
const page = readFileSync(join(root, 'docs/integrations/github-action.md'), 'utf8');
const plugin = join(root, 'apps/kubectl-taintmgr/bin/kubectl-taintmgr');
const example = join(root, 'examples/gitops');
const exampleWorkflow = readFileSync(join(example, '.github/workflows/evictions.yml'), 'utf8');
const { inputs, runs } = parse(action);
const step = runs.steps.find(({ id }: { id?: string }) => id === 'check');
const workflowFaults = await githubParser('parseWorkflow');
const actionFaults = await githubParser('parseAction');

type Inputs = Readonly<Record<string, string>>;

/** The inputs that a workflow gives the action. */
function inputsOf(workflow: string): Inputs {
  const steps: readonly { uses: string; with?: Inputs }[] = parse(workflow).jobs.check.steps;
  return steps.find(({ uses }) => uses.includes('taintmgr/action@'))?.with ?? assert.fail();
}

interface Played {
  readonly code: number | null;
  readonly summary: string;
  readonly output: Readonly<Record<'sarif' | 'report', string>>;
  readonly printed: string;
  /** The annotations at lines of the change, and those above all lines. */
  readonly annotations: readonly string[];
}

/** A folder of its own for each run. */
function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-action-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs the step of the action as a runner does; `input` by the names of the action. */
function play(
  t: TestContext,
  input: Inputs,
  cwd = root,
  program: string | null = `${process.execPath} ${plugin}`,
): Played {
  const folder = folderOf(t);
  const [summary, output] = [join(folder, 'summary.md'), join(folder, 'output')];
  const own = { sarif: join(folder, 'found.sarif'), report: join(folder, 'page.html'), ...input };
  const given = Object.entries<string>(step.env).map(([name, expression]) => {
    const [, from = ''] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression) ?? assert.fail(name);
    return [name, new Map(Object.entries(own)).get(from) ?? inputs[from].default] as const;
  });
  const { status, stdout, stderr } = spawnSync('bash', ['-c', step.run], {
    cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      ...Object.fromEntries(given),
      GITHUB_ACTION_PATH: join(root, 'action'),
      GITHUB_WORKSPACE: cwd,
      RUNNER_TEMP: folder,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_OUTPUT: output,
      KUBECONFIG: join(folder, 'none'),
      ...(program !== null && { KUBECTL_TAINTMGR: program }),
    },
  });
  const printed = `${stdout}${stderr}`;
  const annotations = printed.split('\n').filter((line) => /^::(error|warning)\b/.test(line));
  const { summary: copy, ...named } = Object.fromEntries(
    read(output)
      .split('\n')
      .flatMap((line) => (line ? [line.split('=') as [string, string]] : [])),
  );
  if (copy) assert.equal(read(copy), read(summary));
  const { sarif = '', report = '' } = named;
  const files = { sarif, report };
  return { code: status, summary: read(summary), output: files, printed, annotations };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

describe('the action', () => {
  it('is one, says the parser of GitHub', () => {
    assert.deepEqual(actionFaults('action.yml', action), []);
    assert.notDeepEqual(actionFaults('action.yml', action.replace('steps:', 'stepz:')), []);
  });

  it('is used on its page as it can be', () => {
    const [, shown = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    assert.equal(shown, exampleWorkflow);
    assert.deepEqual(workflowFaults('page.yml', shown), []);
    for (const name of Object.keys(inputsOf(shown))) assert.ok(name in inputs, name);
    for (const name of Object.keys(inputs)) assert.ok(page.includes(`| \`${name}\` |`), name);
  });

  it('hands each input to its script, and nothing into the script', () => {
    const taken = Object.values<string>(step.env).map((one) => /inputs\.([\w-]+)/.exec(one)?.[1]);
    assert.deepEqual(taken.sort(), Object.keys(inputs).sort());
    assert.doesNotMatch(step.run, /\$\{\{/);
  });

  it('fails for manifests that block evictions, with a table, SARIF, and annotations at their lines', (t) => {
    const sarif = join(folderOf(t), 'found.sarif');
    const manifests = '\n  docs/commands/examples/shop.yaml\n';
    const { code, summary, output, annotations } = play(t, { manifests, sarif });
    assert.equal(code, 1);
    assert.match(summary, /^\*\*This pull request has 3 errors in its manifests\.\*\*$/m);
    assert.match(
      summary,
      /^\| \*\*error\*\* \| docs\/commands\/examples\/shop\.yaml:26 \| pdb\/web -n shop: minAvailable/m,
    );
    assert.deepEqual(
      annotations.map((line) => /^::\w+ file=[^,]*,line=\d+/.exec(line)?.[0]),
      [26, 36, 43, 41].map((line) => {
        const level = line === 41 ? 'warning' : 'error';
        return `::${level} file=docs/commands/examples/shop.yaml,line=${line}`;
      }),
    );
    assert.deepEqual(output, { sarif, report: '' });
    assert.equal(JSON.parse(readFileSync(sarif, 'utf8')).runs[0].results.length, 4);
  });

  it('takes nothing of a manifest for a command, for Markdown or for HTML', (t) => {
    const file = join(folderOf(t), 'a,b:c.yaml');
    const name = '``` ::error::pwned | <img src=x> [a](https://evil.example) @here';
    const metadata = { name, namespace: '::add-mask::x\n::warning::y' };
    const spec = { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } };
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec };
    writeFileSync(file, JSON.stringify(budget));
    const { summary, printed, annotations } = play(t, { manifests: file });
    const row = summary.split('\n').find((line) => line.includes('pwned')) ?? assert.fail();
    assert.equal(row.split('|').length, 5, row);
    assert.doesNotMatch(row, /[<`@[\]]|:\/\//);
    const [, stop = '', shown = ''] =
      /^::stop-commands::([0-9a-f]{32})\n([\s\S]*?)\n::\1::$/m.exec(printed) ?? [];
    assert.match(shown, /pwned/);
    const rest = printed.replace(shown, '');
    const commands = rest.split('\n').filter((line) => line.includes('::'));
    assert.deepEqual(commands.slice(0, 2), [`::stop-commands::${stop}`, `::${stop}::`]);
    assert.deepEqual(commands.slice(2), annotations);
    for (const line of annotations) {
      assert.match(line, /^::(error|warning) file=[^:]*a%2Cb%3Ac\.yaml,line=1,title=taintmgr::pdb/);
    }
  });

  it('shows the first of many, and says how many there are', (t) => {
    const file = join(folderOf(t), 'budgets.yaml');
    const spec = { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } };
    const budgets = Array.from({ length: 1_000 }, (_, index) => {
      const metadata = { name: `budget-${index}`, namespace: 'shop' };
      return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec };
    });
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: budgets }));
    const { summary, annotations } = play(t, { manifests: file });
    assert.match(summary, /has 1000 errors in its manifests/);
    assert.match(summary, /\nAnd 2950 more\.\n/);
    const errors = annotations.filter((line) => line.startsWith('::error'));
    assert.deepEqual([errors.length, annotations.length], [10, 20]);
  });

  it('is content with good manifests, and writes SARIF without errors', (t) => {
    const sarif = join(folderOf(t), 'found.sarif');
    const manifests = 'docs/policies/10-unreachable.yaml\ndocs/policies/20-spot.yaml';
    const { code, summary, annotations } = play(t, { manifests, sarif });
    assert.deepEqual([code, annotations], [0, []], summary);
    assert.match(summary, /\*\*This pull request has no errors in its manifests\.\*\*/);
    const { results } = JSON.parse(readFileSync(sarif, 'utf8')).runs[0];
    assert.ok(results.every(({ level }: { level: string }) => level !== 'error'));
  });

  it('says what it cannot read, and leaves no SARIF that is none', (t) => {
    const sarif = join(folderOf(t), 'found.sarif');
    const played = play(t, { manifests: 'no/such%0A::error::file.yaml', sarif });
    const { code, summary, output, annotations } = played;
    assert.equal(code, 1);
    assert.match(summary, /^- -f no\/such%0A::error::file\.yaml: no such file or folder$/m);
    assert.deepEqual(annotations, [
      '::error title=taintmgr::-f no/such%250A::error::file.yaml: no such file or folder',
    ]);
    assert.deepEqual(output, { sarif: '', report: '' });
    assert.equal(read(sarif), '');
  });

  it('shows a mistake in a script at its line', (t) => {
    const script = join(folderOf(t), 'mistake.yaml');
    writeFileSync(script, 'events:\n  - at: soon\n    drain: { node: zone-a-1 }\n');
    const { code, summary, annotations } = play(t, {
      cluster: 'docs/scenarios/three-zones.yaml',
      script,
    });
    assert.equal(code, 1);
    assert.match(summary, /could not be played or checked as a whole/);
    assert.match(
      annotations.join(),
      /^::error file=[^,]*mistake\.yaml,line=2,title=taintmgr::events/,
    );
  });

  it('makes the folders of its files, and fails where they cannot be written', (t) => {
    const folder = folderOf(t);
    const manifests = 'docs/policies/10-unreachable.yaml';
    const sarif = join(folder, 'reports', 'of -- this', 'found.sarif');
    const { code, output } = play(t, { manifests, sarif });
    assert.deepEqual([code, output], [0, { sarif, report: '' }]);
    assert.equal(JSON.parse(readFileSync(sarif, 'utf8')).version, '2.1.0');
    const cluster = 'docs/scenarios/three-zones.yaml';
    // What is a file is no folder, and what is a folder is no file.
    for (const refused of [join(sarif, 'found.sarif'), join(sarif, '..')]) {
      for (const [input, rest] of [
        ['sarif', { manifests }],
        ['report', { cluster }],
      ] as const) {
        const failed = play(t, { ...rest, [input]: refused });
        assert.deepEqual([failed.code, failed.output], [1, { sarif: '', report: '' }]);
        const text = `${input}: ${refused} cannot be written`;
        assert.deepEqual(failed.annotations, [`::error title=taintmgr::${text}`]);
        assert.match(failed.summary, /cannot be written/);
      }
    }
  });

  it('writes to no place to which a pull request has laid a link', (t) => {
    const folder = folderOf(t);
    const [sarif, elsewhere] = [join(folder, 'found.sarif'), join(folder, 'elsewhere')];
    writeFileSync(elsewhere, 'as it was');
    symlinkSync(elsewhere, sarif);
    play(t, { manifests: 'docs/policies', sarif });
    assert.equal(read(elsewhere), 'as it was');
    assert.match(read(sarif), /"runs"/);
  });

  it('runs what is published, whatever a pull request says of registries and packages', (t) => {
    const [folder, checkout] = [folderOf(t), folderOf(t)];
    const called = join(folder, 'called');
    writeFileSync(join(folder, 'npx'), `#!/bin/sh\necho "$@" >> '${called}'\nexit 1\n`, {
      mode: 0o755,
    });
    const { PATH } = process.env;
    process.env.PATH = `${folder}:${PATH}`;
    t.after(() => {
      process.env.PATH = PATH;
    });
    assert.equal(play(t, { manifests: 'deploy' }, checkout, null).code, 1);
    const [, prefix = '', name] = /^--yes --prefix (\S+) (\S+) doctor /.exec(read(called)) ?? [];
    assert.equal(name, '@taintmgr/kubectl-taintmgr@latest');
    assert.match(prefix, /taintmgr-npx-/);
    assert.ok(!prefix.startsWith(checkout));
  });

  it('says that a program is not there, or ended early', (t) => {
    const half = join(folderOf(t), 'half.sh');
    writeFileSync(half, `printf '{"runs":['; kill -KILL $$`);
    for (const [program, fault] of [
      ['no-such-program', 'spawnSync no-such-program ENOENT'],
      [`bash ${half}`, 'bash ended by SIGKILL'],
    ] as const) {
      const input = { manifests: 'deploy', cluster: 'docs/scenarios/three-zones.yaml' };
      const { code, output, annotations } = play(t, input, root, program);
      assert.deepEqual([code, output], [1, { sarif: '', report: '' }]);
      const line = `::error title=taintmgr::${fault}`;
      assert.deepEqual(annotations, [line]);
    }
  });

  it('shows what cannot be laid over the cluster at its line', (t) => {
    const file = join(folderOf(t), 'web.yaml');
    const metadata = '{ name: web, namespace: shop }';
    const spec = '{ replicas: many }';
    writeFileSync(
      file,
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: ${metadata}\nspec: ${spec}\n`,
    );
    const { code, annotations } = play(t, {
      cluster: 'docs/scenarios/three-zones.yaml',
      apply: file,
    });
    assert.equal(code, 1);
    assert.match(
      annotations.join(),
      /^::error file=[^,]*web\.yaml,line=4,title=taintmgr::spec\.replicas: Deployment web: /,
    );
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
});

describe('the simulation of the action', () => {
  const cluster = 'docs/scenarios/three-zones.yaml';
  const given = { cluster, script: 'docs/scenarios/zone-outage.yaml', until: '5m', seeds: '1' };

  it('shows every limit, and fails where one is crossed', (t) => {
    const report = join(folderOf(t), 'of this', 'page.html');
    const { code, summary, output, annotations } = play(t, {
      ...{ ...given, report, policies: 'docs/policies/10-unreachable.yaml' },
      'fail-if': 'unavailable(shop/*) > 100%\nunavailable(shop/*) > 10%\ndown(shop/api) > 1',
    });
    assert.equal(code, 1);
    assert.match(summary, /crosses 2 limits/);
    const outcomes = summary.split('\n').filter((line) => /\| (ok|\*\*crossed)/.test(line));
    assert.deepEqual(
      outcomes.map((line) => line.split(' | ')[1]),
      ['ok', '**crossed**', '**crossed**'],
    );
    assert.deepEqual(annotations, [
      '::error title=Limit crossed%3A unavailable(shop/*) > 10%25::shop/api: 33.3%25',
      '::error title=Limit crossed%3A down(shop/api) > 1::shop/api: 4',
    ]);
    assert.deepEqual(output, { sarif: '', report });
    assert.match(readFileSync(report, 'utf8'), /^<!doctype html>/i);
  });

  it('only simulates where the lines with manifests are blank', (t) => {
    const { code, summary } = play(t, { cluster, manifests: '\n', until: '1m' });
    assert.equal(code, 0, summary);
    assert.match(summary, /^\*\*No limit is crossed\.\*\*$/m);
    assert.match(summary, /^Never down: /m);
  });

  it('says of which limit nobody can tell, and fails', (t) => {
    const file = join(folderOf(t), 'cluster.json');
    const snapshot = readFileSync(join(example, 'ci/cluster.json'), 'utf8');
    writeFileSync(file, snapshot.replaceAll('"default-scheduler"', '"another"'));
    const limits = { 'fail-if': 'down(shop/web) > 90%' };
    const { code, summary, annotations } = play(t, { cluster: file, seeds: '1', ...limits });
    assert.equal(code, 1);
    const why =
      /--fail-if "down\(shop\/web\) > 90%": column 1: shop\/web: scheduler another places its pods/;
    assert.match(summary, why);
    assert.match(annotations.join(), /^::error title=taintmgr::--fail-if/);
  });
});

describe('the pull requests of examples/gitops', () => {
  const asked = inputsOf(exampleWorkflow);
  const { 'fail-if': _, ...unlimited } = asked;
  const budgetError =
    /^::error file=deploy\/web\.yaml,line=34,title=taintmgr::pdb\/web -n shop: minAvailable 100%25/;

  /** The repository with one of them. */
  function withPatch(t: TestContext, patch: string): string {
    const folder = folderOf(t);
    cpSync(example, folder, { recursive: true });
    const { status, stderr } = spawnSync('git', ['apply', `pull-requests/${patch}.patch`], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
    });
    assert.equal(status, 0, stderr);
    return folder;
  }

  const row = (summary: string, name: string): string =>
    summary.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? '';

  for (const [patch, limits, wanted] of [
    [
      'impossible-budget',
      'with limits',
      {
        code: 1,
        verdict:
          'makes a budget impossible: shop/web; crosses 1 limit; has 1 error in its manifests.',
        row: ['shop/web', /kept, nothing refused \| never allows an eviction, \d+ refused/],
        annotations: [
          /^::error file=deploy\/web\.yaml,line=31,title=Limit crossed%3A refusals.*::shop\/web: \d+ after; /,
          budgetError,
        ],
      },
    ],
    [
      'impossible-budget',
      'without',
      {
        code: 1,
        verdict: 'makes a budget impossible: shop/web; has 1 error in its manifests.',
        row: ['shop/web', /never allows an eviction/],
        annotations: [budgetError],
      },
    ],
    [
      'half-the-replicas',
      'with limits',
      {
        code: 1,
        verdict: 'is worse for Deployment shop/web; crosses 1 limit.',
        row: [
          'Deployment shop/web',
          /1 of 4 down \(25%\).*1 of 2 down \(50%\).*\+25% down at once/,
        ],
        annotations: [
          /^::error file=deploy\/web\.yaml,line=5,title=Limit crossed%3A down.*::shop\/web: 50%25$/,
        ],
      },
    ],
    [
      'half-the-replicas',
      'without',
      {
        code: 0,
        verdict: 'is worse for Deployment shop/web.',
        row: ['Deployment shop/web', /\+25% down at once/],
        annotations: [],
      },
    ],
    [
      'comments',
      'with limits',
      {
        code: 0,
        verdict: 'changes nothing: no difference for 3 workloads and 3 budgets.',
        row: ['Deployment shop/web', /no difference \|$/],
        annotations: [],
      },
    ],
  ] as const) {
    it(`${patch}, ${limits}`, (t) => {
      const cwd = withPatch(t, patch);
      const played = play(t, limits === 'without' ? unlimited : asked, cwd);
      const { code, summary, annotations } = played;
      assert.equal(code, wanted.code, summary);
      assert.ok(summary.includes(`**This pull request ${wanted.verdict}**`), summary);
      const [name, cells] = wanted.row;
      assert.match(row(summary, name), cells, summary);
      assert.equal(annotations.length, wanted.annotations.length, annotations.join('\n'));
      for (const [at, line] of wanted.annotations.entries())
        assert.match(annotations[at] ?? '', line);
      if (code === 0 || patch !== 'half-the-replicas') return;
      const shown = summary.slice(summary.indexOf('**This'), summary.indexOf('### Limits'));
      for (const text of [shown, ...annotations]) assert.ok(page.includes(text), text);
    });
  }

  it('play nothing of a pull request where none is to be laid over', (t) => {
    const { code, summary } = play(
      t,
      { ...unlimited, apply: 'none' },
      withPatch(t, 'half-the-replicas'),
    );
    assert.equal(code, 0, summary);
    assert.match(row(summary, 'Workload'), /^\| Workload \| outcome \|$/);
  });

  it('are found where all of the repository is checked, with its snapshot and its script', (t) => {
    const root = { ...unlimited, manifests: '.' };
    const { code, summary } = play(t, root, withPatch(t, 'comments'));
    assert.equal(code, 0, summary);
    assert.match(summary, /changes nothing/);
    assert.match(summary, /^\| note \| ci\/cluster\.json:1 \| is what a cluster has printed/m);
    assert.match(summary, /^\| note \| ci\/outage\.yaml:2 \| is not an object of Kubernetes/m);
  });
});
