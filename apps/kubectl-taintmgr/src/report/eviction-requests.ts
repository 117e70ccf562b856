// EvictionRequests of pods, as commands show them.
import { type EvictionRequest, isOpenRequest } from '@taintmgr/core/drain';
import { formatDeadline, formatTime, type Instant } from '@taintmgr/core/time';
import { printable } from '../render/printable.ts';
import { renderTable } from '../render/table.ts';
import { none } from './words.ts';

const shownMax = 10;

/** Who asks, who answers, and how far that one is. */
export function requestDocument({
  name,
  requester,
  failed,
  responder,
  createdAt,
}: EvictionRequest): object {
  return {
    name,
    requester,
    ...(createdAt !== null && { createdAt: formatTime(createdAt) }),
    ...(failed !== null && { failed }),
    ...(responder && {
      responder: {
        name: responder.name,
        lastHeartbeat: written(responder.heartbeatAt, formatTime),
        expectedCompletion: written(responder.expectedAt, formatDeadline),
        message: responder.message || undefined,
      },
    }),
  };
}

/** Those who ask that a pod be moved; `-`: nobody does. */
export function requestersText(requests: readonly EvictionRequest[]): string {
  const names = requests.filter(isOpenRequest).map(({ requester }) => requester);
  return names.length === 0 ? '-' : printable([...new Set(names)].join(', '));
}

/** A line for each that is open, the first ones of many. */
export function renderRequests(requests: readonly EvictionRequest[]): string {
  const rows = requests.slice(0, shownMax).map(({ namespace, name, requester, responder }) => {
    const said = responder?.message || none;
    return [`${namespace}/${name}`, requester, responder?.name ?? none, said].map(printable);
  });
  const table = renderTable(['EVICTIONREQUEST', 'REQUESTER', 'ANSWERED BY', 'PROGRESS'], rows);
  const more = requests.length - rows.length;
  return more > 0 ? `${table}\nand ${more} more` : table;
}

function written(at: Instant | null, format: (at: Instant) => string): string | undefined {
  return at === null ? undefined : format(at);
}
