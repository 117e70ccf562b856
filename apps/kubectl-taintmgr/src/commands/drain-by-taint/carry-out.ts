// Carries a drain out: the engine with this one NodeDrain, behind the controller's own loop.
import { type Command, type Config, createEngine, type Event } from '@taintmgr/core';
import {
  type DoneBefore,
  type DrainPlan,
  drainStaleMs,
  looksAtAllPods,
  type SoloDrainConfig,
  type WriteDrainNode,
} from '@taintmgr/core/drain';
import type { NodeDrain } from '@taintmgr/core/policy';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import {
  ApiClient,
  ApiError,
  ConnectionError,
  drive,
  Loop,
  type LoopOptions,
  type Machine,
  type Notice,
} from '@taintmgr/k8s-adapter';
import { printable, shellWord } from '@taintmgr/k8s-adapter/command-line';
import { ending, isNamed, type NodeChanges } from '@taintmgr/k8s-adapter/drain';
import { ClusterReader } from '@taintmgr/k8s-adapter/survey';
import { warn } from '../../cli/output.ts';
import { changeNode, fieldManager, isGone, undoOnNodes } from '../../cluster/change-node.ts';
import { type DrainReport, drainReport, outcomes } from './documents.ts';
import { changeText, type Drain } from './drain.ts';
import { renderLeft, type Verdicts, verdictsOf } from './failure-report.ts';
import {
  type DrainEnd,
  type DrainResult,
  type DrainSight,
  isBegun,
  isNotDrained,
  keptText,
  resultOf,
  stopHint,
  stopText,
} from './outcome.ts';
import {
  alreadySaid,
  blockerLines,
  daemonSetLine,
  needActionOf,
  unreturningLine,
} from './plan-table.ts';
import { Progress, summaryText } from './progress.ts';
import { effectLine } from './settings.ts';

/** The longest wait for a drain's last report. */
const lastWordsMsMax = 2_000;

/** Carries out a drain: cordons the nodes, taints each in order, evicts its pods, and reports the end. */
export async function carryOut(drain: Drain, plan: DrainPlan): Promise<DrainReport> {
  const { output, say } = drain;
  const daemonSets = daemonSetLine(plan);
  for (const line of blockerLines(plan)) warn(output, line);
  if (daemonSets !== null) warn(output, daemonSets);
  for (const line of unreturningLine(plan)) warn(output, printable(line));
  const audience = { output, say, live: await output.live() };
  const progress = new Progress(audience, Date.now(), alreadySaid(plan), needActionOf(plan));
  const end = await runDrain(drain, progress);
  await endOnOpenNodes(drain, end);
  const summary =
    end.result === 'Drained' && summaryText(end.machine, Date.now() - drain.startedAt);
  if (summary) say(summary);
  const verdicts: Verdicts = end.result === 'Drained' ? new Map() : await reportLeft(drain, end);
  const effect = effectLine(drain.settings);
  if (effect !== null) output.err(effect);
  const id = await offerUndo(drain, end);
  const message = end.machine.stop ? stopText(end.machine.stop) : end.refusal;
  return drainReport(drain, end.result, outcomes(end.machine, end.changes, verdicts), {
    id,
    message,
  });
}

/**
 * Rolls back where that is wanted, and says how to undo the rest; its name, null: nothing is left. The
 * remains are left to the next run where that continues the drain.
 */
async function offerUndo(
  drain: Drain,
  { result, machine, changes }: DrainEnd,
): Promise<string | null> {
  const { wanted, output, settings } = drain;
  if (machine.isTakenOver) return wanted.id;
  const isFailure = result !== 'Drained' && result !== 'Interrupted';
  const nodes = settings.drain.spec.onFailure === 'RollBack' && isFailure ? machine.nodes() : [];
  const failed = nodes.filter(isNotDrained).map(({ name }) => name);
  const left = await rollBack(drain, failed);
  const isRolledBack = (name: string): boolean => failed.includes(name) && !left.includes(name);
  const marked = [...changes].filter(([name, { id }]) => id !== null && !isRolledBack(name));
  if (!(await isMarked(drain, new Map(marked).keys()))) return null;
  const { evictor } = drain.survey;
  if (result !== 'Drained' && evictor.heedsDrains && wanted.taint.effect === 'NoExecute') {
    const time = formatDuration(drainStaleMs);
    output.err(`hint: taintmgr-controller evicts what is left ${time} from now, unless you undo`);
  }
  hintUndo(drain);
  return wanted.id;
}

