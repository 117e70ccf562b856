/** A word as it is typed in a shell: in quotes where that would take it for more than a text. */
export function shellWord(text: string): string {
  return /^[\w./=:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
