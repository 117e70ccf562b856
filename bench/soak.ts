// The whole controller as a process, for a long time: 500 changes a second, nodes that are tainted
// and untainted, an API server with faults. A line each minute, and at the end whether memory stayed
// flat, connections were kept in bounds and every pod left that was due.
// node -C @taintmgr/source bench/soak.ts [--minutes 30] [--seed 1]
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  ApiServer,
  createCertificate,
  RealClock,
  seededRandom,
  startHttps,
  type User,
  writeKubeconfig,
} from '@taintmgr/sim-cluster';
import { Churn } from './soak-churn.ts';
import type { Reading } from './soak-probe.ts';

const minuteMs = 60_000;
const readingMs = 10_000;
const token = 'soak';
/** After the last fault everything that is due has left within this time. */
const recoveryMs = 60_000;
/** Memory may vary so much between two times that count as equal. */
const heapGrowthMax = 1.1;
const socketGrowthMax = 2;

const program = fileURLToPath(new URL('../apps/controller/src/main.ts', import.meta.url));
const probe = fileURLToPath(new URL('./soak-probe.ts', import.meta.url));

/** The controller's process, with a line to what is preloaded into it. */
class Subject {
  ended: string | null = null;
  /** Its last words. */
  readonly log: string[] = [];
  readonly #child: ChildProcess;
  readonly #line: Duplex;
  readonly #readings: AsyncIterator<string>;

  constructor(kubeconfig: string) {
    const flags = ['-C', '@taintmgr/source', '--expose-gc', '--import', probe, program];
    const own = ['--kubeconfig', kubeconfig, '--secure-port=0', '--logging-format=json'];
    const what = ['--controllers=taint-eviction-controller'];
    this.#child = spawn(process.execPath, [...flags, ...own, ...what], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    const { stderr, stdio } = this.#child;
    const line = stdio[3];
    if (!stderr || !(line instanceof Duplex)) throw new Error('no line to the controller');
    this.#line = line;
    line.on('error', () => {});
    this.#readings = createInterface(line)[Symbol.asyncIterator]();
    createInterface(stderr).on('line', (text) => {
      this.log.push(text);
      if (this.log.length > 20) this.log.shift();
    });
    this.#child.once('close', (code, signal) => {
      this.ended = `code ${code ?? signal}`;
    });
  }

  /** How it is doing; null: it has ended. */
  async read(): Promise<Reading | null> {
    this.#line.write('\n');
    const { done, value } = await this.#readings.next();
    return done ? null : JSON.parse(value);
  }

  async stop(): Promise<void> {
    if (this.ended !== null) return;
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGTERM');
    await closed;
  }
}

async function soak(minutes: number, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const user: User = { name: 'admin', groups: ['system:masters'], rules: [] };
  const tokens = new Map([[token, user]]);
  const api = new ApiServer({ clock: new RealClock(), random, tokens });
  const certificate = createCertificate(Date.now());
  const server = await startHttps({ exchange: api.exchange, certificate });
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-soak-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token });
  const churn = new Churn(api, random);
  const subject = new Subject(kubeconfig);
  const stopChurn = churn.start();
  const readings = await watch(subject, churn, minutes);
  churn.calm();
  const overdue = await settle(churn);
  stopChurn();
  await subject.stop();
  await server.close();
  rmSync(directory, { recursive: true });
  judge(subject, readings, overdue);
}

/** Reads and prints until the time is over or the controller has ended. */
async function watch(subject: Subject, churn: Churn, minutes: number): Promise<Reading[]> {
  const readings: Reading[] = [];
  const start = performance.now();
  let minute = 1;
  while (performance.now() - start < minutes * minuteMs) {
    await wait(readingMs);
    const reading = await subject.read();
    if (reading === null) break;
    readings.push(reading);
    if (performance.now() - start < minute * minuteMs - readingMs / 2) continue;
    print(`minute ${minute}: ${describe(reading)}, ${churn.describe()}`);
    minute += 1;
  }
  return readings;
}

/** Waits for the pods that are due; how many have not left in time. */
async function settle(churn: Churn): Promise<number> {
  const start = performance.now();
  while (churn.overdue() > 0 && performance.now() - start < recoveryMs) await wait(500);
  return churn.overdue();
}

/** The first quarter is for warming up; the second is compared with the last. */
function judge(subject: Subject, readings: readonly Reading[], overdue: number): void {
  const quarter = Math.max(1, Math.floor(readings.length / 4));
  const second = readings.slice(quarter, 2 * quarter);
  const last = readings.slice(-quarter);
  const grown = (of: (reading: Reading) => number): readonly [number, number] => [
    median(second.map(of)),
    median(last.map(of)),
  ];
  const [heapBefore, heapAfter] = grown(({ heapBytes }) => heapBytes);
  const [socketsBefore, socketsAfter] = grown(({ sockets }) => sockets);
  const warnings = readings.at(-1)?.warnings ?? [];
  const crashed = subject.ended !== null && subject.ended !== 'code 0';
  const verdicts: readonly (readonly [name: string, isGood: boolean, what: string])[] = [
    ['memory', heapAfter <= heapBefore * heapGrowthMax, `${mega(heapBefore)}, ${mega(heapAfter)}`],
    [
      'connections',
      socketsAfter <= socketsBefore + socketGrowthMax,
      `${socketsBefore}, ${socketsAfter}`,
    ],
    ['no crash', !crashed, crashed ? `${subject.ended}: ${subject.log.join('\n')}` : 'none'],
    ['no warning', warnings.length === 0, warnings.join('; ') || 'none'],
    ['evicted', overdue === 0, `${overdue} overdue at the end`],
  ];
  for (const [name, isGood, what] of verdicts)
    print(`${isGood ? 'ok  ' : 'FAIL'} ${name}: ${what}`);
  if (verdicts.some(([, isGood]) => !isGood)) process.exitCode = 1;
}

function describe({ heapBytes, rssBytes, sockets, timers, cpuMs }: Reading): string {
  const memory = `heap ${mega(heapBytes)}, resident ${mega(rssBytes)}`;
  return `${memory}, ${sockets} sockets, ${timers} timers, CPU ${(cpuMs / 1000).toFixed(1)} s`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
  },
});
await soak(Number(values.minutes), Number(values.seed));
