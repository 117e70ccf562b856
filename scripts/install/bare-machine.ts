// A machine with nothing but Node: a folder that is the whole disk for what runs in it (chroot), with
// Node, its libraries and npm. Each part of a release is installed there, and does the first things
// that people do with it. Without root, or without Linux, only the environment is empty.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { archiveOf, ownPlatform } from '../../apps/kubectl-taintmgr/scripts/platforms.ts';
import { sizeText } from '../release/artifacts.ts';
import { run } from '../release/run.ts';

const timeLimitMs = 240_000;
const examples = fileURLToPath(new URL('../../docs/library/', import.meta.url));

/** The outside of the machine: what it can reach. */
export interface Outside {
  /** The folder of the release. */
  readonly release: string;
  readonly version: string;
  /** A registry of the release, and of what its packages depend on. */
  readonly registry: { readonly url: string; readonly servedBytes: () => number };
  /** Of a cluster with the node zone-a-1. */
  readonly kubeconfig: string;
}

/** A command that a part is tried with. */
interface Use {
  /** The command, for the table. */
  readonly name: string;
  /** Paths are those of the machine. */
  readonly args: readonly string[];
  /** The answer. Ctrl-C ends a program that continues after it. */
  readonly answer: RegExp;
}

interface Part {
  readonly name: string;
  /** Its program in the package; none in a library. */
  readonly bin?: string;
  /** The program in an archive. */
  readonly archive?: string;
  /** The example of a library, in docs/library. */
  readonly example?: string;
  readonly uses: readonly Use[];
}

const controllerFlags = ['--secure-port=0', '--healthz-port=0', '--logging-format=json'];

const parts: readonly Part[] = [
  {
    name: 'kubectl-taintmgr',
    bin: 'bin/kubectl-taintmgr',
    archive: 'kubectl-taintmgr',
    uses: [
      { name: 'explain node', args: ['explain', 'node', 'zone-a-1'], answer: /^Name: +zone-a-1\n/ },
      { name: 'doctor', args: ['doctor'], answer: /^OK +api-server /m },
      {
        name: 'web --demo',
        args: ['web', '--demo'],
        answer: /^http:\/\/127\.0\.0\.1:\d+\/\?token=/,
      },
    ],
  },
  {
    name: 'controller',
    bin: 'bin/taintmgr-controller',
    archive: 'taintmgr-controller',
    uses: [
      {
        name: '--simulate',
        args: ['--simulate', ...controllerFlags],
        answer: /"caches synced, evictions start"/,
      },
      {
        name: '--dry-run=client',
        args: ['--dry-run=client', '--leader-elect=false', ...controllerFlags],
        answer: /"caches synced, the dry run starts: nothing is evicted"/,
      },
    ],
  },
  {
    name: 'core',
    example: 'embed.ts',
    uses: [{ name: 'its example', args: [], answer: /^at 6000: deletePod$/m }],
  },
  {
    name: 'k8s-adapter',
    example: 'explain.ts',
    uses: [{ name: 'explain.ts', args: ['zone-a-1'], answer: /^evicted by /m }],
  },
  {
    name: 'api-server',
    bin: 'bin/api-server.js',
    uses: [
      {
        name: 'with explain.ts',
        args: [
          '--topology',
          'three-zones',
          '--',
          '/bin/node',
          '/parts/k8s-adapter/explain.ts',
          'zone-a-1',
        ],
        answer: /^evicted by /m,
      },
    ],
  },
];

/** Installs and tries every part; gives the table of sizes and times. */
export async function tryOnBareMachine(folder: string, outside: Outside): Promise<string> {
  const machine = new Machine(folder, outside);
  const rows: Row[] = [];
  for (const part of parts) {
    const archive = part.archive && archivePath(part.archive, outside);
    if (archive) rows.push(await machine.tryArchive(part, archive));
    rows.push(await machine.tryPackage(part));
  }
  return `${machine.isAlone ? 'with nothing but Node' : 'with an empty environment'}\n${tableOf(rows)}`;
}

interface Row {
  readonly part: string;
  readonly from: 'archive' | 'npm';
  /** Bytes of archives. */
  readonly download: number;
  /** Bytes on the disk. */
  readonly installed: number;
  readonly packages: number;
  readonly installMs: number;
  /** The time of each use to its answer. */
  readonly answers: readonly string[];
}

/** The archive for this machine, if the release has it. */
function archivePath(program: string, { release, version }: Outside): string | undefined {
  const path = ownPlatform && join(release, archiveOf(program, ownPlatform, version));
  return path && existsSync(path) ? path : undefined;
}

class Machine {
  readonly isAlone: boolean;
  readonly #root: string;
  readonly #outside: Outside;

  constructor(root: string, outside: Outside) {
    this.#root = root;
    this.#outside = outside;
    for (const name of ['bin', 'dev', 'parts', 'tmp'])
      mkdirSync(join(root, name), { recursive: true });
    copyFileSync(process.execPath, join(root, 'bin/node'));
    const { npm_execpath: npm = assert.fail('npm run install:check runs it') } = process.env;
    cpSync(dirname(dirname(npm)), join(root, 'npm'), { recursive: true });
    copyFileSync(outside.kubeconfig, join(root, 'parts/kubeconfig'));
    this.isAlone = process.getuid?.() === 0 && process.platform === 'linux' && this.#hasDisk();
  }

