import type { Millis } from '@taintmgr/core';
import {
  ApiClient,
  type ClusterConfig,
  HttpTransport,
  newEventRequest,
} from '@taintmgr/k8s-adapter';
import type { ControllerName } from './flags/controllers.ts';
import type { Leadership } from './leadership.ts';
import type { Logger } from './log.ts';
import { findOverlap, type Overlap, OverlapError } from './overlap.ts';
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
 * at the start; one that comes later makes this replica stand by for as long as it is there. An Event
 * about its lease tells of either. Returns what ends the watch.
 */
export async function watchOverlap(options: OverlapWatchOptions): Promise<Close> {
  const { access, requestTimeout } = options.cluster;
  const transport = new HttpTransport(access, `taintmgr-controller/${version}`);
  const client = new ApiClient({ transport, server: access.server, requestTimeout });
  try {
    await refuseOverlap(client, options);
  } catch (error) {
    transport.close();
    throw error;
  }
  const timer = setInterval(() => void look(client, options), lookEveryMs).unref();
  return async () => {
    clearInterval(timer);
    transport.close();
  };
}

async function refuseOverlap(client: ApiClient, options: OverlapWatchOptions): Promise<void> {
  const overlap = await findOverlap(client, options.controllers, Date.now());
  if (overlap === null) return;
  await tell(client, overlap, options.log);
  throw new OverlapError(overlap.message);
}

async function look(client: ApiClient, options: OverlapWatchOptions): Promise<void> {
  const { controllers, leadership, log } = options;
  try {
    const overlap = await findOverlap(client, controllers, Date.now());
    const before = leadership.overlap;
    leadership.collide(overlap?.message ?? null);
    if (overlap === null && before !== null) log.info('no overlap any more');
    if (overlap === null || before !== null) return;
    log.warn(`standing by: ${overlap.message}`);
    await tell(client, overlap, log);
  } catch (error) {
    log.debug({ error: messageOf(error) }, 'could not look for kube-controller-manager');
  }
}

/** People look at Events before they look at logs; without one nothing else changes. */
async function tell(client: ApiClient, { lease, message }: Overlap, log: Logger): Promise<void> {
  const reason = 'ControllersOverlap';
  const event = { subject: lease, type: 'Warning', reason, message } as const;
  try {
    await client.send(newEventRequest(event, 'taintmgr', Date.now()));
    log.debug({ lease: `${lease.namespace}/${lease.name}`, reason }, 'recorded event');
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'could not record an Event about the overlap');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
