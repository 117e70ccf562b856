// The largest clusters there are, followed by one replica: 65,000 nodes and 1,000,000 pods, and a
// hundredth and a tenth of that. A feeder makes objects as they are asked for and changes them; the
// controller is the one that is shipped, with both controllers on. Then a zone fails.
// npm run bench -- largest; by hand `node -C @taintmgr/source tools/workbench/src/bench/largest.ts`
// takes --percent 1,10,100 --pod-watch all,tainted-nodes --format json,protobuf --fail-seconds 180
// --tolerate 30 --heap-mb 800 (--max-old-space-size) --profile FOLDER (of each phase), --log FOLDER (what the controllers
// say), and flags of the controller behind --.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Order, Rates, Report } from './largest/server.ts';
import type { Size } from './largest/world.ts';
import { mega, printTable, short } from './measure.ts';

/** The resources that the controller has used and holds. */
interface Usage {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly peakBytes: number;
  /** After garbage collection, where that was asked for. */
  readonly heapBytes: number;
}

const controllerFile = `${import.meta.dirname}/../../../../apps/controller/dist/main.js`;

/** The feeder. */
class Feeder {
  readonly kubeconfig: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, kubeconfig: string) {
    this.#child = child;
    this.#lines = lines;
    this.kubeconfig = kubeconfig;
  }

  static async start({ nodes, pods, failing, tolerationSeconds }: Size): Promise<Feeder> {
    const numbers = [nodes, pods, failing, tolerationSeconds].map(String);
    const file = `${import.meta.dirname}/largest/server.ts`;
    const child = spawn(process.execPath, ['-C', '@taintmgr/source', file, ...numbers], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdout } = child;
    const lines = createInterface(stdout)[Symbol.asyncIterator]();
    const { kubeconfig } = await nextOf<{ readonly kubeconfig: string }>(lines);
    return new Feeder(child, lines, kubeconfig);
  }

  order(order: Order): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** The events so far; changes are those since the last report. */
  async report(): Promise<Report> {
    this.order({ kind: 'report' });
    return nextOf<Report>(this.#lines);
  }

  end(): void {
    this.#child.kill();
  }
}

async function nextOf<T>(lines: AsyncIterator<string>): Promise<T> {
  const { value, done } = await lines.next();
  if (done) throw new Error('the feeder ended too early');
  return JSON.parse(value);
}

/**
 * The controller with Node's flags and its own; resolves when it leads and has read everything.
 * `log`: the file for its log; null: none.
 */
async function startController(
  kubeconfig: string,
  nodeFlags: readonly string[],
  flags: readonly string[],
  log: string | null,
): Promise<Controller> {
  const preload = ['--expose-gc', '--import', `${import.meta.dirname}/usage.mjs`];
  const alone = '--kube-controller-manager-runs=none';
  const own = ['--kubeconfig', kubeconfig, '--secure-port=0', alone, ...flags];
  const child = spawn(process.execPath, [...nodeFlags, ...preload, controllerFile, ...own], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  if (!child.stderr) throw new Error('no output');
  if (log !== null) child.stderr.pipe(createWriteStream(log));
  const lines = createInterface(child.stderr);
  const left = new Set(['leader elected', 'synced']);
  const last: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`it ended with ${code}:\n${last.join('\n')}`)));
    lines.on('line', (line) => {
      last.push(line);
      if (last.length > 20) last.shift();
      for (const text of left) if (line.includes(text)) left.delete(text);
      if (left.size === 0) resolve();
    });
  });
  return new Controller(child);
}

