// The entry of every npm script that a fresh clone may start with: it installs what the task needs
// (`npm install`, once), then runs the task on the project's own Node. Plain JavaScript, because it
// has to run on whatever Node (20 or newer) the machine has.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import module from 'node:module';
import { availableParallelism, constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// Left alone, the signal opens a debugger: on the way to our own Node too.
process.on('SIGUSR1', () => {});

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'node_modules', '.bin');
const source = ['-C', '@taintmgr/source'];
const noDebugger = '--disable-sigusr1';
const runtimes = join('tools', 'runtimes');
const coreTests = 'packages/core/test';

const [name = '', ...args] = process.argv.slice(2);
/** So many arguments of a command that fails are shown: a run of all tests has hundreds. */
const shownMax = 12;
/** What `npm run bench` runs; `npm run bench -- NAME...` runs these only. */
const benches = ['engine', 'controller'];
const benchFolder = 'tools/workbench/src/bench';

/**
 * The files that `npm run test:node` runs, and those that `npm run test:processes` does: stories of whole
 * programs, which wait for real clocks. With FILE... either runs these only.
 */
const stories = join('test', 'processes');
const testFiles = () =>
  ['packages', 'apps', 'tools', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  );
// Node runs one file less at a time than there are processors, which is one on a machine with two.
// Many files wait for most of their time: for a process, a socket, a clock that is real.
const testConcurrency = `--test-concurrency=${availableParallelism() + 2}`;
/** A file that waits for what never comes fails by its name, in place of keeping everybody waiting. */
const testTimeout = `--test-timeout=${15 * 60_000}`;

/** What to install before a task: a file that proves it is there, and the command that brings it. */
const needs = {
  runtime: { proof: 'node_modules/node/bin/node', install: ['install', '--omit=dev'] },
  everything: { proof: 'node_modules/fast-check/package.json', install: ['install'] },
  runtimes: {
    proof: join(runtimes, 'node_modules/deno/package.json'),
    install: ['install', '--prefix', runtimes],
  },
};

const wantsPage = args.some((arg) => arg.startsWith('--report'));

/**
 * Each task is either a program of ours (`main`) or commands run one after the other (`steps`); a list of
 * commands among the steps runs side by side.
 */
const tasks = {
  // Its page is built when it is written.
  demo: { needs: ['everything'], main: 'tools/workbench/src/demo/main.ts' },
  cluster: { needs: ['runtime'], main: 'tools/workbench/src/cluster/main.ts' },
  controller: { needs: ['runtime'], main: 'apps/controller/src/main.ts' },
  // From source, a page is built when it is written.
  'kubectl-taintmgr': {
    needs: [wantsPage ? 'everything' : 'runtime'],
    main: 'apps/kubectl-taintmgr/src/main.ts',
  },
  prediction: { needs: ['everything'], main: 'tools/workbench/src/prediction/main.ts' },
  // Those of the README and of docs, anew.
  pictures: {
    needs: ['everything'],
    steps: [
      [join(bin, 'node'), ...source, 'scripts/scenarios.ts', '--screenshots'],
      [join(bin, 'node'), ...source, 'tools/workbench/src/demo/recording.ts'],
    ],
  },
  scenarios: { needs: ['everything'], main: 'scripts/scenarios.ts' },
  seeds: { needs: ['everything'], main: 'scripts/seeds.ts' },
  bench: {
    needs: ['everything'],
    steps: (args.length > 0 ? args : benches).map((bench) => [
      join(bin, 'node'),
      ...source,
      `${benchFolder}/${bench}.ts`,
    ]),
  },
  conformance: { needs: ['everything'], main: 'scripts/conformance.ts' },
  proof: { needs: ['everything', 'runtimes'], main: 'scripts/proof.ts' },
  'test:node': {
    needs: ['everything'],
    steps: () => testStep((file) => !file.includes(stories)),
  },
  'test:processes': {
    needs: ['everything'],
    steps: () => testStep((file) => file.includes(stories)),
  },
  'test:bun': {
    needs: ['everything', 'runtimes'],
    // Bun gives a test 5 s, which a slow machine needs for some thousand recorded cases.
    steps: [
      [tool('bun'), 'test', '--timeout=240000', '--conditions', '@taintmgr/source', coreTests],
    ],
  },
  'test:deno': {
    needs: ['everything', 'runtimes'],
    steps: [[tool('deno'), 'test', '-A', '--conditions', '@taintmgr/source', coreTests]],
  },
  test: {
    needs: ['everything', 'runtimes'],
    // The two suites of core take a core each.
    steps: [npmRun('test:node'), ['test:bun', 'test:deno'].map((script) => npmRun(script))],
  },
  // Deno logs in to JSR by itself, in a workflow that may.
  jsr: {
    needs: ['runtimes'],
    steps: [
      [tool('deno'), args[0] ?? 'publish', '--config', 'packages/core/jsr.json', ...args.slice(1)],
    ],
  },
  // Installs what a release has made, as people would.
  'install:check': { needs: ['everything', 'runtimes'], main: 'scripts/install-check.ts' },
  release: { needs: ['everything'], main: 'scripts/release.ts' },
  check: {
    needs: ['everything', 'runtimes'],
    // What .ci/run does, the quick steps first.
    steps: [
      ...['types', 'lint', 'boundaries', 'tidy', 'changeset:check', 'knip', 'build', 'pack:check'],
      ...['test', 'test:processes', 'conformance'],
    ]
      .map((script) => npmRun(script))
      .concat([
        [...npmRun('release'), '--', '--dry-run', '--programs', 'none'],
        npmRun('install:check'),
        npmRun('binary:check', '--workspace=apps/controller'),
        npmRun('krew:check', '--workspace=apps/kubectl-taintmgr'),
        npmRun('demo'),
      ]),
  },
};

