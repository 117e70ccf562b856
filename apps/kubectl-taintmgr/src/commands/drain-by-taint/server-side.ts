// `drain-by-taint --server-side`: makes a NodeDrain, follows it until it has ended, and reports its progress.
import { setTimeout } from 'node:timers/promises';
import { formatTaint } from '@taintmgr/core';
import { formatDuration, type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import { ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import { count, printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { stayingOf } from '@taintmgr/k8s-adapter/explain';
import type { NodeDrainStatus } from '@taintmgr/k8s-adapter/kinds';
import {
  ClusterReader,
  createNodeDrain,
  type DrainControllerFault,
  drainControllerFault,
  type NodeDrainObject,
  nodeDrainReference,
  readDrainControllers,
  readNodeDrain,
  surveyNodes,
} from '@taintmgr/k8s-adapter/survey';
import { type Connection, withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type Output, warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { printAnswer, readFormat } from '../../render/printer.ts';
import { type DrainFlags, flagText } from './flags.ts';
import { Announcer, type Audience, type DrainState } from './progress.ts';
import { overlapFault, refuseNodeName } from './refusals.ts';
import { type DrainRequest, nobodyMatches, readRequest, readTargets } from './settings.ts';

const dryRunTexts = { none: '', server: ' (server dry run)', client: ' (dry run)' } as const;

/** Makes the object, and follows it unless --detach is given. */
export async function runOnServer(
  invocation: Invocation<DrainFlags>,
  taintText: string | undefined,
  nodeNames: readonly string[],
): Promise<ExitCode> {
  const { flags, output } = invocation;
  refuseLocalFlags(flags);
  const request = await readRequest(invocation, taintText, nodeNames);
  const { dryRun, manifest } = request;
  const { name } = request.drain;
  const format = await readFormat(flags.output);
  const isTable = format.kind === 'table';
  const print = async (object: object): Promise<void> => {
    if (isTable) return;
    const names = [nodeDrainReference(name)];
    const answer = { document: object, rows: [object], names, table: () => '' };
    output.write(await printAnswer(answer, format, flags.headers !== false, output));
  };
  const say = isTable ? output.out : output.err;
  return await withConnection(invocation, async (connection) => {
    const hasNodes = await checkNodes(connection, taintText, request, output);
    if (!hasNodes) return exitCode.done;
    if (dryRun !== 'client') await refuseInTheWay(connection, request, output);
    const object =
      dryRun === 'client'
        ? manifest
        : await createNodeDrain(connection.client, manifest, dryRun === 'server');
    say(`${nodeDrainReference(name)} created${dryRunTexts[dryRun]}`);
    if (dryRun !== 'none' || flags.detach) {
      await print(object);
      if (dryRun === 'none') sayHints(output, name);
      return exitCode.done;
    }
    const { code, last, isGone } = await followDrain(
      { connection, output, say, live: await output.live(), interrupt: invocation.interrupt },
      object as NodeDrainObject,
    );
    await print(last);
    if (code === exitCode.interrupted) {
      output.err(`interrupted; ${nodeDrainReference(name)} continues`);
      sayHints(output, name);
    } else if (!isGone) {
      output.err(undoHint(name));
    }
    return code;
  });
}

function sayHints(output: Output, name: string): void {
  output.err(`hint: to follow: kubectl get nodedrain ${name} -w`);
  // Drained, Failed or TimedOut: the condition Drained is waited for in vain where pods stay.
  const isOver = "--for=jsonpath='{.status.endedAt}'";
  output.err(`hint: to wait for its end: kubectl wait ${isOver} nodedrain/${name} --timeout=1h`);
  output.err(undoHint(name));
}

function undoHint(name: string): string {
  return `hint: to undo: kubectl taintmgr undo ${name}`;
}

/** True where there are nodes to drain, as far as we may see them. Throws ApiError for one that is not there. */
async function checkNodes(
  { client }: Connection,
  taintText: string | undefined,
  request: DrainRequest,
  output: Output,
): Promise<boolean> {
  const { flags, drain } = request;
  // Such a drain waits for the first node that matches.
  if (drain.spec.laterNodes === 'Drain') return true;
  const reader = new ClusterReader(client, flags.chunkSize);
  const found = await reader.ifAllowed(async () => {
    if (taintText !== undefined) await refuseNodeName(reader, taintText);
    return await readTargets(reader, request);
  });
  if (found === null || found.length > 0) return true;
  output.err(nobodyMatches(flags));
  return false;
}

/**
 * Throws UsageError where no controller would carry the drain out, or another one would evict for its taint.
 */
async function refuseInTheWay(
  { client }: Connection,
  { taint, budgets, flags }: DrainRequest,
  output: Output,
): Promise<void> {
  const controllers = await readDrainControllers(client);
  if (controllers === null) {
    warn(
      output,
      'no permission to list taintmanagers: whether a controller carries out NodeDrains is unknown',
    );
  }
  const nobody = drainControllerFault(controllers);
  if (nobody) {
    const { why, advice } = nobody;
    const instead = 'or drain from here, without --server-side';
    throw new UsageError(
      `${why}, so no controller would carry out a NodeDrain: ${advice}, ${instead}; nothing was changed`,
    );
  }
  if (taint.effect !== 'NoExecute') return;
  const whole = { ...taint, effect: taint.effect, timeAdded: null };
  const overlap = overlapFault(whole, await surveyNodes(new ClusterReader(client), []), budgets);
  if (overlap === null) return;
  if (!flags.allowOverlap && budgets.kind !== 'ignore') throw new UsageError(overlap);
  warn(output, `${formatTaint(whole)}: ${overlap}`);
}

/** Flags that only a drain by this command has, and what to do instead. */
const localFlags = [
  ['podSelector', 'an EvictionPolicy with action Keep leaves pods where they are'],
  ['once', '--timeout limits how long a node may take'],
  ['ignorePolicies', 'a NodeDrain follows the policies of the cluster'],
  ['policy', 'a NodeDrain follows the policies of the cluster'],
] as const satisfies readonly (readonly [flag: keyof DrainFlags, instead: string])[];

/** Throws UsageError for a flag that a NodeDrain has no field for. */
function refuseLocalFlags(flags: DrainFlags): void {
  for (const [flag, instead] of localFlags) {
    const value = flags[flag];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined;
    if (!isGiven) continue;
    throw new UsageError(`${flagText(flag)} and --server-side exclude each other: ${instead}`);
  }
}

const lookEveryMs: Millis = 1_000;
/** The number of looks between two checks of the controller that carries the drain out. */
const looksBetween = 10;

interface Follower extends Audience {
  readonly connection: Connection;
  readonly interrupt: AbortSignal;
}

/** The end of a drain, and its object as it was last. */
interface Followed {
  readonly code: ExitCode;
  readonly last: NodeDrainObject;
  /** True where the drain was deleted. */
  readonly isGone: boolean;
}

/** Reports the news of a drain, once a second, until it has ended or Ctrl-C comes. */
async function followDrain(follower: Follower, made: NodeDrainObject): Promise<Followed> {
  const { interrupt } = follower;
  const news = new DrainNews(follower, Date.now());
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
    news.close();
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

/** The exit code of a drain that has ended; null: the drain continues. */
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

const namesMax = 4;

type NodeState = NonNullable<NodeDrainStatus['nodeStates']>[number];
type PodState = NonNullable<NodeDrainStatus['pods']>[number];

/** Tells each thing once: nodes that begin and end, what holds them and their pods, and the counts. */
class DrainNews extends Announcer {
  #hasTrouble = false;
  #nobody: DrainControllerFault | null = null;

  /** The object as it is now. */
  show({ metadata, status }: NodeDrainObject, now: Instant): void {
    if (metadata.deletionTimestamp !== undefined)
      this.#warnOnce('', 'it was deleted: it is undone');
    if (!status) return;
    for (const node of status.nodeStates ?? []) this.#node(node);
    for (const pod of status.pods ?? []) this.#pod(pod);
    this.count(now, () => stateOfStatus(status, now));
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
      this.say(`${nodeDrainReference(metadata.name)} drained (${how})`);
      const stay = stayingOf(drain);
      if (stay !== null) this.warn(printable(stay));
      return;
    }
    const ending = phase === 'TimedOut' ? 'not drained in time' : 'not drained';
    this.err(`error: ${ending}, ${podsGone} of ${count(podsGone + podsLeft, 'pod')} gone`);
  }

  gone(reference: string): void {
    this.err(`error: ${reference} was deleted, and what it had set is undone`);
  }

  /** The reason why no controller carries the drain out any more; null: one does. */
  controllers(fault: DrainControllerFault | null): void {
    const isNews = (fault === null) !== (this.#nobody === null);
    this.#nobody = fault;
    if (!isNews) return;
    if (!fault) this.err('taintmgr-controller continues the drain');
    else this.warn(`${fault.why}, so the drain makes no progress: ${fault.advice}`);
  }

  disconnected(message: string): void {
    const isNews = !this.#hasTrouble;
    this.#hasTrouble = true;
    if (isNews) this.warn(`lost connection to the API server, retrying: ${printable(message)}`);
  }

  reconnected(): void {
    if (this.#hasTrouble) this.err('reconnected to the API server');
    this.#hasTrouble = false;
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
    switch (phase) {
      case 'Draining':
        this.#begun(name);
        return;
      case 'Drained': {
        this.#begun(name);
        const time = lengthText(startedAt, endedAt);
        const how = `${count(podsGone, 'pod')}${time === '' ? '' : `, ${time}`}`;
        this.#sayOnce(`drained ${key}`, '', `node/${name} drained (${how})`);
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

  #begun(name: string): void {
    this.#sayOnce(`node/${name}`, '', `node/${name} tainted`);
  }

  #pod({ node, pod, verdict, message }: PodState): void {
    if (verdict === undefined || message === undefined) return;
    this.#warnOnce(`pod ${pod} ${node}`, `${pod} on ${node} is blocked: ${message}`);
  }

  #sayOnce(key: string, what: string, line: string): void {
    if (this.isNews(key, what)) this.say(printable(line));
  }

  #warnOnce(key: string, text: string): void {
    if (this.isNews(key, text)) this.warn(printable(text));
  }
}

/** The state of a NodeDrain, as its status says. */
function stateOfStatus(status: NodeDrainStatus, now: Instant): DrainState {
  const { phase = 'Pending', nodes = 0, nodesDrained = 0, podsGone = 0, podsLeft = 0 } = status;
  const begun = (status.nodeStates ?? []).filter((node) => node.phase === 'Draining');
  const names = begun.slice(0, namesMax).map(({ name }) => name);
  const more = begun.length > namesMax ? [`${begun.length - namesMax} more`] : [];
  const blocked = (status.pods ?? []).filter(({ verdict }) => verdict !== undefined).length;
  const end = parseTime(status.expectedEnd ?? '');
  const total = podsGone + podsLeft;
  const counts = `${nodesDrained} of ${count(nodes, 'node')}, ${podsGone} of ${count(total, 'pod')} gone`;
  const isBlocked = blocked > 0 && end === null;
  const unknown = isBlocked ? `end unknown: ${count(blocked, 'pod')} blocked` : '';
  const left = end === null || end <= now ? unknown : `done in about ${formatDuration(end - now)}`;
  return {
    share: total === 0 ? nodesDrained / Math.max(1, nodes) : podsGone / total,
    counts: printable(`${phase}: ${counts}`),
    on: printable(names.length === 0 ? '' : `on ${[...names, ...more].join(', ')}`),
    parts: blocked === 0 ? [] : [[`${blocked} blocked`, 'urgent']],
    end: left,
  };
}

/** `12s` between two times that the API server keeps; '' where one is missing. */
function lengthText(from: string | undefined, to: string | undefined): string {
  const [start, end] = [from, to].map((text) => parseTime(text ?? ''));
  return start == null || end == null ? '' : formatDuration(end - start);
}
