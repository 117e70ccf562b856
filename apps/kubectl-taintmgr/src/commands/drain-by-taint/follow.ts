// Follows a NodeDrain until it has ended, and says how it goes on.
import { setTimeout } from 'node:timers/promises';
import { formatDuration, type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import { ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import type { NodeDrainStatus } from '@taintmgr/k8s-adapter/kinds';
import type { Connection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type LiveBlock, type Output, warn } from '../../cli/output.ts';
import {
  type DrainControllerFault,
  drainControllerFault,
  type NodeDrainObject,
  nodeDrainReference,
  readDrainControllers,
  readNodeDrain,
} from '../../cluster/node-drains.ts';
import { count } from '../../render/count.ts';
import { printable } from '../../render/printable.ts';
import { stayingOf } from '../../report/words.ts';

const lookEveryMs: Millis = 1_000;
/** Every so many looks, the controller that carries the drain out is looked for too. */
const looksBetween = 10;

export interface Follower {
  readonly connection: Connection;
  readonly output: Output;
  /** Says what was done, in a line of kubectl's kind. */
  readonly say: (line: string) => void;
  /** Null where nobody watches. */
  readonly live: LiveBlock | null;
  readonly interrupt: AbortSignal;
}

/** The end of a drain, and its object as it was last. */
export interface Followed {
  readonly code: ExitCode;
  readonly last: NodeDrainObject;
  /** True where somebody has deleted the drain. */
  readonly isGone: boolean;
}

/** Says what is new about a drain, once a second, until it has ended or Ctrl-C comes. */
export async function followDrain(follower: Follower, made: NodeDrainObject): Promise<Followed> {
  const { interrupt, live, output, say } = follower;
  const close = (): void => live?.clear();
  const news = new DrainNews({
    say: (line) => {
      close();
      say(line);
    },
    warn: (text) => {
      close();
      warn(output, text);
    },
    live,
    err: output.err,
  });
  let last = made;
  try {
    for (let looks = 1; ; looks++) {
      await setTimeout(lookEveryMs, undefined, { signal: interrupt }).catch(() => undefined);
      const object = await look(follower, news, made, looks);
      if (object === 'gone') {
        news.gone(nodeDrainReference(made.metadata.name));
        return { code: exitCode.error, last, isGone: true };
      }
      if (object === null) continue;
      last = object;
      news.show(object, Date.now());
      const code = endOf(object);
      if (code !== null) {
        news.ended(object);
        return { code, last, isGone: false };
      }
    }
  } catch (error) {
    if (interrupt.aborted && error === interrupt.reason) {
      return { code: exitCode.interrupted, last, isGone: false };
    }
    throw error;
  } finally {
    close();
  }
}

/** The object; `gone`: it, or another has its name; null: the API server did not say. */
async function look(
  { connection: { client } }: Follower,
  news: DrainNews,
  { metadata: { name, uid } }: NodeDrainObject,
  looks: number,
): Promise<NodeDrainObject | 'gone' | null> {
  try {
    const object = await readNodeDrain(client, name);
    if (looks % looksBetween === 0) {
      news.controllers(drainControllerFault(await readDrainControllers(client)));
    }
    news.reconnected();
    return object?.metadata.uid === uid ? object : 'gone';
  } catch (error) {
    const status = error instanceof ApiError ? (error.failure.status ?? 0) : 0;
    const isOutage = error instanceof ConnectionError || status >= 500 || status === 429;
    if (!isOutage || !(error instanceof Error)) throw error;
    news.disconnected(error.message);
    return null;
  }
}

/** The exit code of a drain that has ended; null: the drain goes on. */
function endOf({ metadata, status }: NodeDrainObject): ExitCode | null {
  if (!status || status.observedGeneration !== metadata.generation) return null;
  switch (status.phase) {
    case 'Drained':
      return exitCode.done;
    case 'TimedOut':
      return exitCode.timeout;
    case 'Failed': {
      const whys = (status.nodeStates ?? []).flatMap(({ phase, reason }) =>
        phase === 'Failed' ? (reason ?? '') : [],
      );
      const isBlocked = whys.every((why) => ['Blocked', 'NotBegun', 'TimedOut'].includes(why));
      return isBlocked ? exitCode.blocked : exitCode.error;
    }
    default:
      return null;
  }
}

const periodMs = 30_000;
const namesMax = 4;

/** The audience of the news. */
interface NewsAudience {
  readonly say: (line: string) => void;
  readonly warn: (text: string) => void;
  readonly err: (line: string) => void;
  readonly live: LiveBlock | null;
}

type NodeState = NonNullable<NodeDrainStatus['nodeStates']>[number];
type PodState = NonNullable<NodeDrainStatus['pods']>[number];

/** Tells each thing once: nodes that begin and end, what holds them and their pods, and the counts. */
class DrainNews {
  readonly #audience: NewsAudience;
  /** The last words about a node or a pod. */
  readonly #said = new Map<string, string>();
  #shownAt: Instant | null = null;
  #trouble: string | null = null;
  #nobody: DrainControllerFault | null = null;

  constructor(audience: NewsAudience) {
    this.#audience = audience;
  }

  /** The object as it is now. */
  show({ metadata, status }: NodeDrainObject, now: Instant): void {
    if (metadata.deletionTimestamp !== undefined)
      this.#warnOnce('', 'it was deleted: it is undone');
    if (!status) return;
    for (const node of status.nodeStates ?? []) this.#node(node);
    for (const pod of status.pods ?? []) this.#pod(pod);
    this.#counts(status, now);
  }

  ended(drain: NodeDrainObject): void {
    const { metadata, status } = drain;
    const {
      phase,
      nodesDrained = 0,
      podsGone = 0,
      podsLeft = 0,
      startedAt,
      endedAt,
    } = status ?? {};
    const time = lengthText(startedAt, endedAt);
    const gone = count(podsGone, 'pod');
    if (phase === 'Drained') {
      const how = `${count(nodesDrained, 'node')}, ${gone}${time === '' ? '' : `, ${time}`}`;
      this.#audience.say(`${nodeDrainReference(metadata.name)} drained (${how})`);
      const stay = stayingOf(drain);
      if (stay !== null) this.#audience.warn(printable(stay));
      return;
    }
    const ending = phase === 'TimedOut' ? 'not drained in time' : 'not drained';
    this.#audience.err(
      `error: ${ending}, ${podsGone} of ${count(podsGone + podsLeft, 'pod')} gone`,
    );
  }

  gone(reference: string): void {
    this.#audience.err(`error: ${reference} was deleted, and what it had set is undone`);
  }

  /** The reason why nobody carries the drain out any more; null: somebody does. */
  controllers(fault: DrainControllerFault | null): void {
    const isNews = (fault === null) !== (this.#nobody === null);
    this.#nobody = fault;
    if (!isNews) return;
    if (!fault) this.#audience.err('taintmgr-controller goes on with the drain');
    else this.#audience.warn(`${fault.why}, so the drain stands still: ${fault.advice}`);
  }

  disconnected(message: string): void {
    if (this.#trouble === null) {
      this.#audience.warn(`lost connection to the API server, retrying: ${printable(message)}`);
    }
    this.#trouble = message;
  }

  reconnected(): void {
    if (this.#trouble !== null) this.#audience.err('reconnected to the API server');
    this.#trouble = null;
  }

  #node({
    name,
    phase,
    reason = '',
    message = '',
    startedAt,
    endedAt,
    podsGone = 0,
  }: NodeState): void {
    const key = `node/${name}`;
    const before = this.#said.get(key);
    switch (phase) {
      case 'Draining':
        if (before === undefined) this.#say(key, 'begun', `node/${name} tainted`);
        return;
      case 'Drained': {
        if (before === undefined) this.#say(key, 'begun', `node/${name} tainted`);
        const time = lengthText(startedAt, endedAt);
        const how = `${count(podsGone, 'pod')}${time === '' ? '' : `, ${time}`}`;
        this.#say(key, 'drained', `node/${name} drained (${how})`);
        return;
      }
      case 'Held':
        this.#warnOnce(`held ${key}`, `node ${name} waits: ${message || reason}`);
        return;
      case 'Failed':
        this.#warnOnce(`failed ${key}`, `node ${name} was not drained: ${message || reason}`);
        return;
      case 'Gone':
        this.#warnOnce(`gone ${key}`, `node ${name} was deleted`);
    }
  }

  #pod({ node, pod, verdict, message }: PodState): void {
    if (verdict === undefined || message === undefined) return;
    this.#warnOnce(`pod ${pod} ${node}`, `${pod} on ${node} is blocked: ${message}`);
  }

  #counts(status: NodeDrainStatus, now: Instant): void {
    const { live, err } = this.#audience;
    const line = countsLine(status, now);
    if (live) {
      live.show(line);
      return;
    }
    this.#shownAt ??= now;
    if (now - this.#shownAt < periodMs) return;
    this.#shownAt = now;
    err(line);
  }

  #say(key: string, what: string, line: string): void {
    if (this.#said.get(key) === what) return;
    this.#said.set(key, what);
    this.#audience.say(printable(line));
  }

  #warnOnce(key: string, text: string): void {
    if (this.#said.get(key) === text) return;
    this.#said.set(key, text);
    this.#audience.warn(printable(text));
  }
}

