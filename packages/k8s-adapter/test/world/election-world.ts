import assert from 'node:assert/strict';
import { ApiServer } from '@taintmgr/api-server';
import { seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { Election, type ElectionInput } from '../../src/controller/election/election.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';
import { InputSink } from '../../src/transport/sink.ts';
import type { Draw } from '../seeds/draw.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const lease = { namespace: 'kube-system', name: 'ctl' };

/** How the line to the API server treats requests. */
export interface Line {
  /** Chance of anything but a quick answer. */
  trouble: number;
}

/** Several candidates, each with a clock of its own, and one API server in true time. */
export class ElectionWorld {
  readonly clock = new VirtualClock(start);
  readonly api: ApiServer;
  readonly line: Line = { trouble: 0 };
  readonly candidates: Candidate[] = [];
  readonly draw: Draw;
  /** When somebody deleted the lease that stands for nobody, in true time. */
  deletedAt = Number.NEGATIVE_INFINITY;
  /** Looked at after everything that happens. */
  check: () => void = () => {};

  constructor(draw: Draw) {
    this.draw = draw;
    this.api = new ApiServer({ clock: this.clock, random: draw.random });
  }

  join(name: string): Candidate {
    const candidate = new Candidate(this, name);
    this.candidates.push(candidate);
    candidate.feed({ kind: 'start' });
    return candidate;
  }

  /** Who acts as the leader at this moment. */
  leaders(): Candidate[] {
    return this.candidates.filter((candidate) => candidate.leads());
  }

  run(ms: number): void {
    const end = this.clock.now() + ms;
    for (let next = this.#nextWake(); next <= end; next = this.#nextWake()) {
      this.clock.advanceTo(Math.max(next, this.clock.now()));
      for (const candidate of this.candidates) candidate.tickWhenDue();
      this.check();
    }
    this.clock.advanceTo(end);
    this.check();
  }

  /** As an administrator may do who wants another leader. */
  deleteLease(): void {
    if (!this.api.get('leases', lease.namespace, lease.name)) return;
    this.api.delete('leases', lease.namespace, lease.name);
    this.deletedAt = this.clock.now();
  }

  #nextWake(): number {
    const wakes = this.candidates.map((candidate) => candidate.nextWake());
    return Math.min(this.clock.nextWake() ?? Number.POSITIVE_INFINITY, ...wakes);
  }
}

/** One process that stands for election: it can crash, stand still, and have a clock that is wrong. */
export class Candidate {
  readonly name: string;
  state: 'up' | 'frozen' | 'gone' = 'up';
  /** When it sent the last of its writes that the server accepted, in true time. */
  wroteAt = Number.NEGATIVE_INFINITY;
  readonly #world: ElectionWorld;
  readonly #election: Election;
  readonly #hangUps = new Map<string, () => void>();
  #held: (() => void)[] = [];
  #anchor: { readonly at: number; readonly reads: number };
  #rate = 1;
  #stops: { readonly from: number; to: number | null }[] = [];

  constructor(world: ElectionWorld, name: string) {
    this.name = name;
    this.#world = world;
    const { draw } = world;
    // Up to a day off.
    const reads = world.clock.now() + draw.between(-86_400_000, 86_400_000);
    this.#anchor = { at: world.clock.now(), reads };
    const random = seededRandom(draw.between(1, 2 ** 30));
    this.#election = new Election({ lease, identity: name, random });
  }

  leads(): boolean {
    return this.state === 'up' && this.#election.leads(this.#local());
  }

  /** Its clock runs at this rate from now on; 0: it stands still. */
  runClockAt(rate: number): void {
    const now = this.#world.clock.now();
    this.#anchor = { at: now, reads: this.#local() };
    this.#rate = rate;
    const open = this.#stops.at(-1);
    if (open) open.to ??= now;
    if (rate === 0) this.#stops.push({ from: now, to: null });
  }

  /** For how long its clock stood still since that instant of true time. */
  stoodStillSince(instant: number): number {
    const now = this.#world.clock.now();
    return this.#stops.reduce(
      (sum, { from, to }) => sum + Math.max(0, (to ?? now) - Math.max(from, instant)),
      0,
    );
  }

  /** Gone without a word; what it sent is on its way. */
  crash(): void {
    this.state = 'gone';
    this.#hangUps.clear();
  }

  /** It does nothing and hears nothing, though its clock goes on. */
  freeze(): void {
    if (this.state === 'up') this.state = 'frozen';
  }

  thaw(timersFirst: boolean): void {
    if (this.state !== 'frozen') return;
    this.state = 'up';
    if (timersFirst) this.feed({ kind: 'tick' });
    for (const deliver of this.#held.splice(0)) deliver();
    this.tickWhenDue();
  }

  stop(): void {
    this.feed({ kind: 'stop' });
  }

  nextWake(): number {
    const wake = this.#election.nextWake();
    if (wake === null || this.state !== 'up' || this.#rate === 0) return Number.POSITIVE_INFINITY;
    // Rounded up, so that its clock has got there.
    return Math.ceil(this.#anchor.at + (wake - this.#anchor.reads) / this.#rate);
  }

  tickWhenDue(): void {
    if (this.nextWake() > this.#world.clock.now()) return;
    this.feed({ kind: 'tick' });
    assert.ok(this.nextWake() > this.#world.clock.now(), 'a tick does what was due');
  }

  feed(input: ElectionInput): void {
    if (this.state === 'gone') return;
    for (const effect of this.#election.handle(this.#local(), input)) {
      if (effect.kind === 'send') this.#send(effect.id, effect.request);
      else if (effect.kind === 'abort') this.#hangUps.delete(effect.id);
    }
    this.#world.check();
  }

  #local(): number {
    return this.#anchor.reads + (this.#world.clock.now() - this.#anchor.at) * this.#rate;
  }

  #send(id: string, request: ApiRequest): void {
    const { clock, draw, line } = this.#world;
    const sentAt = clock.now();
    this.#hangUps.set(id, () => {});
    const troubled = draw.chance(line.trouble);
    const delay = (): number =>
      troubled ? draw.of([0, 5, 900, 4999, 5000, 14_000, 40_000]) : draw.between(0, 40);
    const lost = troubled && draw.chance(0.3);
    const mute = troubled && draw.chance(0.3);
    if (lost) return;
    clock.after(delay(), () => {
      const inputs: ElectionInput[] = [];
      const heard = new InputSink(id, (input) => inputs.push(input));
      this.#world.api.exchange(request, {
        data: (chunk) => heard.data(chunk),
        end: () => heard.end(),
        reset: () => heard.failed('connection reset'),
        head: (status, headers) => {
          if (request.method !== 'GET' && status < 300) {
            this.wroteAt = Math.max(this.wroteAt, sentAt);
          }
          heard.head(status, headers);
        },
      });
      if (mute) return;
      clock.after(delay(), () => this.#hear(id, inputs));
    });
  }

  #hear(id: string, inputs: readonly ElectionInput[]): void {
    if (this.state === 'frozen') this.#held.push(() => this.#hear(id, inputs));
    else if (this.#hangUps.delete(id)) for (const input of inputs) this.feed(input);
  }
}
