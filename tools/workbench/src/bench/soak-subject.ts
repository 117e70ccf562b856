// The controller's process that bench/soak.ts watches.
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { get } from 'node:https';
import { createInterface } from 'node:readline';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { freePort } from '@taintmgr/controller/test/harness/free-port.ts';
import type { Reading } from './soak-probe.ts';

const program = fileURLToPath(new URL('../../../../apps/controller/src/main.ts', import.meta.url));
const probe = fileURLToPath(new URL('./soak-probe.ts', import.meta.url));
const logLinesMax = 20;
const answerMsMax = 10_000;
/** What somebody who looks after it would ask for. */
const paths = ['/metrics', '/readyz?verbose', '/statusz', '/explainz?node=n1'];

/** The controller's process, with a line to what is preloaded into it. */
export class Subject {
  /** How it ended; null: it runs. */
  ended: string | null = null;
  /** Its last words. */
  readonly log: string[] = [];
  /** How many of our requests to its server came to nothing, since it answered the first. */
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

/** Over a connection of its own; readyz may say no while the API server is away. */
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