const task = tasks[name];
if (!task) fail(`unknown task "${name}", want one of ${Object.keys(tasks).join(', ')}`);
if (name === 'bench') args.forEach(checkBench);
task.needs.forEach(install);
process.env.PATH = `${bin}${delimiter}${process.env.PATH}`;
// Types are stripped and code is compiled once, in this process and in those that it starts.
const compiled = join(root, 'node_modules', '.cache', 'compiled');
process.env.NODE_COMPILE_CACHE ??= compiled;
module.enableCompileCache?.(compiled);
if (task.main) await runMain(join(root, task.main));
else {
  for (const step of typeof task.steps === 'function' ? task.steps() : task.steps) {
    if (Array.isArray(step[0])) await runTogether(step);
    else runStep(step);
  }
}

/** The files that are named; else all of that kind, with a line now and then of how far they are. */
function testStep(isWanted) {
  const run = [join(bin, 'node'), ...source, '--test', testConcurrency, testTimeout];
  if (args.length > 0) return [[...run, ...args]];
  const files = testFiles().filter(isWanted).sort();
  if (files.length === 0) fail(`there are no test files in ${stories}`);
  const reporter = [
    '--test-reporter=./scripts/test-progress.mjs',
    '--test-reporter-destination=stdout',
  ];
  return [[...run, ...reporter, ...files]];
}

/** Before any of them runs: one takes minutes. */
function checkBench(bench) {
  if (existsSync(join(root, benchFolder, `${bench}.ts`))) return;
  const alone = `node ${source.join(' ')} ${benchFolder}/NAME.ts`;
  fail(
    `no bench is called "${bench}"; "npm run bench" takes names, such as ${benches.join(', ')}; ` +
      `"npm run tidy -- --files" lists all of ${benchFolder}. Flags go to one that is run alone: ${alone}`,
  );
}

function install(need) {
  const { proof, install: command } = needs[need];
  if (existsSync(join(root, proof))) return;
  process.stderr.write(`taintmgr: installing what "${name}" needs: npm ${command.join(' ')}\n`);
  // What is installed for a task does not change what is committed: npm adds platforms to lockfiles.
  const quiet = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  // npm's own output goes to stderr: stdout belongs to the task.
  const result = spawnSync('npm', [...command, ...quiet], { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) fail('npm install failed; run it by hand to see why', result.status);
}

/** In this process when its Node can run TypeScript, else in the project's own Node. */
async function runMain(main) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOurs = major > 22 || (major === 22 && minor >= 19);
  const hasSource = process.execArgv.includes('@taintmgr/source');
  if (isOurs && hasSource) {
    process.argv = [process.argv[0], main, ...args];
    await import(pathToFileURL(main).href);
    return;
  }
  const own = [noDebugger, ...source, main, ...args];
  const child = spawn(join(bin, 'node'), own, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(error.message));
  child.on('exit', (status, signal) => {
    process.exit(signal ? 128 + (constants.signals[signal] ?? 0) : status);
  });
}

function runStep([command, ...rest]) {
  const result = spawnSync(command, rest, { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) failStep(command, rest, result.status);
}

/** Their output appears when each ends, whole. The first that fails ends the task when all have ended. */
async function runTogether(commands) {
  const ended = commands.map(async ([command, ...rest]) => {
    const child = spawn(command, rest, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => output.push(text));
    const [status] = await once(child, 'close');
    process.stdout.write(Buffer.concat(output));
    return { command, rest, status };
  });
  const failed = (await Promise.all(ended)).find(({ status }) => status !== 0);
  if (failed) failStep(failed.command, failed.rest, failed.status);
}

function failStep(command, rest, status) {
  const shown = rest.length > shownMax ? [...rest.slice(0, shownMax), '...'] : rest;
  fail(`"${[command, ...shown].join(' ')}" failed`, status);
}

function npmRun(script, ...flags) {
  return ['npm', 'run', '-s', ...flags, script];
}

function tool(command) {
  return join(root, runtimes, 'node_modules', '.bin', command);
}

function fail(message, status) {
  process.stderr.write(`taintmgr: ${message}\n`);
  process.exit(status || 1);
}
