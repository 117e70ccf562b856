// The whole controller as a process, for a long time: both controllers, 500 changes a second, nodes
// that are tainted and untainted, policies and pauses that come and go, an API server with faults,
// and a reader of its metrics. --takeover: with takeover in place of the node lifecycle. A line
// each minute, and at the end whether memory stayed flat, connections were kept in bounds, no
// rejection was left unhandled (it ends the process) and every pod left that was due. node -C
// @taintmgr/source tools/workbench/src/bench/soak.ts [--minutes 30] [--seed 1] [--takeover] [--log
// FILE]

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { get } from 'node:https';
import { createInterface } from 'node:readline';
import { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ApiServer, installDefinitions } from '@taintmgr/api-server';
import { freePort } from '@taintmgr/controller/test/harness/free-port.ts';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import {
  type FaultRule,
  type KubeObject,
  node,
  pod,
  type Random,
  seededRandom,
  toleration,
} from '@taintmgr/sim-cluster';
import { noExecute } from './cluster-objects.ts';
import { mega } from './measure.ts';
import { createApi, serveApi } from './served-api.ts';
import type { Reading } from './soak-probe.ts';

const key = 'maintenance';
const nodes = 100;
const pods = 3_000;
const eventsPerSecond = 500;
const beatMs = 20;
const taintEveryMs = 2_000;
/** The number of nodes tainted at once; the first one is untainted. */
const taintedMax = 10;
const faultEveryMs = 5_000;
const downMs = 1_000;
/** A waiting controller sends few requests: the rest of a fault would otherwise pile up. */
const faultMs = 3_000;
/** The greatest delay of a pod's departure without faults. */
const graceMs = 10_000;

/** The faults, each for a few requests and a short time; chosen with equal chance. */
const faults: readonly FaultRule[] = [
  { fault: { kind: 'answer', code: 500 }, times: 20 },
  { fault: { kind: 'answer', code: 429 }, times: 20 },
  { fault: { kind: 'answer', code: 410 }, verbs: ['watch'], times: 1 },
  { fault: { kind: 'refuse' }, times: 10 },
  { fault: { kind: 'lose' }, times: 10 },
  { fault: { kind: 'delay', ms: 200 }, times: 50 },
  { fault: { kind: 'cut', afterMs: 1_000, how: 'reset' }, times: 2 },
  { fault: { kind: 'cut', afterMs: 1_000, how: 'end' }, times: 2 },
  { fault: { kind: 'halfOpen', afterMs: 500 }, verbs: ['watch'], times: 1 },
  { fault: { kind: 'duplicate', chance: 0.5 }, times: 2 },
];

/** A cluster in which something changes all the time; pods that are deleted leave at once. */
class Churn {
  readonly #api: ApiServer;
  readonly #random: Random;
  readonly #tainted: string[] = [];
  readonly #leaving: KubeObject[] = [];
  #names: string[] = [];
  #disarm = (): void => {};
  #isCalm = false;
  #serial = 0;
  #events = 0;
  #evicted = 0;
  #faults = 0;

  constructor(api: ApiServer, random: Random) {
    this.#api = api;
    this.#random = random;
    for (let index = 0; index < nodes; index++) api.create('nodes', node(`n${index}`));
    for (let index = 0; index < pods; index++) this.#createPod();
    api.subscribe(({ resource, type, object }) => {
      this.#events += 1;
      if (resource !== 'pods' || type !== 'MODIFIED') return;
      if (object.metadata.deletionTimestamp !== undefined) this.#leaving.push(object);
    });
  }

