// Text made safe for a terminal: no control characters, nothing that reorders, hides or breaks a
// line unseen. Text for a person passes through `onTerminal`, regardless of its writer.

/**
 * Control characters, and invisible ones that reorder, hide or break visible text. The selector
 * behind an emoji is a part of it.
 */
const steering = /(?!(?<=\p{Extended_Pictographic})\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/** The same beside line ends, tabs and our own colours (see style.ts), which come first. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const ours = /\u001b\[(?:1|2|22|31|32|33|39)m/;
const steeringOrOurs = new RegExp(`${ours.source}|${steering.source}`, 'gu');

/** The characters that JSON leaves as they are. */
const unescaped = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/**
 * Object names and messages come from the cluster: whatever would steer the terminal is shown as
 * an escape, control characters as `^[`, others as `\u202e`.
 */
export function printable(text: string): string {
  return text.replace(steering, escapeOf);
}

/** The last door before a terminal: lines, tabs and our colours stay, all else is shown as an escape. */
export function onTerminal(text: string): string {
  return text.replace(steeringOrOurs, (found) => {
    return found.length > 2 || found === '\n' || found === '\t' ? found : escapeOf(found);
  });
}

/** JSON in which nothing steers a terminal, and which reads the same. */
export function jsonText(value: unknown, indent?: number): string {
  return inEscapes(JSON.stringify(value, null, indent));
}

/** True when text has to be in quotes, for its escapes. */
export function needsEscapes(text: string): boolean {
  return text.search(unescaped) >= 0;
}

/** The text between double quotes in JSON or YAML, with escapes that both read. */
export function inEscapes(text: string): string {
  return text.replace(unescaped, (found) => {
    const units = Array.from({ length: found.length }, (_, index) => found.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x7f) return '^?';
  if (code <= 0x9f) return `^${String.fromCharCode((code & 0x1f) + 0x40)}`;
  const digits = code.toString(16).padStart(4, '0');
  return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`;
}

/** A word as it is typed in a shell: in quotes where that would take it for more than a text. */
export function shellWord(text: string): string {
  return /^[\w./=:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
