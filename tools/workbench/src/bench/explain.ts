// Measures the time that the kubectl plugin takes to start, and to answer about a node of 500 pods
// and of 5,000, with policies and the published status of a controller, beside kubectl itself, over
// HTTPS: as the npm package has it, as krew has it, and as it runs in a clone. In parentheses the
// time of the processor. Each round runs all programs of one line of the table, so that other load
// on the machine is alike for them. npm run bench -- explain; alone it takes --pods 500,5000
// --rounds 15 --package-only
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { Served } from './explain-server.ts';
import { Child, printTable } from './measure.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const app = join(root, 'apps/kubectl-taintmgr');
const plugin = 'kubectl-taintmgr';

/** The timed commands, in each form of the plugin, beside the same action of kubectl. */
const lines: readonly (readonly [plugin: string, kubectl: string])[] = [
  ['--help', '--help'],
  ['version --client', 'version --client'],
  ['__complete explain node ip-', 'get node NODE'],
  ['explain node NODE', 'describe node NODE'],
  ['explain node NODE --compare', 'get pods -A --field-selector=spec.nodeName=NODE'],
];

/** The milliseconds of a run from start to end, and of the processor. */
interface Taken {
  readonly wall: number;
  readonly processor: number;
}

type Run = (line: string) => Promise<Taken>;

/** The forms of the plugin, by their names. */
type Forms = Readonly<Record<string, readonly string[]>>;

async function compare(counts: readonly number[], rounds: number, forms: Forms): Promise<void> {
  const [load = 0] = loadavg();
  process.stdout.write(
    `explain: milliseconds from start to end and (of the processor), the median of ${rounds}; ` +
      `load before it: ${load.toFixed(1)}\n`,
  );
  for (const pods of counts) {
    const program = `${import.meta.dirname}/explain-server.ts`;
    const server = new Child('-C', '@taintmgr/source', program, `${pods}`);
    const served = await server.next<Served>();
    try {
      // The time of the start does not depend on pods.
      const asked = lines.filter(([line]) => pods === counts[0] || line.includes('NODE'));
      await compareOn(served, asked, rounds, forms, `${pods} pods`);
    } finally {
      await server.end();
      rmSync(dirname(served.kubeconfig), { recursive: true });
    }
  }
}

const warmingRounds = 10;

async function compareOn(
  { node, kubeconfig }: Served,
  asked: typeof lines,
  rounds: number,
  forms: Forms,
  title: string,
): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: tmpdir(), KUBECONFIG: kubeconfig };
  const runner = (command: readonly string[]): Run => {
    return async (line) => {
      const args = [...command, ...line.replaceAll('NODE', node).split(' ')];
      // The shell takes the time, so that its own start and end are not in it.
      const timed = ['-c', 'TIMEFORMAT="%R %U %S"; time "$@" > /dev/null', 'bash', ...args];
      const { stderr } = await promisify(execFile)('bash', timed, { env, maxBuffer: 1e8 });
      const [wall = 0, user = 0, system = 0] = (stderr.trim().split('\n').at(-1) ?? '')
        .split(' ')
        .map((seconds) => Number(seconds) * 1000);
      return { wall, processor: user + system };
    };
  };
  const plugins = Object.values(forms).map(runner);
  // V8 compiles the API server while it answers; those that people have were compiled before.
  await medians(warmingRounds, [
    () => runner(['kubectl'])('describe node NODE'),
    ...plugins.slice(0, 1).map((plugin) => () => plugin('explain node NODE')),
  ]);
  const rows: (readonly string[])[] = [];
  for (const [line, kubectlLine] of asked) {
    const [bare, beside, ...times] = await medians(rounds, [
      () => runner([process.execPath])('-e 0'),
      () => runner(['kubectl'])(kubectlLine),
      ...plugins.map((plugin) => () => plugin(line)),
    ]);
    rows.push([line, ...times, beside ?? '', kubectlLine, bare ?? '']);
  }
  printTable([title, ...Object.keys(forms), 'kubectl', 'what kubectl does', 'Node alone'], rows);
}

/** The files that npm would install, without any node_modules. */
function npmPackage(directory: string): string {
  const folder = join(directory, 'package');
  mkdirSync(folder);
  run('npm', ['run', '-s', 'build']);
  run('cp', ['-r', 'bin', 'dist', 'package.json', folder]);
  return join(folder, 'bin', plugin);
}

function program(directory: string): string {
  const file = join(directory, plugin);
  run(process.execPath, ['scripts/build-program.mjs', file]);
  return file;
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { cwd: app, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/** `210 (180)` for each; the first time may fill caches, and does not count. */
async function medians(
  rounds: number,
  works: readonly (() => Promise<Taken>)[],
): Promise<readonly string[]> {
  const taken = works.map((): Taken[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, work] of works.entries()) {
      const run = await work();
      if (round > 0) taken[index]?.push(run);
    }
  }
  return taken.map((runs) => {
    const [wall, processor] = (['wall', 'processor'] as const).map((what) => {
      const sorted = runs.map((run) => run[what]).sort((a, b) => a - b);
      return Math.round(sorted[rounds >> 1] ?? Number.NaN);
    });
    return `${wall} (${processor})`;
  });
}

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '500,5000' },
    rounds: { type: 'string', default: '15' },
    'package-only': { type: 'boolean', default: false },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'taintmgr-bench-'));
try {
  const source = ['-C', '@taintmgr/source', join(root, 'scripts/run.mjs'), plugin];
  await compare(values.pods.split(',').map(Number), Number(values.rounds), {
    'npm package': [process.execPath, npmPackage(folder)],
    ...(!values['package-only'] && {
      'one program': [program(folder)],
      clone: [process.execPath, ...source],
    }),
  });
} finally {
  rmSync(folder, { recursive: true });
}