/**
 * True while a node has a mark of the drain, as far as the API server says: another user may have undone it.
 */
async function isMarked(drain: Drain, names: Iterable<string>): Promise<boolean> {
  const client = lastWordsClient(drain.connection);
  const isOurs = isNamed(drain.wanted.id);
  for (const name of names) {
    try {
      const isOn = await changeNode(client, name, ({ marks }) => {
        return { kind: 'changed', patch: null, result: marks.some(isOurs) };
      });
      if (isOn) return true;
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
      if (!isGone(error)) return true;
    }
  }
  return false;
}

/**
 * Shows on nodes that were begun that the drain has ended, so that it can be continued at once. After
 * Ctrl-C the connection's own client sends nothing more.
 */
async function endOnOpenNodes({ connection, wanted }: Drain, { machine }: DrainEnd): Promise<void> {
  const client = lastWordsClient(connection);
  const open = machine.nodes().filter(({ phase }) => isBegun(phase));
  await Promise.all(
    open.map(async ({ name }) => {
      try {
        await changeNode(client, name, ending(wanted, false));
      } catch (error) {
        // Its mark shows it too, by not being renewed.
        if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
      }
    }),
  );
}

function lastWordsClient({ transport, cluster: { access } }: Drain['connection']): ApiClient {
  return new ApiClient({ transport, server: access.server, requestTimeout: lastWordsMsMax });
}

async function reportLeft(
  { connection, survey, settings, output }: Drain,
  end: DrainEnd,
): Promise<Verdicts> {
  const { machine } = end;
  const budgets = (await budgetsNow(connection)) ?? survey.budgets;
  const pods = new Map(survey.pods.map(({ pod }) => [pod.uid, pod] as const));
  const verdicts = verdictsOf(machine, budgets, (uid) => pods.get(uid) ?? null);
  output.err(renderLeft(end, verdicts, { width: output.widthErr, paint: output.paintErr }));
  if (machine.stop) output.err(stopHint(machine.stop, settings.taint));
  return verdicts;
}

/** The current budgets; null where they cannot be read, or the user interrupts the wait. */
async function budgetsNow({ client }: Drain['connection']): ReturnType<ClusterReader['budgets']> {
  try {
    return await new ClusterReader(client).budgets();
  } catch {
    // The report is worth more than why its last detail is missing.
    return null;
  }
}

/**
 * Takes back what this drain has set on nodes; the names of those where that failed. A rollback that has
 * begun continues after Ctrl-C; a second Ctrl-C ends the process.
 */
async function rollBack(drain: Drain, names: Iterable<string>): Promise<readonly string[]> {
  const { connection, wanted, output, say } = drain;
  const { transport, cluster } = connection;
  const { access, requestTimeout } = cluster;
  const client = new ApiClient({ transport, server: access.server, requestTimeout });
  const options = { say, warn: (text: string) => warn(output, text) };
  return await undoOnNodes(client, names, isNamed(wanted.id), options);
}

/** Says how to take it back by hand. The name may be that of a mark which anybody has written. */
function hintUndo({ output, wanted }: Drain): void {
  output.err(`hint: to undo: kubectl taintmgr undo ${printable(shellWord(wanted.id))}`);
}

/** A write on a node that has ended. */
type NodeWritten = Extract<Notice, { kind: 'drainWriteFinished' }> & {
  readonly command: WriteDrainNode;
};

const showEveryMs = 1000;
/** Of what cannot be read the run hears itself, and ends by `--timeout` or at a refusal. */
const patienceMs = Number.POSITIVE_INFINITY;

/**
 * Carries a drain out, until it is finished, Ctrl-C comes, or the API server refuses to show nodes
 * and pods.
 */
async function runDrain(drain: Drain, progress: Progress): Promise<DrainEnd> {
  const { connection, interrupt, policies } = drain;
  const stop = new AbortController();
  const run = new DrainRun(drain, progress, () => stop.abort());
  const onInterrupt = (): void => run.end('Interrupted');
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  if (interrupt.aborted) onInterrupt();
  const loop = new Loop({ machine: run, ...loopOptions(drain) });
  let unfollow = (): void => {};
  const ticker = setInterval(() => run.showCounts(Date.now()), showEveryMs);
  try {
    const onNotice = (notice: Notice): void => run.notice(notice);
    const onStart = (feed: (event: Event) => void): void => {
      unfollow = policies.follow(feed, (why) => progress.policiesRefused(why));
    };
    const { transport } = connection;
    await drive({ loop, transport, signal: stop.signal, patienceMs, onNotice, onStart });
  } finally {
    clearInterval(ticker);
    unfollow();
    interrupt.removeEventListener('abort', onInterrupt);
    progress.close();
  }
  return run.ending();
}