/** `Running: 1 of 3 nodes drained, 4 of 9 pods gone; on blue-2; 1 blocked; about 20s left` */
function countsLine(status: NodeDrainStatus, now: Instant): string {
  const { phase = 'Pending', nodes = 0, nodesDrained = 0, podsGone = 0, podsLeft = 0 } = status;
  const begun = (status.nodeStates ?? []).filter((node) => node.phase === 'Draining');
  const names = begun.slice(0, namesMax).map(({ name }) => name);
  const more = begun.length > namesMax ? [`${begun.length - namesMax} more`] : [];
  const blocked = (status.pods ?? []).filter(({ verdict }) => verdict !== undefined).length;
  const end = parseTime(status.expectedEnd ?? '');
  const parts = [
    `${nodesDrained} of ${count(nodes, 'node')} drained, ${podsGone} of ${podsGone + podsLeft} pods gone`,
    ...(names.length === 0 ? [] : [`on ${[...names, ...more].join(', ')}`]),
    ...(blocked === 0 ? [] : [`${blocked} blocked`]),
    ...(end === null || end <= now ? [] : [`about ${formatDuration(end - now)} left`]),
  ];
  return printable(`${phase}: ${parts.join('; ')}`);
}

/** `12s` between two times that the API server keeps; '' where one is missing. */
function lengthText(from: string | undefined, to: string | undefined): string {
  const [start, end] = [from, to].map((text) => parseTime(text ?? ''));
  return start == null || end == null ? '' : formatDuration(end - start);
}
