import { type Config, createEngine, type Instant } from '@taintmgr/core';
import {
  ApiClient,
  type ClusterConfig,
  drive,
  HttpTransport,
  Loop,
  listRequest,
  type Notice,
  nodesPath,
  podsPath,
} from '@taintmgr/k8s-adapter';
import { version } from './version.ts';

export interface ControllerOptions {
  readonly cluster: ClusterConfig;
  readonly engine: Partial<Config>;
  /** Aborted: evictions under way come to their end, then `runController` resolves. */
  readonly signal: AbortSignal;
  readonly onNotice: (notice: Notice, now: Instant) => void;
  /** Called once, with the way to open limits that have tripped. */
  readonly onStart?: (resumeEvictions: () => void) => void;
}

/**
 * Evicts pods from tainted nodes until the signal is aborted. Throws ApiError or ConnectionError
 * when at the start the cluster cannot be read; later failures are told and tried again.
 */
export async function runController(options: ControllerOptions): Promise<void> {
  const { cluster, engine, signal, onNotice, onStart } = options;
  const transport = new HttpTransport(cluster.access, `taintmgr-controller/${version}`);
  try {
    await probe(cluster, transport, signal);
    const loop = new Loop({ machine: createEngine(engine), random: Math.random });
    await drive({
      loop,
      transport,
      signal,
      onNotice,
      onStart: (tell) => onStart?.(() => tell({ kind: 'resumeEvictions' })),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    transport.close();
  }
}

/** A controller that cannot read what it is to watch should say so at once, and end. */
async function probe(
  { access, requestTimeout }: ClusterConfig,
  transport: HttpTransport,
  signal: AbortSignal,
): Promise<void> {
  const client = new ApiClient({ transport, server: access.server, requestTimeout, signal });
  for (const path of [nodesPath, podsPath]) await client.send(listRequest(path, { limit: 1 }));
}
