// docs/reference/events.md and conditions.md: what we write into a cluster for people to read.
import { code, page, table } from './page.ts';
import { conditions, drainHolds, events } from './reasons.ts';

/** The page of Events. */
export function eventsPage(): string {
  const rows = events.map(({ reason, type, about, by, what }) => [
    code(reason),
    type,
    about,
    by,
    what,
  ]);
  return page(
    'Events',
    'What the controller records: `kubectl get events -A --field-selector reason=REASON`, or at the end of `kubectl describe`. The API server keeps an Event for an hour. Equal ones are one Event with a count; `taintmgr_events_total{result="lost"}` counts those that were not written. The plugin writes none.',
    table(['reason', 'type', 'about', 'from', 'what it says'], rows),
  );
}

/** The page of conditions. */
export function conditionsPage(): string {
  const rows = conditions.map(({ on, type, reasons, what }) => [
    on,
    type.split(', ').map(code).join(', '),
    reasons.map(code).join(', '),
    what,
  ]);
  const holds = drainHolds.map(({ reason, what }) => [code(reason), what]);
  return page(
    'Conditions',
    'What the controller writes into `status.conditions`. `kubectl wait --for=condition=TYPE KIND/NAME` waits for one.',
    table(['of', 'type', 'reasons', 'what it says'], rows),
    `## Why a node of a NodeDrain waits\n\n\`status.nodes[].reason\`, with more in \`message\`:\n\n${table(['reason', 'what it means'], holds)}`,
  );
}
