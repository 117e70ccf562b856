// Whether a controller of the cluster carries out NodeDrains.
import { formatDuration } from '@taintmgr/core/time';
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter/client';
import { isFresh, type PublishedManagers, readTaintManagers } from './taint-managers.ts';

const controller = 'node-drain-controller';

/** What leaders publish of themselves; null: we may not see it. */
export async function readDrainControllers(client: ApiClient): Promise<PublishedManagers | null> {
  try {
    return await readTaintManagers(client);
  } catch (error) {
    if (error instanceof ApiError && error.failure.status === 403) return null;
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
