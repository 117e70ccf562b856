// Compares what a story led to with what was recorded.
import { isDeepStrictEqual } from 'node:util';
import type { Played } from './player.ts';
import type { ExpectedEvent, Facts, PodState, Story, StoryEvent } from './story.ts';

/** A line for each difference. */
export function differences(story: Story, played: Played): readonly string[] {
  return [
    ...stateDifferences('initial', story.initial.pods, played.initial),
    ...eventDifferences(story, played.events),
    ...(story.final ? stateDifferences('final', story.final.pods, played.final) : []),
  ];
}

function stateDifferences(
  when: string,
  expected: readonly PodState[],
  got: readonly PodState[],
): readonly string[] {
  const missing = expected.filter((one) => !got.some((other) => isDeepStrictEqual(one, other)));
  const extra = got.filter((one) => !expected.some((other) => isDeepStrictEqual(one, other)));
  return [
    ...missing.map((one) => `${when}: missing ${JSON.stringify(one)}`),
    ...extra.map((one) => `${when}: not expected ${JSON.stringify(one)}`),
  ];
}

/** Each event that was recorded is to be found at its time, and no other. */
function eventDifferences(
  { expected, varies = [] }: Story,
  events: readonly StoryEvent[],
): readonly string[] {
  const left = new Set(events);
  const faults: string[] = [];
  const late: ExpectedEvent[] = [];
  for (const one of expected) {
    const found = nearest(one, [...left], events);
    if (found && isInTime(one, found, events)) left.delete(found);
    else late.push(one);
  }
  for (const one of late) {
    const found = nearest(one, [...left], events);
    if (found) left.delete(found);
    const wanted = `${timeText(one, events)} ${textOf(factsOf(one))}`;
    faults.push(`${wanted}: ${found ? `at ${found.at.toFixed(2)}` : 'missing'}`);
  }
  for (const one of varies) {
    const found = nearest(one, [...left], events);
    if (found) left.delete(found);
  }
  for (const event of left) {
    if (isPassing(event, events)) continue;
    faults.push(`${event.at.toFixed(2)} ${textOf(event.facts)}: not expected`);
  }
  return faults;
}

/**
 * Statuses that are written over so soon come and go in recordings as well: which of them there are depends
 * on how many milliseconds each write took.
 */
const passingSeconds = 0.1;

function isPassing({ at, facts }: StoryEvent, events: readonly StoryEvent[]): boolean {
  const { event, kind, name, service } = facts;
  if (event !== 'status' && event !== 'endpoints') return false;
  return events.some(
    (other) =>
      other.at > at &&
      other.at - at < passingSeconds &&
      isDeepStrictEqual(
        [other.facts.event, other.facts.kind, other.facts.name, other.facts.service],
        [event, kind, name, service],
      ),
  );
}

function factsOf({
  at: _at,
  tolerance: _tolerance,
  after: _after,
  inRuns: _runs,
  ...facts
}: ExpectedEvent): Facts {
  return facts;
}

/** The one of the same facts whose time is nearest. */
function nearest(
  one: ExpectedEvent,
  candidates: readonly StoryEvent[],
  all: readonly StoryEvent[],
): StoryEvent | null {
  const facts = factsOf(one);
  let best: StoryEvent | null = null;
  for (const candidate of candidates) {
    if (!isDeepStrictEqual(candidate.facts, facts)) continue;
    if (!best || offBy(one, candidate, all) < offBy(one, best, all)) best = candidate;
  }
  return best;
}

function isInTime(one: ExpectedEvent, event: StoryEvent, all: readonly StoryEvent[]): boolean {
  // Recordings are in hundredths of a second.
  return offBy(one, event, all) <= (one.after?.tolerance ?? one.tolerance) + 0.005;
}

function offBy(one: ExpectedEvent, { at }: StoryEvent, all: readonly StoryEvent[]): number {
  return Math.abs(at - wantedAt(one, all));
}

/** By the other event that it is counted from, where there is one. */
function wantedAt({ at, after }: ExpectedEvent, all: readonly StoryEvent[]): number {
  if (!after) return at;
  const { dt, tolerance: _tolerance, ...facts } = after;
  const from = all.find((event) =>
    Object.entries(facts).every(([name, value]) => isDeepStrictEqual(event.facts[name], value)),
  );
  return from ? from.at + dt : Number.POSITIVE_INFINITY;
}

function timeText(one: ExpectedEvent, all: readonly StoryEvent[]): string {
  const tolerance = one.after?.tolerance ?? one.tolerance;
  return `${wantedAt(one, all).toFixed(2)}±${tolerance}`;
}

function textOf(facts: Facts): string {
  return Object.values(facts)
    .map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    .join(' ');
}
