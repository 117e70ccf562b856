// Text made safe for a terminal: no control characters, nothing that reorders or breaks a line
// unseen.

/** Control characters, and those that reorder or break a line without being seen. */
const steering = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Object names and messages come from the cluster: whatever would steer the terminal is shown as
 * an escape, control characters as `^[`, others as `\u202e`.
 */
export function printable(text: string): string {
  return text.replace(steering, (character) => {
    const code = character.charCodeAt(0);
    if (code === 0x7f) return '^?';
    if (code <= 0x9f) return `^${String.fromCharCode((code & 0x1f) + 0x40)}`;
    return `\\u${code.toString(16)}`;
  });
}
