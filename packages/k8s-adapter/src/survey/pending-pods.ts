// The evicted pod that came before a pod without a node, as Events show it.
import { formatDuration, type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import { upstreamEvictionReason } from './evictors.ts';
import type { PodFacts } from './facts.ts';
import type { ClusterReader } from './reader.ts';

/** Events are written at once; a controller that backs off creates the next pod later than this. */
const soonMs: Millis = 60_000;

interface EventObject {
  readonly message?: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
  readonly involvedObject?: { readonly name?: string; readonly uid?: string };
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/**
 * `created 2s after web-7d4-x2x of ReplicaSet/web-7d4 was evicted, by an Event of
 * taint-eviction-controller`; null: the pod has a node or no owner, or no Event of the last hour
 * tells of such an eviction. Any client that may create Events may have written it.
 */
export async function precedingEviction(
  reader: ClusterReader,
  { pod, createdAt }: PodFacts,
): Promise<string | null> {
  const { namespace, owner, nodeName, uid } = pod;
  if (nodeName !== '' || owner === null || createdAt === null) return null;
  const events = (await reader.eventsOf(upstreamEvictionReason, namespace)) as EventObject[];
  const found = events.flatMap((event) => {
    const { name = '', uid: evicted } = event.involvedObject ?? {};
    // A StatefulSet gives the next pod the name of the one that left.
    const isNamed =
      owner.kind === 'StatefulSet' ? name === pod.name : name.startsWith(`${owner.name}-`);
    const isSibling = isNamed && evicted !== uid;
    const at = parseTime(event.lastTimestamp ?? event.eventTime ?? '');
    const isEviction = event.message?.startsWith('Cancelling') !== true;
    return isSibling && isEviction && isShortlyBefore(at, createdAt) ? [{ name, at, event }] : [];
  });
  const last = found.toSorted((one, other) => one.at - other.at).at(-1);
  if (!last) return null;
  const who = last.event.source?.component ?? last.event.reportingComponent ?? 'unknown';
  const after = formatDuration(Math.max(0, createdAt - last.at));
  return `created ${after} after ${last.name} of ${owner.kind}/${owner.name} was evicted, by an Event of ${who}`;
}

function isShortlyBefore(at: Instant | null, createdAt: Instant): at is Instant {
  // Events and creations have whole seconds.
  return at !== null && at <= createdAt + 1000 && createdAt - at <= soonMs;
}
