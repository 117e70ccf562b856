import type { Millis } from '@taintmgr/core';
import { ApiClient, type ClusterConfig, HttpTransport } from '@taintmgr/k8s-adapter';
import type { ControllerName } from './flags/controllers.ts';
import type { Leadership } from './leadership.ts';
import type { Logger } from './log.ts';
import { findOverlap, OverlapError } from './overlap.ts';
import type { Close } from './server/status-server.ts';
import { version } from './version.ts';

export interface OverlapWatchOptions {
  readonly cluster: ClusterConfig;
  readonly controllers: readonly ControllerName[];
  readonly leadership: Leadership;
  readonly log: Logger;
}

/** A kube-controller-manager that starts later is noticed within this time. */
const lookEveryMs: Millis = 30_000;

/**
 * Looks for a kube-controller-manager that does the same work. Throws OverlapError when there is one
 * at the start; one that comes later makes this replica stand by for as long as it is there. Returns
 * what ends the watch.
 */
export async function watchOverlap(options: OverlapWatchOptions): Promise<Close> {
  const { cluster, controllers, leadership, log } = options;
  const { access, requestTimeout } = cluster;
  const transport = new HttpTransport(access, `taintmgr-controller/${version}`);
  const client = new ApiClient({ transport, server: access.server, requestTimeout });
  const find = (): Promise<string | null> => findOverlap(client, controllers, Date.now());
  const atStart = await find().catch((error: unknown) => {
    transport.close();
    throw error;
  });
  if (atStart !== null) {
    transport.close();
    throw new OverlapError(atStart);
  }
  const look = async (): Promise<void> => {
    try {
      const overlap = await find();
      if (overlap !== null && leadership.overlap === null) log.warn(`standing by: ${overlap}`);
      if (overlap === null && leadership.overlap !== null) log.info('no overlap any more');
      leadership.collide(overlap);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.debug({ error: why }, 'could not look for kube-controller-manager');
    }
  };
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  return async () => {
    clearInterval(timer);
    transport.close();
  };
}
