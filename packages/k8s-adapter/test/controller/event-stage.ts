// The recorder of Events, played by hand.
import { EventRecorder, type EventRecorderEffect } from '../../src/controller/event-recorder.ts';
import { EventTurn } from '../../src/controller/event-turn.ts';
import type { ClusterEvent } from '../../src/proto/event-requests.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';
import { random } from '../world/random.ts';

export const start = Date.parse('2026-01-01T00:00:00Z');
export const ok = 201;

/** Plays the loop by hand: prints effects as short lines, answers requests by their id. */
export class Stage {
  now = start;
  readonly turn = new EventTurn();
  readonly recorder = new EventRecorder({
    component: 'taintmgr',
    random: random(0),
    turn: this.turn,
  });
  readonly requests = new Map<string, ApiRequest>();

  record(message: string, subject: Partial<ClusterEvent['subject']> = {}): string[] {
    return this.#told(this.recorder.record(this.now, eventOf(message, subject)));
  }

  /** Records the same that many times. */
  repeat(count: number, message: string): string[] {
    return Array.from({ length: count }, () => this.record(message)).flat();
  }

  answer(id: string, status: number, message = ''): string[] {
    const data = JSON.stringify({ message });
    return [
      ...this.recorder.receive(this.now, { kind: 'head', id, status, headers: {} }),
      ...this.recorder.receive(this.now, { kind: 'chunk', id, data }),
      ...this.recorder.receive(this.now, { kind: 'end', id }),
    ].map((effect) => this.#describe(effect));
  }

  reset(id: string): string[] {
    return this.#told(this.recorder.receive(this.now, { kind: 'failed', id, message: 'reset' }));
  }

  /** Time passes; a tick comes when it is asked for. */
  pass(ms: number): string[] {
    const end = this.now + ms;
    const told: string[] = [];
    for (let wake = this.#wake(); wake <= end; wake = this.#wake()) {
      this.now = Math.max(this.now, wake);
      told.push(...this.#told(this.recorder.tick(this.now)));
    }
    this.now = end;
    return told;
  }

  stop(): string[] {
    return this.#told(this.recorder.stop(this.now));
  }

  /** So many requests of commands go out now. */
  begin(count: number): void {
    for (let n = 0; n < count; n++) this.turn.begun(this.now);
  }

  /** So many come to their end now. */
  end(count: number): void {
    for (let n = 0; n < count; n++) this.turn.ended(this.now);
  }

  body(id: string): { count: number; metadata: { name: string } } {
    return JSON.parse(this.requests.get(id)?.body ?? '');
  }

  #wake(): number {
    return this.recorder.nextWake() ?? Number.POSITIVE_INFINITY;
  }

  #told(effects: readonly EventRecorderEffect[]): string[] {
    return effects.map((effect) => this.#describe(effect));
  }

  #describe(effect: EventRecorderEffect): string {
    switch (effect.kind) {
      case 'send': {
        const { id, request } = effect;
        this.requests.set(id, request);
        const { count, message } = JSON.parse(request.body ?? '');
        return `${id} ${request.method} "${message}" x${count}`;
      }
      case 'abort':
        return `${effect.id} abort`;
      case 'notice': {
        const { notice } = effect;
        if (notice.kind === 'eventRecorded') return `recorded x${notice.count}`;
        if (notice.kind === 'eventsDropped') return `dropped ${notice.count}, ${notice.why}`;
        return `lost, ${notice.why}: ${notice.failure?.message ?? ''}`;
      }
    }
  }
}

export function eventOf(message: string, subject: Partial<ClusterEvent['subject']>): ClusterEvent {
  return {
    subject: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'a', uid: 'u', ...subject },
    type: 'Normal',
    reason: 'TaintManagerEviction',
    message,
  };
}
