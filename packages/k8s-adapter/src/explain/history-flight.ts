// Departures that a flight record of taintmgr-controller tells of. The leader's own witness hears its steps.
import type { Event } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import { Witness } from '../controller/history/witness.ts';
import type { Removal } from '../controller/procedures/pod-removal.ts';
import type { FlightStep } from '../flight/record.ts';
import { HistorySearch } from '../history/search.ts';
import type { Source, ToldDeparture } from './history-model.ts';

const flightSource: Source = { kind: 'record', name: 'flight record' };

/**
 * Takes the steps of one flight record in their order. A record with pseudonyms tells of those: its names are not
 * names of the cluster.
 */
export class FlightDepartures {
  readonly #witness = new Witness('flight record');
  /** The lead of the cluster's clock over the record's times. */
  #ahead: Millis = 0;
  /** Removals without an answer, by id. */
  readonly #asked = new Map<string, { readonly command: Removal; readonly at: Instant }>();
  /** The departures that the witness has reported so far. */
  readonly #told = new HistorySearch({});

  /** Takes the next step of a flight record. */
  take({ at, event, commands = [] }: FlightStep): void {
    if (event.kind === 'clock') this.#ahead = event.ahead;
    const now = at + this.#ahead;
    this.#answer(now, event);
    this.#witness.hear(now, event);
    for (const command of commands) {
      if (command.kind === 'report') {
        this.#witness.observe(now, { kind: 'report', report: command.report });
      }
      if (command.kind !== 'deletePod' && command.kind !== 'evictPod') continue;
      this.#asked.set(command.id, { command, at: now });
      this.#witness.observe(now, { kind: 'commandSent', command });
    }
    const due = this.#witness.nextDue();
    if (due !== null && due <= now) this.#note(now);
  }

  /** All departures in the steps so far. */
  departures(now: Instant): readonly ToldDeparture[] {
    this.#note(now);
    return this.#told.found.departures.map((one) => ({ ...one, toldBy: flightSource }));
  }

  #answer(now: Instant, event: Event): void {
    if (event.kind !== 'result') return;
    const asked = this.#asked.get(event.id);
    if (!asked) return;
    this.#asked.delete(event.id);
    const { command, at } = asked;
    const { outcome } = event;
    this.#witness.observe(now, { kind: 'commandFinished', command, outcome, took: now - at });
  }

  #note(now: Instant): void {
    for (const line of this.#witness.take(now, true)) this.#told.readLine({ ...line });
    this.#witness.sweep(now, true);
  }
}
