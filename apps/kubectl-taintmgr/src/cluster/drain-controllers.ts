// Whether a controller of the cluster carries out NodeDrains.
import { formatDuration, type Instant } from '@taintmgr/core/time';
import { type ApiClient, ApiError, listRequest } from '@taintmgr/k8s-adapter/client';
import {
  isFresh,
  type TaintManager,
  taintManagersIn,
  taintManagersPath,
} from './taint-managers.ts';

const controller = 'node-drain-controller';

/** What leaders publish of themselves. */
export interface PublishedManagers {
  readonly managers: readonly TaintManager[];
  /** What the API server's clock showed: heartbeats go by it, and ours may be wrong. */
  readonly now: Instant;
}

/** Null: we may not see it. None where there is no such kind. */
export async function readDrainControllers(client: ApiClient): Promise<PublishedManagers | null> {
  try {
    const { value, serverTime } = await client.ask(listRequest(taintManagersPath));
    const managers = taintManagersIn(itemsIn(value));
    return { managers, now: serverTime ?? Date.now() };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.failure.status === 403) return null;
    if (error.failure.status === 404) return { managers: [], now: Date.now() };
    throw error;
  }
}

/** Why nobody carries out NodeDrains, and what to do about it. */
export interface DrainControllerFault {
  readonly why: string;
  readonly advice: string;
}

/** Null: somebody carries them out, or may. */
export function drainControllerFault(
  published: PublishedManagers | null,
): DrainControllerFault | null {
  if (published === null) return null;
  const { managers, now } = published;
  const fresh = managers.filter((manager) => isFresh(manager, now));
  const acting = fresh.filter(({ shadow }) => shadow === null);
  if (acting.some(({ controllers }) => controllers.includes(controller))) return null;
  if (acting.length > 0) {
    return {
      why: `taintmgr-controller runs without ${controller}`,
      advice: `add it to its --controllers, and to its rights deploy/kustomize/components/node-drains`,
    };
  }
  const advice = `start it with --controllers=${controller} among others`;
  if (fresh.length > 0) return { why: 'taintmgr-controller only runs with --dry-run', advice };
  const [last] = managers.flatMap(({ renewedAt }) => renewedAt ?? []).sort((a, b) => b - a);
  const why =
    last === undefined
      ? 'taintmgr-controller has published no heartbeat'
      : `the last heartbeat of taintmgr-controller is ${formatDuration(Math.max(0, now - last))} old`;
  return { why, advice };
}

function itemsIn(list: unknown): readonly unknown[] {
  const items = typeof list === 'object' && list !== null && 'items' in list ? list.items : null;
  return Array.isArray(items) ? items : [];
}
