// Runs the loop against a cluster, until the signal.

import { setTimeout as wait } from 'node:timers/promises';
import { type Config, createEngine, type Engine, type PolicyCounts } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import {
  ApiClient,
  ApiError,
  Backoff,
  type ClusterConfig,
  ConnectionError,
  type DeviceSight,
  drive,
  type ElectionOptions,
  type HistoryOptions,
  HttpTransport,
  type LeaseName,
  Loop,
  listRequest,
  lookForDevices,
  type Machine,
  type MayAct,
  type Notice,
  nodesPath,
  type PodScope,
  type PodWatch,
  type PublishOptions,
  podsPath,
  type Transport,
  WrongServerError,
} from '@taintmgr/k8s-adapter';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { OverlapError } from '../overlap/overlap.ts';
import type { RunningController } from '../stats/process-stats.ts';
import { version } from '../version.ts';

type OwnPod = NonNullable<Config['ownPod']>;

export interface ControllerOptions {
  readonly cluster: ClusterConfig;
  readonly engine: Partial<Config>;
  /** Aborted: evictions under way finish, then `runController` resolves. */
  readonly signal: AbortSignal;
  readonly onNotice: (notice: Notice, now: Instant) => void;
  /**
   * Told where the cluster cannot be read at the start, and when that is tried again. Left out: the
   * first failure ends it.
   */
  readonly onSetback?: (error: Error, next: Millis) => void;
  /** Told at the start where there is no pod of the name that this program was given as its own. */
  readonly onOwnPodMissing?: () => void;
  /** Called at the start where taints of devices are decided about, and the cluster serves no devices. */
  readonly onNoDevices?: () => void;
  /** The transport that requests go through on their way out; left out: nothing. */
  readonly outgoing?: (transport: Transport) => Transport;
  /** The machine that the loop has in the place of the engine, e.g. the engine with a stop watch. */
  readonly around?: (machine: Machine, explain: Engine['explain']) => Machine;
  /** The choice of pods that are read; left out: all. */
  readonly podWatch?: 'all' | PodWatch['mode'];
  /** Policies of files; left out: none. */
  readonly policies?: readonly PolicyObject[];
  /** Follow those of the cluster too; false when left out. */
  readonly clusterPolicies?: boolean;
  /** Carry out its NodeDrains; false when left out. */
  readonly nodeDrains?: boolean;
  /** True if streams are asked for in protobuf; left out: in JSON. */
  readonly protobuf?: boolean;
  /** The lease in which limit counts are stored; left out: none. */
  readonly limitsLease?: LeaseName;
  /** Where departures are kept; left out: nowhere. */
  readonly history?: HistoryOptions;
  /** Act only while elected; left out: there is no election. */
  readonly election?: Omit<ElectionOptions, 'random'>;
  /** The status it publishes of itself while it leads; left out: nothing. */
  readonly publish?: PublishOptions & {
    /** True if the status of the cluster's policies is written too. */
    readonly ofPolicies: boolean;
  };
  /** The TaintManager that the policies of takeover go by; left out: there is no takeover. */
  readonly takeover?: { readonly manager: string };
  /**
   * Runs beside it over the same connections and under the same lease, until the signal is aborted;
   * the lease is given back after it has ended. Left out: nothing.
   */
  readonly beside?: (transport: Transport, mayAct: MayAct) => Promise<void>;
  /** Called once, when it has begun. */
  readonly onStart?: (running: RunningController) => void;
}

/**
 * Evicts pods from tainted nodes until the signal is aborted. Throws ApiError or WrongServerError where at
 * the start no waiting would help; any other failure is reported and tried again.
 */