/** The controller at work. */
class Controller {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** `profile` begins a profile, and `file` writes it there. */
  async usage(
    question: 'usage' | 'heap' | 'profile' | { readonly file: string } = 'usage',
  ): Promise<Usage> {
    const answer = once(this.#child, 'message');
    this.#child.send(question);
    const [usage] = await answer;
    return usage;
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

const whole = { nodes: 65_000, pods: 1_000_000, failing: 20_000 };
const formats = { json: 'application/json', protobuf: 'application/vnd.kubernetes.protobuf' };
/** A kubelet renews its lease every ten seconds, and writes its status every five minutes. */
const secondsPerLease = 10;
const secondsPerStatus = 300;
const changesPerSecond = 5_000;
const settleMs = 3_000;
const phaseMs = 20_000;

const { values, positionals } = parseArgs({
  options: {
    percent: { type: 'string', default: '1,10,100' },
    'pod-watch': { type: 'string', default: 'all,tainted-nodes' },
    format: { type: 'string', default: 'protobuf' },
    'fail-seconds': { type: 'string', default: '180' },
    tolerate: { type: 'string', default: '30' },
    'heap-mb': { type: 'string' },
    profile: { type: 'string' },
    log: { type: 'string' },
  },
  allowPositionals: true,
});

build();
const rows: string[][] = [];
const failures: string[][] = [];
for (const percent of values.percent.split(',').map(Number)) {
  for (const podWatch of values['pod-watch'].split(',')) {
    for (const format of values.format.split(',')) await measure(percent, podWatch, format);
  }
}
process.stdout.write(`largest: 100 % are ${short(whole.nodes)} nodes, ${short(whole.pods)} pods; `);
process.stdout.write(`load ${loadavg()[0]?.toFixed(1)}\n`);
const read = ['synced after', 'CPU until then', 'heap', 'peak until then'];
const followed = ['CPU per pod change', 'CPU per renewed lease', 'all at once', 'of a core'];
printTable(['', ...read, ...followed], rows);
process.stdout.write(`A zone of ${short(whole.failing)} nodes (of 100 %) fails:\n`);
const failed = ['statuses', 'NoExecute', 'first after', 'in a minute', 'pods marked', 'pods gone'];
printTable(['', ...failed, 'CPU', 'peak'], failures);

async function measure(percent: number, podWatch: string, format: string): Promise<void> {
  const part = (count: number): number => Math.round((count * percent) / 100);
  const size = {
    nodes: part(whole.nodes),
    pods: part(whole.pods),
    failing: part(whole.failing),
    tolerationSeconds: Number(values.tolerate),
  };
  const title = `${percent} %, ${podWatch}, ${format}`;
  const feeder = await Feeder.start(size);
  const leases = size.nodes / secondsPerLease;
  const nodes = size.nodes / secondsPerStatus;
  feeder.order({ kind: 'rates', leases, nodes, pods: 0 });
  const start = performance.now();
  const heap = values['heap-mb'];
  const controller = await startController(
    feeder.kubeconfig,
    heap === undefined ? [] : [`--max-old-space-size=${heap}`],
    [`--pod-watch=${podWatch}`, `--kube-api-content-type=${contentType(format)}`, ...positionals],
    values.log === undefined ? null : `${values.log}/${percent}-${podWatch}.log`,
  );
  const syncMs = performance.now() - start;
  const synced = await controller.usage();
  const held = await controller.usage('heap');
  const profiled = (rates: Rates, name: string): Promise<Followed> =>
    follow(feeder, controller, rates, profileOf(`${percent}-${podWatch}-${name}`));
  const pods = await profiled({ leases: 0, nodes: 0, pods: changesPerSecond }, 'pods');
  const renewed = await profiled({ leases: changesPerSecond, nodes: 0, pods: 0 }, 'leases');
  // All heartbeats, and as many changes of pods as there are of 5,000 where that is more.
  const more = Math.max(changesPerSecond - leases - nodes, changesPerSecond / 5);
  const mixed = await profiled({ leases, nodes, pods: more }, 'mixed');
  rows.push([
    title,
    `${(syncMs / 1000).toFixed(1)} s`,
    `${(synced.cpuMs / 1000).toFixed(1)} s`,
    mega(held.heapBytes),
    mega(synced.peakBytes),
    `${pods.micros.toFixed(0)} us`,
    `${renewed.micros.toFixed(0)} us`,
    `${short(mixed.perSecond)}/s`,
    `${(100 * mixed.cores).toFixed(0)} %`,
  ]);
  print(rows);
  await fail(title, feeder, controller);
  print(failures);
  await controller.end();
  feeder.end();
}

/** Prints each line as soon as it is known: the last size takes long. */
function print(lines: readonly (readonly string[])[]): void {
  process.stderr.write(`${lines.at(-1)?.join('   ')}\n`);
}

interface Followed {
  readonly micros: number;
  readonly perSecond: number;
  readonly cores: number;
}

async function follow(
  feeder: Feeder,
  controller: Controller,
  rates: Rates,
  profile: string | null,
): Promise<Followed> {
  feeder.order({ kind: 'rates', ...rates });
  await setTimeout(settleMs);
  if (profile !== null) await controller.usage('profile');
  await feeder.report();
  const before = await controller.usage();
  const start = performance.now();
  await setTimeout(phaseMs);
  const { changes } = await feeder.report();
  const cpuMs = (await controller.usage()).cpuMs - before.cpuMs;
  const ms = performance.now() - start;
  if (profile !== null) await controller.usage({ file: profile });
  return {
    micros: (1000 * cpuMs) / changes,
    perSecond: (1000 * changes) / ms,
    cores: cpuMs / ms,
  };
}

async function fail(title: string, feeder: Feeder, controller: Controller): Promise<void> {
  const profile = profileOf(`${title.replaceAll(/\W+/g, '-')}-zone`);
  if (profile !== null) await controller.usage('profile');
  const before: Usage = await controller.usage();
  feeder.order({ kind: 'fail' });
  await setTimeout(1000 * Number(values['fail-seconds']));
  const { writes, taintedAt } = await feeder.report();
  const after = await controller.usage();
  if (profile !== null) await controller.usage({ file: profile });
  const count = (kind: string): string => short(writes[kind]?.count ?? 0);
  const [first] = taintedAt;
  const inMinute = taintedAt.filter((ms) => first !== undefined && ms < first + 60_000).length;
  failures.push([
    title,
    count('nodeStatus'),
    String(taintedAt.length),
    first === undefined ? 'never' : `${(first / 1000).toFixed(0)} s`,
    String(inMinute),
    count('podUnready'),
    count('podGone'),
    `${((after.cpuMs - before.cpuMs) / 1000).toFixed(0)} s`,
    mega(after.peakBytes),
  ]);
}

/** The path of a phase's profile; null: none is made. */
function profileOf(name: string): string | null {
  return values.profile === undefined ? null : `${values.profile}/${name}.cpuprofile`;
}

function contentType(format: string): string {
  return format === 'json' ? formats.json : formats.protobuf;
}

function build(): void {
  const command = ['run', '-s', 'build', '--', '--filter=@taintmgr/controller'];
  const { status, stdout } = spawnSync('npm', command, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stdout);
}
