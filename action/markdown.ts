// Markdown that says what manifests and clusters say, and lets none of that act.

/** The number of characters that are shown of one text. */
const textMax = 400;

/**
 * A text of others as Markdown and as HTML show it: one line, in which nothing ends a cell, opens a tag or a link, or
 * calls a person.
 */
export function plain(text: string): string {
  const line = [...text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()];
  const shown = `${line.slice(0, textMax).join('')}${line.length > textMax ? '...' : ''}`;
  return shown
    .replace(/[^\p{L}\p{N} .,:;/()%+=?>"'-]/gu, (one) => `&#${one.codePointAt(0)};`)
    .replaceAll('://', '&#58;//')
    .replace(/www\./gi, (www) => `${www.slice(0, 3)}&#46;`)
    .replaceAll('&#64;', '&#64;&#8203;');
}

/** A table; '': it has no rows. Cells are Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${lines.join('\n')}\n\n`;
}

/** A section with its heading; '': there is nothing in it. */
export function section(heading: string, body: string): string {
  return body === '' ? '' : `### ${heading}\n\n${body.trimEnd()}\n\n`;
}

/** One line for each; the first `max` of them, with a count of the others. */
export function list(lines: readonly string[], max: number): string {
  const shown = lines.slice(0, max).map((line) => `- ${line}\n`);
  const more = lines.length - shown.length;
  return `${shown.join('')}${more > 0 ? `- and ${more} more\n` : ''}`;
}

/** A summary of more than 1 MiB is thrown away as a whole. Cuts at the end of a line. */
export function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  const whole = bytes.subarray(0, bytes.lastIndexOf('\n', bytesMax));
  return `${whole}\n\n... cut after ${bytesMax} bytes; the log of the step has all\n`;
}

/** `1m30s`, in whole seconds. */
export function duration(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  const parts = [
    [Math.floor(whole / 3600), 'h'],
    [Math.floor(whole / 60) % 60, 'm'],
    [whole % 60, 's'],
  ] as const;
  const text = parts.map(([amount, unit]) => (amount === 0 ? '' : `${amount}${unit}`)).join('');
  return text === '' ? '0s' : text;
}

/** With one decimal where it has one. */
export function amount(value: number): string {
  return String(Math.round(value * 10) / 10);
}
