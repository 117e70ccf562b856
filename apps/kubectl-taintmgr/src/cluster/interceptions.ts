// Which pods admission webhooks keep for themselves, by the Events of taintmgr-controller: what a webhook
// answers is known to nobody else.
import { interceptedReason, interceptionIn, interceptionRepeatMs } from '@taintmgr/core/drain';
import { type Millis, parseTime } from '@taintmgr/core/time';
import type { ClusterReader } from './reader.ts';

/** An older Event would have been written again, if it still held. */
const currentMs: Millis = 2 * interceptionRepeatMs;

interface EventObject {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly involvedObject?: { readonly uid?: string };
}

/** What the API server last said of each pod, by the pod's uid. */
export async function readInterceptions(
  reader: ClusterReader,
): Promise<ReadonlyMap<string, string>> {
  const events = (await reader.eventsOf(interceptedReason)) as readonly EventObject[];
  const said = events.flatMap(({ reason = '', message = '', lastTimestamp, involvedObject }) => {
    const words = interceptionIn(reason, message);
    const at = parseTime(lastTimestamp ?? '');
    const uid = involvedObject?.uid;
    const isCurrent = at !== null && reader.now() - at < currentMs;
    return words !== null && uid !== undefined && isCurrent ? [{ uid, words, at }] : [];
  });
  const inOrder = said.toSorted((one, other) => one.at - other.at);
  return new Map(inOrder.map(({ uid, words }) => [uid, words] as const));
}
