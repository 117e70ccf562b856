// The whole controller as a process, for a long time: both controllers, 500 changes a second, nodes that are
// tainted and untainted, policies and pauses that come and go, an API server with faults, and somebody
// who reads its metrics. --takeover: with takeover in place of the node lifecycle. A line each minute,
// and at the end whether memory stayed flat, connections were kept in bounds, no rejection was left
// unhandled (it ends the process) and every pod left that was due.
// node -C @taintmgr/source tools/workbench/src/bench/soak.ts [--minutes 30] [--seed 1] [--takeover] [--log FILE]
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seededRandom } from '@taintmgr/sim-cluster';
import { mega } from './measure.ts';
import { createApi, serveApi } from './served-api.ts';
import { Churn } from './soak-churn.ts';
import { startLife } from './soak-life.ts';
import type { Reading } from './soak-probe.ts';
import { Subject } from './soak-subject.ts';

const minuteMs = 60_000;
const readingMs = 10_000;
/** After the last fault everything that is due has left within this time. */
const recoveryMs = 60_000;
/** Memory may vary so much between two times that count as equal. */
const memoryGrowthMax = 1.1;
const socketGrowthMax = 2;

interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly takesOver: boolean;
  readonly logFile: string;
}

async function soak({ minutes, seed, takesOver, logFile }: Options): Promise<void> {
  const random = seededRandom(seed);
  const api = createApi({ random });
  const { kubeconfig, close } = await serveApi(api);
  const churn = new Churn(api, random);
  const endLife = await startLife(api);
  const subject = await Subject.start(kubeconfig, takesOver, logFile);
  const stopChurn = churn.start();
  const readings = await watch(subject, churn, minutes);
  churn.calm();
  const overdue = await rest(churn);
  stopChurn();
  endLife();
  await subject.stop();
  await close();
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
async function rest(churn: Churn): Promise<number> {
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
  const [rssBefore, rssAfter] = grown(({ rssBytes }) => rssBytes);
  const [socketsBefore, socketsAfter] = grown(({ sockets }) => sockets);
  const slope = slopePerHour(readings.slice(quarter).map(({ heapBytes }) => heapBytes));
  const heap = `${mega(heapBefore, 1)}, ${mega(heapAfter, 1)}, ${mega(slope, 1)} an hour`;
  const warnings = readings.at(-1)?.warnings ?? [];
  const crashed = subject.ended !== null && subject.ended !== 'code 0';
  const crash = crashed ? `${subject.ended}: ${subject.log.join('\n')}` : 'none';
  const verdicts: readonly (readonly [name: string, isGood: boolean, what: string])[] = [
    ['heap', heapAfter <= heapBefore * memoryGrowthMax, heap],
    [
      'resident',
      rssAfter <= rssBefore * memoryGrowthMax,
      `${mega(rssBefore, 1)}, ${mega(rssAfter, 1)}`,
    ],
    [
      'connections',
      socketsBefore > 0 && socketsAfter <= socketsBefore + socketGrowthMax,
      `${socketsBefore}, ${socketsAfter}`,
    ],
    ['no crash, no unhandled rejection', !crashed, crash],
    ['no warning', warnings.length === 0, warnings.join('; ') || 'none'],
    ['served', subject.unanswered === 0, `${subject.unanswered} requests without an answer`],
    ['evicted', overdue === 0, `${overdue} overdue at the end`],
  ];
  for (const [name, isGood, what] of verdicts)
    print(`${isGood ? 'ok  ' : 'FAIL'} ${name}: ${what}`);
  if (verdicts.some(([, isGood]) => !isGood)) process.exitCode = 1;
}

function describe({ heapBytes, rssBytes, sockets, cpuMs }: Reading): string {
  const memory = `heap ${mega(heapBytes, 1)}, resident ${mega(rssBytes, 1)}`;
  return `${memory}, ${sockets} sockets, CPU ${(cpuMs / 1000).toFixed(1)} s`;
}

/** Of the straight line that is nearest to values read at a steady pace (least squares). */
function slopePerHour(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const moments = values.map((value, index) => (index - middle) * value);
  const squares = values.map((_, index) => (index - middle) ** 2);
  return (sum(moments) / sum(squares)) * ((60 * minuteMs) / readingMs);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    takeover: { type: 'boolean', default: false },
    log: { type: 'string', default: '' },
  },
});
const { minutes, seed, takeover, log } = values;
await soak({
  minutes: Number(minutes),
  seed: Number(seed),
  takesOver: takeover,
  logFile: log,
});
