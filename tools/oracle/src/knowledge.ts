// A client's possible knowledge of the objects it follows, and up to which instant.

/** The collections a client follows. */
export type Followed = 'nodes' | 'pods' | 'leases' | 'policies' | 'pauses' | 'rules' | 'namespaces';

/** A time in which the client received every change at once; `to` null: it still does. */
export interface Period {
  readonly run: number;
  readonly resource: Followed;
  readonly from: number;
  to: number | null;
}

/** Within this time after a gap the changes that were missed have all come. */
const catchUpMs = 1000;

/** The possible knowledge of each run of a client, by the lists and watches that reached it. */
export class Knowledge {
  readonly #periods: Period[] = [];

  /** A list shows one instant, a watch everything from now on. */
  begin(run: number, resource: Followed, from: number, to: number | null): Period {
    const period = { run, resource, from, to };
    this.#periods.push(period);
    return period;
  }

  /** The watch was refused in its stream: opening it has shown nothing. */
  retract(period: Period): void {
    const at = this.#periods.indexOf(period);
    if (at >= 0) this.#periods.splice(at, 1);
  }

  /** The latest instant up to `at` as of which that run knew everything; -Infinity: never. */
  upTo(run: number, resource: Followed, at: number): number {
    return latest(this.#before(run, resource, at), at);
  }

  /**
   * The same for a client that acts on each change as it comes: missed changes arrive one by one,
   * so right after a gap it may not know the latest ones. The caller judges how long ago that was.
   */
  inTurnUpTo(run: number, resource: Followed, at: number): number {
    const periods = this.#before(run, resource, at).sort((a, b) => a.from - b.from);
    const caughtUp = periods.findLastIndex(({ from }) => at - from >= catchUpMs);
    return latest(caughtUp < 0 ? periods.slice(0, 1) : periods.slice(0, caughtUp + 1), at);
  }

  /** When that run had first seen all that it follows; -Infinity: it has seen nothing. */
  firstAt(run: number): number {
    const periods = this.#periods.filter((period) => period.run === run);
    const firsts = (['nodes', 'pods', 'leases'] as const).flatMap(
      (resource) => periods.find((period) => period.resource === resource)?.from ?? [],
    );
    return Math.max(Number.NEGATIVE_INFINITY, ...firsts);
  }

  /** When that run first saw the whole collection; null: it has not. */
  firstOf(run: number, resource: Followed): number | null {
    const first = this.#periods.find((one) => one.run === run && one.resource === resource);
    return first?.from ?? null;
  }

  /** True if that run knew everything as of some instant in [from, to). */
  within(run: number, resource: Followed, from: number, to: number): boolean {
    return this.#before(run, resource, to).some(
      (period) => period.from < to && (period.to ?? Number.POSITIVE_INFINITY) >= from,
    );
  }

  #before(run: number, resource: Followed, at: number): Period[] {
    return this.#periods.filter(
      (period) => period.run === run && period.resource === resource && period.from <= at,
    );
  }
}

function latest(periods: readonly Period[], at: number): number {
  return Math.max(Number.NEGATIVE_INFINITY, ...periods.map(({ to }) => Math.min(to ?? at, at)));
}