function loopOptions({ config, settings, wanted, survey }: Drain): Omit<LoopOptions, 'machine'> {
  const { podSelector } = settings.flags;
  // Another replica, and whether its node is ready, is anywhere.
  const takesNodes = ownPodAmong(survey) !== null;
  const takesAll = takesNodes || looksAtAllPods(settings.drain);
  const names = new Set(config.targets.map(({ name }) => name));
  const [only] = names;
  const isOne = names.size === 1;
  return {
    random: Math.random,
    component: fieldManager,
    drainer: { fieldManager, by: wanted.by },
    ...(isOne && !takesNodes && { nodes: { fieldSelector: `metadata.name=${only}` } }),
    pods: {
      ...(isOne && !takesAll && { fieldSelector: `spec.nodeName=${only}` }),
      ...(podSelector !== undefined && { labelSelector: podSelector }),
    },
    acceptsNode: ({ name }) => takesNodes || names.has(name),
    acceptsPod: ({ nodeName }) => takesAll || names.has(nodeName),
  };
}

/** The leader of taintmgr-controller, which keeps its last replica; null: none of these pods may be one. */
function ownPodAmong({ evictor: { ownPod }, pods }: Drain['survey']): Config['ownPod'] {
  const isAmong = pods.some(({ pod }) => pod.namespace === ownPod?.namespace);
  return ownPod && isAmong ? ownPod : null;
}

/** The engine with one NodeDrain, whose progress is reported. */
class DrainRun implements Machine {
  readonly #engine: ReturnType<typeof createEngine>;
  readonly #drain: Drain;
  readonly #progress: Progress;
  readonly #stop: () => void;
  /** The run gives up where nodes and pods are not known by then; null: it never does. */
  readonly #syncBy: Instant | null;
  /** Events that come before all others: the NodeDrain and the policies. */
  readonly #first: Event[];
  /** Writes on nodes under way: their ids. */
  readonly #writes = new Set<string>();
  readonly #changes = new Map<string, NodeChanges>();
  #result: DrainResult | null = null;
  #refusal: string | null = null;