export async function runController(options: ControllerOptions): Promise<void> {
  const { cluster, engine: config, signal, onNotice, onStart, outgoing, around } = options;
  const { podWatch = 'all', publish, protobuf = false, policies = [] } = options;
  const { clusterPolicies = false, nodeDrains = false } = options;
  let podScope: PodScope = 'all';
  const http = new HttpTransport(cluster.access, `taintmgr-controller/${version}`);
  const transport = outgoing ? outgoing(http) : http;
  try {
    const sight = await begin(options, transport);
    const engine = createEngine(config);
    const { comparisonOperators = false, semantics } = config;
    const policyCounts = (now: Instant): PolicyCounts => engine.policyCounts(now);
    let isOverBeside = options.beside === undefined;
    let lookAgain = (): void => {};
    let look = (): Instant => Number.NEGATIVE_INFINITY;
    const loop = new Loop({
      machine: around ? around(engine, (now, subject) => engine.explain(now, subject)) : engine,
      random: Math.random,
      removal: { comparisonOperators, ignoresDrains: semantics === 'upstream-1.36' },
      leases: hasLifecycle(config),
      ...(sight && { devices: sight }),
      ...{ protobuf, policies, clusterPolicies, nodeDrains },
      ...(podWatch !== 'all' && { podWatch: { mode: podWatch } }),
      ownPod: config.ownPod ?? null,
      ...(options.election && { election: options.election }),
      ...(options.limitsLease && { limitsLease: options.limitsLease }),
      ...(publish && { publish: { ...publish, ...(publish.ofPolicies && { policyCounts }) } }),
      ...(options.takeover && { takeover: options.takeover }),
      ...(options.history && { history: options.history }),
      leaseIsShared: () => !isOverBeside,
      daemonSets: config.lifecycle?.enforcement === 'pods',
    });
    const driving = drive({
      loop,
      transport,
      ...{ signal, patienceMs: Number.POSITIVE_INFINITY },
      onNotice(notice, now) {
        if (notice.kind === 'podScope') podScope = notice.scope;
        onNotice(notice, now);
      },
      onStart(send, now) {
        look = now;
        lookAgain = () => send({ kind: 'tick' });
        onStart?.({
          lead: (held) => send({ kind: 'leadership', held }),
          hearOthers: (others) => send({ kind: 'otherEvictors', others }),
          leader: () => loop.leader(now()),
          zones: (now) => engine.zones(now),
          limits: (now) => engine.limits(now),
          counts: () => engine.counts(),
          lastReplica: () => engine.lastReplica(),
          ...{ nodes: engine.nodes, nodesOfTaints: engine.nodesOfTaints },
          pauses: () => engine.pauses(),
          takeover: () => {
            const [counts, policies] = [engine.takeover(), loop.policies];
            return counts && policies && { counts, policies };
          },
          explain: (now, subject) => engine.explain(now, subject),
          podScope: () => podScope,
          decidesForDevices: () => sight !== null && sight.hidden.length === 0,
          kept: () => loop.kept,
          status: () => loop.status(),
          cutOffSince: () => loop.cutOffSince,
          lateBy: () => loop.lateBy(now()),
          now,
          wall: () => loop.wall(now()),
        });
      },
    });
    // Asked of our own clock: what runs beside us may not know yet that the machine was suspended.
    const beside = options.beside?.(transport, () => loop.leads(look()));
    const besideEnded = beside?.finally(() => {
      isOverBeside = true;
      lookAgain();
    });
    await Promise.all([driving, besideEnded]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    http.close();
  }
}

const nodeLeasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

/** Where devices are served, as far as that is asked for; null: nowhere. */
function begin(options: ControllerOptions, transport: Transport): Promise<DeviceSight | null> {
  const { signal, onSetback } = options;
  const attempt = (): Promise<DeviceSight | null> => probe(options, transport);
  return onSetback ? untilSuccess(attempt, { signal, onFailure: onSetback }) : attempt();
}

/** A controller that cannot read its resources should report that at once, and end. */
async function probe(
  options: ControllerOptions,
  transport: Transport,
): Promise<DeviceSight | null> {
  const { cluster, engine, signal } = options;
  const { access, requestTimeout } = cluster;
  const client = new ApiClient({ transport, server: access.server, requestTimeout, signal });
  const leases = hasLifecycle(engine) ? [nodeLeasesPath] : [];
  for (const path of [nodesPath, podsPath, ...leases]) {
    await client.send(listRequest(path, { limit: 1 }));
  }
  if (engine.ownPod && (await isMissing(client, engine.ownPod))) options.onOwnPodMissing?.();
  if (!engine.deviceTaints) return null;
  const sight = await lookForDevices(client);
  if (sight === null) options.onNoDevices?.();
  return sight;
}

/** Without an answer that says so a pod is not missing. */
async function isMissing(client: ApiClient, { namespace, name }: OwnPod): Promise<boolean> {
  const [inNamespace, ofName] = [namespace, name].map(encodeURIComponent);
  try {
    await client.get(`/api/v1/namespaces/${inNamespace}/pods/${ofName}`);
    return false;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.failure.status === 404;
  }
}

function hasLifecycle({ lifecycle = null }: Partial<Config>): boolean {
  return lifecycle !== null;
}

export interface RetryOptions {
  /** Aborted: it gives up, and throws what AbortSignal throws. */
  readonly signal: AbortSignal;
  /** Told of a failure, and when the next attempt follows. */
  readonly onFailure: (error: Error, next: Millis) => void;
}

/** No later attempt would mend these: credentials, rights, and a server that is none of ours. */
const finalStatuses: readonly number[] = [401, 403, 404];

/**
 * Tries until it goes through. An API server that is away, slow or overloaded when we begin is no reason to
 * end: it is asked again, later and later. Throws errors that no waiting would mend.
 */
export async function untilSuccess<T>(
  attempt: () => Promise<T>,
  { signal, onFailure }: RetryOptions,
): Promise<T> {
  const backoff = new Backoff(Math.random);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Error) || isFinal(error)) throw error;
      const atLeast = error instanceof ApiError ? error.failure.retryAfter : null;
      const next = backoff.next(performance.now(), atLeast ?? 0);
      onFailure(error, next);
      await wait(next, undefined, { signal });
    }
  }
}

function isFinal(error: Error): boolean {
  if (error instanceof WrongServerError || error instanceof OverlapError) return true;
  if (!(error instanceof ApiError)) return !(error instanceof ConnectionError);
  const status = error.failure.status ?? 0;
  return finalStatuses.includes(status) || (status >= 300 && status < 400);
}
