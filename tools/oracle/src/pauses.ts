/** What a pause covers. */
export type PauseScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'node'; readonly name: string };

interface Pause {
  readonly scope: PauseScope;
  readonly from: number;
  to: number | null;
}

/** When a client had to let deadlines stand still. */
export class Pauses {
  readonly #pauses: Pause[] = [];

  begin(scope: PauseScope, at: number): void {
    this.#pauses.push({ scope, from: at, to: null });
  }

  end(scope: PauseScope, at: number): void {
    const open = this.#pauses.filter((pause) => pause.to === null && isSame(pause.scope, scope));
    for (const pause of open) pause.to = at;
  }

  /** Whether the deadlines on that node stood still at that instant, and had before. */
  covers(nodeName: string, at: number): boolean {
    return this.#pauses.some(
      ({ scope, from, to }) =>
        from < at &&
        at < (to ?? Number.POSITIVE_INFINITY) &&
        (scope.kind === 'all' || scope.name === nodeName),
    );
  }

  /** All of them together up to `now`, in milliseconds: no deadline has moved by more. */
  total(now: number): number {
    return this.#pauses.reduce((sum, { from, to }) => sum + ((to ?? now) - from), 0);
  }
}

function isSame(a: PauseScope, b: PauseScope): boolean {
  return a.kind === 'node' ? b.kind === 'node' && a.name === b.name : b.kind === 'all';
}
