import { styleText } from 'node:util';
import type { Cluster, KubeObject } from '@taintmgr/sim-cluster';
import { createLogUpdate } from 'log-update';

/** Where a line comes from: the scenario, or the controller. */
export type Voice = 'scenario' | 'controller';

const linesShown = 14;
const refreshMs = 250;

/**
 * Shows the demo: a board of nodes and the last lines on a terminal, plain lines otherwise. Every
 * line stands in the scrollback at the end.
 */
export class Screen {
  readonly #startedAt = Date.now();
  readonly #cluster: Cluster;
  readonly #isLive: boolean;
  readonly #lines: string[] = [];
  readonly #live = createLogUpdate(process.stdout);
  readonly #timer: NodeJS.Timeout | null;
  #isOpen = true;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    // A terminal may not say how large it is: nothing could be shown in place then.
    this.#isLive = process.stdout.isTTY === true && process.stdout.columns > 0;
    this.#timer = this.#isLive ? setInterval(() => this.#draw(), refreshMs) : null;
  }

  line(voice: Voice, text: string): void {
    const time = `+${((Date.now() - this.#startedAt) / 1000).toFixed(1)}s`.padStart(6);
    const line = `${time}  ${voice === 'scenario' ? '» ' : '  '}${text}`;
    this.#lines.push(voice === 'scenario' ? styleText('bold', line) : line);
    if (this.#isLive) this.#draw();
    else process.stdout.write(`${line}\n`);
  }

  /** Leaves all lines behind, without the board. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#timer) clearInterval(this.#timer);
    if (!this.#isLive) return;
    this.#live.clear();
    this.#live.done();
    process.stdout.write(`${this.#lines.join('\n')}\n`);
  }

  #draw(): void {
    const nodes = this.#cluster.api.list('nodes').map((node) => boardLine(this.#cluster, node));
    this.#live([...nodes, '', ...this.#lines.slice(-linesShown)].join('\n'));
  }
}

/** One letter for each pod of a node, and the taints. */
function boardLine(cluster: Cluster, node: KubeObject): string {
  const { name } = node.metadata;
  const pods = cluster.api.list('pods').filter(({ spec }) => spec.nodeName === name);
  const marks = pods.map((pod) => {
    const app = pod.metadata.labels?.app ?? '?';
    return pod.metadata.deletionTimestamp ? styleText('dim', `(${app})`) : app;
  });
  const taints: readonly { key: string; effect: string }[] = node.spec.taints ?? [];
  const named = taints.filter(({ effect }) => effect === 'NoExecute').map(({ key }) => key);
  const taint = named.length > 0 ? styleText('yellow', `${named.join(', ')}:NoExecute`) : '';
  return `${name}  ${taint === '' ? ' ' : '!'}  ${marks.join(' ')}  ${taint}`;
}