  /** Puts what Node needs from the system into the folder. */
  #hasDisk(): boolean {
    for (const [library] of run('.', 'ldd', process.execPath).matchAll(/\/\S+/g)) {
      mkdirSync(join(this.#root, dirname(library)), { recursive: true });
      copyFileSync(library, join(this.#root, library));
    }
    const device = ['-m', '666', join(this.#root, 'dev/null'), 'c', '1', '3'];
    return spawnSync('mknod', device).status === 0;
  }

  async tryArchive({ archive = '', uses }: Part, file: string): Promise<Row> {
    const folder = join(this.#root, archive);
    mkdirSync(folder);
    const begin = performance.now();
    run('.', 'tar', '-xzf', file, '-C', folder);
    const installMs = performance.now() - begin;
    const answers = await this.#answers(uses, [`/${archive}/${archive}`]);
    const sizes = { download: statSync(file).size, installed: bytesIn(folder), packages: 0 };
    return { part: archive, from: 'archive', ...sizes, installMs, answers };
  }

  async tryPackage({ name, bin, example, uses }: Part): Promise<Row> {
    const packageName = `@taintmgr/${name}`;
    const [home, folder] = [`/parts/${name}`, join(this.#root, 'parts', name)];
    mkdirSync(folder);
    const { servedBytes } = this.#outside.registry;
    const before = servedBytes();
    const npm = ['/bin/node', '/npm/bin/npm-cli.js', '--prefix', home, '--cache', `${home}/cache`];
    const install = [...npm, 'install', '--no-audit', '--no-fund', packageName];
    const installMs = await this.#answerMs(install, /^added \d+ package/m);
    if (example) copyFileSync(join(examples, example), join(folder, example));
    const file = example ?? `node_modules/${packageName}/${bin}`;
    const modules = join(folder, 'node_modules');
    const sizes = {
      download: servedBytes() - before,
      installed: bytesIn(modules),
      packages: Object.keys(lockOf(modules)).length,
    };
    const answers = await this.#answers(uses, ['/bin/node', `${home}/${file}`]);
    return { part: packageName, from: 'npm', ...sizes, installMs, answers };
  }

  async #answers(uses: readonly Use[], program: readonly string[]): Promise<readonly string[]> {
    const answers: string[] = [];
    for (const { name, args, answer } of uses) {
      const ms = await this.#answerMs([...program, ...args], answer);
      answers.push(`${name} ${(ms / 1000).toFixed(1)} s`);
    }
    return answers;
  }

  /** The time that a command takes to its answer. Throws if the command ends in another way. */
  async #answerMs(words: readonly string[], answer: RegExp): Promise<number> {
    const local = words.map((word) => (word.startsWith('/') ? this.#path(word) : word));
    const [program = '', ...args] = this.isAlone ? ['chroot', this.#root, ...local] : local;
    const begin = performance.now();
    const child = spawn(program, args, {
      cwd: this.#root,
      env: {
        PATH: this.isAlone ? '/usr/sbin:/usr/bin:/bin' : this.#path('/bin'),
        HOME: this.#path('/parts'),
        TMPDIR: this.#path('/tmp'),
        KUBECONFIG: this.#path('/parts/kubeconfig'),
        npm_config_registry: this.#outside.registry.url,
        npm_config_update_notifier: 'false',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeLimitMs,
    });
    let [output, answeredMs] = ['', 0];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        output += chunk;
        if (answeredMs > 0 || !answer.test(output)) return;
        answeredMs = performance.now() - begin;
        child.kill('SIGINT');
      });
    }
    const [code] = await once(child, 'close');
    const isInterrupted = answeredMs > 0 && (code === null || code === 130);
    assert.ok(code === 0 || isInterrupted, `${words.join(' ')}: exit ${code}\n${output}`);
    assert.match(output, answer, words.join(' '));
    return answeredMs;
  }

  #path(path: string): string {
    return this.isAlone ? path : join(this.#root, path);
  }
}

/** The packages that npm has put into a folder, by their paths. */
function lockOf(modules: string): Readonly<Record<string, object>> {
  return JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages;
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const sizes = files.map((file) =>
    file.isFile() ? statSync(join(file.parentPath, file.name)).size : 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function tableOf(rows: readonly Row[]): string {
  const head = ['PART', 'FROM', 'DOWNLOAD', 'PACKAGES', 'INSTALLED', 'TIME', 'FIRST ANSWERS'];
  const cells = rows.map(({ part, from, download, packages, installed, installMs, answers }) => [
    part,
    from,
    sizeText(download),
    packages === 0 ? '' : String(packages),
    sizeText(installed),
    `${(installMs / 1000).toFixed(1)} s`,
    answers.join(', '),
  ]);
  const all = [head, ...cells];
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
