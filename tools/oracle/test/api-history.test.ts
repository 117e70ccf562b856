import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ResponseSink, VirtualClock } from '@taintmgr/sim-cluster';
import { ApiHistory } from '../src/api-history.ts';
import { start } from './world/lifecycle-scenario.ts';

// What a client can know that watches nodes, by what passes both ends of its line.

const watch = { method: 'GET', path: '/api/v1/nodes?watch=true', headers: {}, body: null };

/** A client whose process can stand still: then it receives afterwards what was sent meanwhile. */
class Line {
  readonly #clock = new VirtualClock(start);
  readonly apiHistory = new ApiHistory(this.#clock);
  #server: ResponseSink | null = null;
  #heldBack: (() => void)[] | null = null;

  constructor() {
    const nothing: ResponseSink = {
      head: () => {},
      data: () => {},
      end: () => {},
      reset: () => {},
    };
    const server = this.apiHistory.server((_request, sink) => {
      this.#server = sink;
      sink.head(200, {});
      return () => {};
    });
    this.apiHistory.first.beginRun();
    this.apiHistory.first.client((request, sink) => server(request, this.#delayed(sink)))(
      watch,
      nothing,
    );
  }

  at(second: number): void {
    this.#clock.advanceTo(start + second * 1000);
  }

  freeze(): void {
    this.#heldBack = [];
    this.apiHistory.first.blind();
  }

  thaw(): void {
    this.apiHistory.first.unblind();
    const held = this.#heldBack ?? [];
    this.#heldBack = null;
    for (const deliver of held) deliver();
  }

  reset(): void {
    this.#server?.reset();
  }

  /** Up to which second it knows everything, as of now. */
  get known(): number {
    return (this.apiHistory.known.upTo(1, 'nodes', this.#clock.now()) - start) / 1000;
  }

  #delayed(sink: ResponseSink): ResponseSink {
    const deliver = (part: () => void): void => {
      if (this.#heldBack) this.#heldBack.push(part);
      else part();
    };
    return {
      head: (status, headers) => deliver(() => sink.head(status, headers)),
      data: (chunk) => deliver(() => sink.data(chunk)),
      end: () => deliver(() => sink.end()),
      reset: () => deliver(() => sink.reset()),
    };
  }
}

describe('a client that watches knows', () => {
  it('everything up to now', () => {
    const line = new Line();
    line.at(10);
    assert.equal(line.known, 10);
  });

  it('nothing that happens after its watch broke', () => {
    const line = new Line();
    line.at(10);
    line.reset();
    line.at(20);
    assert.equal(line.known, 10);
  });

  it('nothing new while it stands still, and everything when it goes on', () => {
    const line = new Line();
    line.at(10);
    line.freeze();
    line.at(20);
    assert.equal(line.known, 10);
    line.thaw();
    assert.equal(line.known, 20);
  });

  it('what happened before its watch broke while it stood still', () => {
    const line = new Line();
    line.at(10);
    line.freeze();
    line.at(15);
    line.reset();
    line.at(20);
    line.thaw();
    assert.equal(line.known, 15);
  });

  it('nothing that its other replica receives', () => {
    const line = new Line();
    const other = line.apiHistory.replica();
    line.at(10);
    line.reset();
    line.at(20);
    other.beginRun();
    assert.deepEqual([line.known, line.apiHistory.known.upTo(2, 'nodes', start)], [10, -Infinity]);
  });
});
