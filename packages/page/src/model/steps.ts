// Numbers that change in steps, put side by side.

export interface Step {
  readonly at: number;
}

/** The instants at which any of the series changes, in order, each once. */
export function instantsOf(...series: readonly (readonly Step[])[]): readonly number[] {
  return [...new Set(series.flat().map(({ at }) => at))].sort((one, other) => one - other);
}

/**
 * The most of the values, and not less than `floor`. Other than `Math.max(...values)` it takes any
 * number of them: engines pass some 100,000 arguments at most.
 */
export function mostOf(values: readonly number[], floor: number): number {
  return values.reduce((most, value) => Math.max(most, value), floor);
}

/** Reads a series at instants that only grow; null before its first step. */
export function readerOf<Item extends Step>(series: readonly Item[]): (at: number) => Item | null {
  let next = 0;
  return (at) => {
    while (next < series.length && (series[next]?.at ?? 0) <= at) next++;
    return series[next - 1] ?? null;
  };
}

/** The number of spans that last, from instant to instant. */
export function countsOf(
  spans: readonly { readonly from: number; readonly until: number }[],
): readonly { readonly at: number; readonly value: number }[] {
  const changes = new Map<number, number>();
  for (const { from, until } of spans) {
    changes.set(from, (changes.get(from) ?? 0) + 1);
    changes.set(until, (changes.get(until) ?? 0) - 1);
  }
  let value = 0;
  const instants = [...changes].sort(([one], [other]) => one - other);
  return instants.map(([at, change]) => {
    value += change;
    return { at, value };
  });
}

/** Spans of a series of states in which something holds. */
export function spansWhere<Item extends Step>(
  series: readonly Item[],
  end: number,
  holds: (state: Item) => boolean,
): readonly { readonly from: number; readonly until: number; readonly state: Item }[] {
  return series.flatMap((state, index) => {
    const until = series[index + 1]?.at ?? end;
    return holds(state) && until > state.at ? [{ from: state.at, until, state }] : [];
  });
}
