// What --fail-if compares: amounts of different kinds, each with what it may be compared with.

/** In which way an amount is looked at. */
export type Unit = 'number' | 'percent' | 'seconds';

/** Something measured, or what came of calculating with it, in each unit in which it may be read. */
export class Amount {
  readonly #read: (unit: Unit) => number;

  constructor(read: (unit: Unit) => number) {
    this.#read = read;
  }

  in(unit: Unit): number {
    return this.#read(unit);
  }
}

// The library tells types apart by their classes.

/** A number of pods, and their share of those wanted. */
class Pods extends Amount {}
/** How many pods a budget lacked, and for how long. */
class Shortfall extends Amount {}
/** How long something took. */
class Time extends Amount {}
/** A share such as `30%`. */
class Share extends Amount {}
/** How often something happened. */
class Count extends Amount {}

/** The types as expressions name them. */
export type AmountName = 'Pods' | 'Shortfall' | 'Time' | 'Share' | 'Count';

/** What an expression may do with amounts of a type. */
interface AmountType {
  readonly make: new (read: (unit: Unit) => number) => Amount;
  /** What it may be compared with, and in which unit that is; `double` is a plain number. */
  readonly beside: Readonly<Record<string, Unit>>;
  /** What to write beside it, in words. */
  readonly want: string;
}

export const amountTypes: Readonly<Record<AmountName, AmountType>> = {
  Pods: {
    make: Pods,
    beside: { double: 'number', Share: 'percent', Pods: 'number' },
    want: 'a number or a share such as 30%',
  },
  Shortfall: {
    make: Shortfall,
    beside: { double: 'number', Time: 'seconds', Shortfall: 'seconds' },
    want: 'a number or a time such as 90s',
  },
  Time: { make: Time, beside: { Time: 'seconds' }, want: 'a time such as 90s' },
  Share: { make: Share, beside: { Share: 'percent' }, want: 'a share such as 30%' },
  Count: { make: Count, beside: { double: 'number', Count: 'number' }, want: 'a number' },
};
