import type { Hand } from './hand.ts';

/** How a recorded case is replayed. */
export interface WireCase {
  readonly namespace: string;
  /** What was there before; may tell the values of placeholders that no answer tells first. */
  readonly prepare?: (hand: Hand) => Readonly<Record<string, string>> | undefined;
  /** What happened before an exchange, by its index. */
  readonly before?: Readonly<Record<number, (hand: Hand) => void>>;
  /** What happened before every exchange. */
  readonly each?: (hand: Hand, exchange: { readonly note?: string; readonly path: string }) => void;
  /** Exchanges that are not replayed, and why. */
  readonly without?: Readonly<Record<number, string>>;
}

/** Cases by the file they are recorded in. */
export type WireCases = Readonly<Record<string, WireCase>>;

/** Why some exchanges are not replayed. */
export const noYaml = 'the real server speaks YAML as well';
export const cut = 'the recording cuts the object out of the message';

/** A case in a namespace, made ready by a hand that has nothing to tell. */
export function caseIn(
  namespace: string,
  prepare: (hand: Hand) => void = () => {},
  rest: Partial<WireCase> = {},
): WireCase {
  return {
    namespace,
    prepare: (hand) => {
      prepare(hand);
      return undefined;
    },
    ...rest,
  };
}
