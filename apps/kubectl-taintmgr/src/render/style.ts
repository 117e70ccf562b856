// Colours, and when they are used.
import { styleText } from 'node:util';

/** When colours are used. */
export type ColorChoice = 'auto' | 'always' | 'never';

/** The meaning of a colour; the text always says the same. */
export type Tone = 'warning' | 'urgent' | 'soon' | 'calm' | 'quiet';

/** Gives text its tone, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string;

const formats = {
  warning: ['yellow', 'bold'],
  urgent: ['red', 'bold'],
  soon: ['yellow'],
  calm: ['green'],
  quiet: ['dim'],
} as const;

/** Leaves every text as it is. */
export const plain: Paint = (_, text) => text;

/** As --color, NO_COLOR and TERM ask for, on a stream that is a terminal or not. */
export function paintFor(
  choice: ColorChoice,
  isTerminal: boolean,
  { NO_COLOR = '', TERM }: Readonly<Record<string, string | undefined>>,
): Paint {
  const isAutomatic = isTerminal && NO_COLOR === '' && TERM !== 'dumb';
  const isColored = choice === 'always' || (choice === 'auto' && isAutomatic);
  if (!isColored) return plain;
  return (tone, text) => styleText([...formats[tone]], text, { validateStream: false });
}