  /** Begins; returns the way to end. */
  start(): () => void {
    const timers = [
      setInterval(() => this.#beat(), beatMs),
      setInterval(() => this.#taintNext(), taintEveryMs),
      setInterval(() => this.#fail(), faultEveryMs),
    ];
    return () => {
      for (const timer of timers) clearInterval(timer);
    };
  }

  /** From now on no more nodes are tainted and nothing goes wrong. */
  calm(): void {
    this.#isCalm = true;
    this.#disarm();
    this.#api.faults.down = false;
    this.#api.faults.breakStreams();
  }

  /** The number of pods that should have left a while ago. */
  overdue(): number {
    const latest = Date.now() - graceMs;
    return this.#api.list('pods').filter(({ metadata, spec }) => {
      const [taint] = this.#api.get('nodes', '', spec.nodeName)?.spec.taints ?? [];
      const { tolerationSeconds } = spec.tolerations[0];
      if (!taint) return false;
      const due = Date.parse(taint.timeAdded) + tolerationSeconds * 1000;
      return Math.max(due, Date.parse(metadata.creationTimestamp ?? '')) < latest;
    }).length;
  }

  describe(): string {
    const { length } = this.#api.list('pods');
    return `${this.#events} events, ${this.#evicted} evicted, ${length} pods, ${this.#faults} faults`;
  }

  /** Makes as many changes as are due: most are of a pod's status, some pods come and go. */
  #beat(): void {
    for (const { metadata } of this.#leaving.splice(0)) {
      this.#evicted += 1;
      this.#remove(metadata.name);
    }
    for (let count = 0; count < (eventsPerSecond * beatMs) / 1000; count++) {
      if (this.#names.length < pods) this.#createPod();
      else if (this.#random() < 0.05) this.#remove(this.#anyName());
      else this.#restart(this.#anyName());
    }
  }

  #anyName(): string {
    return this.#names[Math.floor(this.#random() * this.#names.length)] ?? '';
  }

  #createPod(): void {
    const name = `p${this.#serial++}`;
    const seconds = 1 + Math.floor(this.#random() * 5);
    const one = pod('default', name, {
      spec: { nodeName: `n${Math.floor(this.#random() * nodes)}` },
    });
    const tolerations = [toleration(`${key}:NoExecute`, seconds)];
    this.#api.create('pods', { ...one, spec: { ...one.spec, tolerations } });
    this.#names.push(name);
  }

  #remove(name: string): void {
    if (!this.#api.get('pods', 'default', name)) return;
    this.#api.delete('pods', 'default', name, { gracePeriodSeconds: 0 });
    this.#names = this.#names.filter((other) => other !== name);
  }

  #restart(name: string): void {
    const one = this.#api.get('pods', 'default', name);
    if (!one) return;
    const message = `restarted ${this.#serial++} times`;
    this.#api.update('pods', { ...one, status: { ...one.status, message } }, 'status');
  }

  #taintNext(): void {
    if (this.#isCalm) return;
    const name = `n${Math.floor(this.#random() * nodes)}`;
    if (this.#tainted.includes(name)) return;
    this.#tainted.push(name);
    this.#setTaints(name, [noExecute(key)]);
    if (this.#tainted.length > taintedMax) this.#setTaints(this.#tainted.shift() ?? '', []);
  }

  #setTaints(name: string, taints: readonly object[]): void {
    const one = this.#api.get('nodes', '', name);
    if (one) this.#api.update('nodes', { ...one, spec: { ...one.spec, taints: [...taints] } });
  }

  /** Something goes wrong: a server that is away, streams that break, or a fault of the table. */
  #fail(): void {
    if (this.#isCalm) return;
    this.#faults += 1;
    const chance = Math.floor(this.#random() * (faults.length + 2));
    const rule = faults[chance];
    if (rule) {
      this.#disarm = this.#api.faults.add(rule);
      setTimeout(this.#disarm, faultMs);
    } else if (chance === faults.length) this.#api.faults.breakStreams();
    else {
      this.#api.faults.down = true;
      setTimeout(() => {
        this.#api.faults.down = false;
      }, downMs);
    }
  }
}

const apiVersion = 'taintmgr.dev/v1alpha1';
const leaseNamespace = 'kube-node-lease';
const renewMs = 10_000;
const policyMs = 3_000;
/** The number of objects of each kind at once; the first one goes. */
const objectsMax = 5;

/** The labels match no pod of this cluster, so that due pods stay due. */
const matchLabels = { app: 'nobody' };
const kinds = [
  {
    resource: 'evictionpolicies.taintmgr.dev',
    kind: 'EvictionPolicy',
    spec: { priority: 10, match: { podSelector: { matchLabels } }, action: 'Keep' },
  },
  {
    resource: 'evictionpauses.taintmgr.dev',
    kind: 'EvictionPause',
    spec: { reason: 'soak', scope: { nodeSelector: { matchLabels } } },
  },
] as const;

/** Lets the cluster live beside its churn; returns the way to end it. */
async function startLife(api: ApiServer): Promise<() => void> {
  await installDefinitions(api, customResourceDefinitions());
  takeOver(api);
  for (const { metadata } of api.list('nodes')) api.create('leases', lease(metadata.name));
  const policies = new Policies(api);
  const timers = [
    setInterval(() => renew(api), renewMs),
    setInterval(() => policies.next(), policyMs),
  ];
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

/** With takeover the controller decides about pods of such namespaces alone. */
function takeOver(api: ApiServer): void {
  const namespace = api.get('namespaces', '', 'default');
  if (!namespace) return;
  const labels = { ...namespace.metadata.labels, 'taintmgr.dev/takeover': 'enabled' };
  api.update('namespaces', { ...namespace, metadata: { ...namespace.metadata, labels } });
}

class Policies {
  readonly #api: ApiServer;
  readonly #names: string[] = [];
  #serial = 0;

  constructor(api: ApiServer) {
    this.#api = api;
  }

  next(): void {
    const name = `soak-${this.#serial++}`;
    this.#names.push(name);
    const old = this.#names.length > objectsMax ? this.#names.shift() : undefined;
    for (const { resource, kind, spec } of kinds) {
      this.#api.create(resource, { apiVersion, kind, metadata: { name }, spec });
      if (old !== undefined) this.#api.delete(resource, '', old);
    }
  }
}

function renew(api: ApiServer): void {
  for (const one of api.list('leases', leaseNamespace)) {
    api.update('leases', { ...one, spec: { ...one.spec, renewTime: renewTime() } });
  }
}

function lease(name: string): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: leaseNamespace },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: renewTime() },
  };
}