  constructor(drain: Drain, progress: Progress, stop: () => void) {
    const { config, policies } = drain;
    const ownPod = ownPodAmong(drain.survey);
    this.#drain = drain;
    this.#engine = createEngine({
      ...{ taintEviction: false, nodeDrains: true, drainProgram: config, ownPod },
      comparisonOperators: config.comparisonOperators,
    });
    this.#first = [{ kind: 'nodeDrainUpsert', drain: carriedOut(drain) }, ...policies.events];
    this.#progress = progress;
    this.#stop = stop;
    const { node: timeoutMs = 0 } = config.spec.timeouts;
    this.#syncBy = timeoutMs === 0 ? null : Date.now() + timeoutMs;
  }

  handle(now: Instant, event: Event): readonly Command[] {
    for (const first of this.#first.splice(0)) this.#engine.handle(now, first);
    if (event.kind === 'result') this.#writes.delete(event.id);
    const commands = this.#engine.handle(now, event).map((one) => this.#asOurs(one));
    const { drain } = this;
    if (!drain) {
      if (this.#syncBy !== null && now >= this.#syncBy) this.end('TimedOut');
      return commands;
    }
    if (event.kind === 'tick') this.#progress.holds(drain.holds(), drain.machine);
    for (const note of drain.takeNotes(now)) this.#progress.note(note, drain.machine);
    this.showCounts(now);
    const isOver = drain.machine.finished && this.#writes.size === 0;
    // Writes that are due, such as the last word on a node, are tried once.
    if (isOver && (drain.nextWake() ?? Number.POSITIVE_INFINITY) > now) {
      this.end(resultOf(drain.machine));
    }
    return commands;
  }

  /** The drain, once nodes and pods are known. */
  get drain(): ReturnType<ReturnType<typeof createEngine>['drain']> {
    return this.#engine.drain(this.#drain.wanted.id);
  }

  /** A write on a node, by what was done there before the drain began. */
  #asOurs(command: Command): Command {
    if (command.kind !== 'writeDrainNode') return command;
    this.#writes.add(command.id);
    const { write } = command;
    const before = this.#changes.get(command.nodeName);
    if (write.kind !== 'taint' || !before) return command;
    const done: DoneBefore = before.id === null ? 'cordoned' : 'marked';
    return { ...command, write: { ...write, before: done } };
  }

  nextWake(): Instant | null {
    return this.drain ? this.#engine.nextWake() : this.#syncBy;
  }

  /** The first reason to end counts. */
  end(result: DrainResult): void {
    this.#result ??= result;
    this.#stop();
  }

  showCounts(now: Instant): void {
    if (this.#result === null && this.drain) this.#progress.showCounts(now, this.drain.machine);
  }

  notice(notice: Notice): void {
    if (isOnNode(notice)) this.#written(notice);
    if (notice.kind === 'watching') this.#progress.reconnected();
    if (notice.kind !== 'reconnecting') return;
    const { message, status } = notice.failure;
    this.#progress.disconnected(message);
    if (status !== 401 && status !== 403) return;
    // Rights do not come by waiting: without them the drain ends.
    this.#refusal ??= message;
    this.end('Failed');
  }

  ending(): DrainEnd {
    const machine = this.drain?.machine ?? unseen(this.#drain.config);
    const result = this.#result ?? resultOf(machine);
    return { result, refusal: this.#refusal, machine, changes: this.#changes };
  }

  /** Says what was written on a node, and keeps what has changed there. */
  #written({ command: { nodeName, write }, outcome, written }: NodeWritten): void {
    const { wanted } = this.#drain;
    const earlier = this.#changes.get(nodeName);
    const isDone = outcome.kind === 'done';
    const { cordoned = false, tainted = false, id = null, untainted = false } = written;
    const changes = { cordoned: cordoned || earlier?.cordoned === true, tainted, id };
    if (write.kind === 'cordon' || write.kind === 'taint') {
      if (isDone && wanted.cordon && !earlier) {
        this.#progress.say(changeText(nodeName, 'cordoned', changes));
      }
      if (isDone) this.#changes.set(nodeName, changes);
    }
    if (write.kind === 'cordon' && outcome.kind === 'failed' && outcome.status !== null) {
      const why = printable(outcome.message);
      const then = 'could not be cordoned, it is tried again at its turn';
      this.#progress.warn(`node ${nodeName} ${then}: ${why}`);
    }
    if (write.kind !== 'untaint') return;
    if ('message' in outcome) {
      this.#progress.warn(keptText(nodeName, wanted.taint, outcome.message));
    }
    if (!isDone || !untainted) return;
    this.#progress.say(`node/${nodeName} untainted`);
    if (earlier) this.#changes.set(nodeName, { ...earlier, tainted: false });
  }
}

function isOnNode(notice: Notice): notice is NodeWritten {
  return notice.kind === 'drainWriteFinished' && notice.command.kind === 'writeDrainNode';
}

/** The NodeDrain for the engine: under the name of its marks, for these nodes, with no object to guard. */
function carriedOut({ settings, config, wanted }: Drain): NodeDrain {
  const { nodeSelector: _, ...spec } = config.spec;
  const { windows = [], gates = [] } = spec;
  // No node is cordoned while a window or a gate may keep it from its turn.
  const cordonsLater = spec.cordon === 'AtStart' && windows.length + gates.length > 0;
  return {
    ...{ ...settings.drain, name: wanted.id, uid: wanted.run, isGuarded: true },
    spec: {
      ...{ ...spec, nodes: config.targets.map(({ name }) => name) },
      ...(cordonsLater && { cordon: 'AtTurn' }),
      // Failed nodes are rolled back at the end.
      onFailure: 'KeepTaint',
    },
  };
}

/** The drain of which nothing is known yet but its nodes. */
export function unseen({ targets }: Pick<SoloDrainConfig, 'targets'>): DrainSight {
  const wave = { name: '', nodesAtOnceMax: null };
  return {
    synced: false,
    stop: null,
    isTakenOver: false,
    pods: () => [],
    staying: () => [],
    nodes: () => targets.map((one) => ({ wave, ...one, phase: { kind: 'pending' } })),
  };
}