/** To the microsecond, as leases have it. */
function renewTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}

const program = fileURLToPath(new URL('../../../../apps/controller/src/main.ts', import.meta.url));
const probe = fileURLToPath(new URL('./soak-probe.ts', import.meta.url));
const logLinesMax = 20;
const answerMsMax = 10_000;
/** The paths that an operator would ask for. */
const paths = ['/metrics', '/readyz?verbose', '/statusz', '/explainz?node=n1'];

/** The controller's process, with a channel to the module preloaded into it. */
class Subject {
  /** The way it ended; null: it runs. */
  ended: string | null = null;
  /** Its last words. */
  readonly log: string[] = [];
  /** The number of unanswered requests to its server, since it answered the first. */
  unanswered = 0;
  #hasAnswered = false;
  readonly #port: number;
  readonly #child: ChildProcess;
  readonly #line: Duplex;
  readonly #readings: AsyncIterator<string>;

  /**
   * Starts it on a port that is free, with takeover or else with the node lifecycle; `logFile` is where
   * all that it says goes, '' for nowhere.
   */
  static async start(kubeconfig: string, takesOver: boolean, logFile: string): Promise<Subject> {
    return new Subject(kubeconfig, takesOver, await freePort(), logFile);
  }

  constructor(kubeconfig: string, takesOver: boolean, port: number, logFile: string) {
    this.#port = port;
    const measured = ['--expose-gc', '--report-exclude-network', '--import', probe];
    const flags = ['-C', '@taintmgr/source', ...measured, program];
    const served = ['--bind-address=127.0.0.1', `--secure-port=${port}`];
    const open = '--authorization-always-allow-paths=/*';
    const own = ['--kubeconfig', kubeconfig, ...served, open, '--logging-format=json'];
    const what = takesOver
      ? ['--takeover', '--controllers=*,-node-lifecycle-controller']
      : ['--kube-controller-manager-runs=none'];
    this.#child = spawn(process.execPath, [...flags, ...own, ...what], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    const { stderr, stdio } = this.#child;
    const line = stdio[3];
    if (!stderr || !(line instanceof Duplex)) throw new Error('no line to the controller');
    this.#line = line;
    line.on('error', () => {});
    this.#readings = createInterface(line)[Symbol.asyncIterator]();
    if (logFile !== '') stderr.pipe(createWriteStream(logFile));
    createInterface(stderr).on('line', (text) => {
      this.log.push(text);
      if (this.log.length > logLinesMax) this.log.shift();
    });
    this.#child.once('close', (code, signal) => {
      this.ended = `code ${code ?? signal}`;
    });
  }

  /** Asks its server for everything, and then how it is doing; null: it has ended. */
  async read(): Promise<Reading | null> {
    for (const path of paths) {
      const isThere = await isAnswered(this.#port, path);
      if (!isThere && this.#hasAnswered) this.unanswered += 1;
      this.#hasAnswered ||= isThere;
    }
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

/** Asks over a new connection; readyz may say no while the API server is away. */
function isAnswered(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const url = `https://127.0.0.1:${port}${path}`;
    const options = { agent: false, rejectUnauthorized: false, timeout: answerMsMax };
    const request = get(url, options, (response) => {
      const { statusCode = 0 } = response;
      response.resume().once('end', () => resolve([200, 500].includes(statusCode)));
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}

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

/** The slope of the straight line nearest to values read at a steady pace (least squares). */
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
