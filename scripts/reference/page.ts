// The parts of a page of the reference: text and tables.

const note = '<!-- Made by npm run reference from the source. -->';

/** A page with its title and its parts. */
export function page(title: string, ...parts: readonly string[]): string {
  return `${[`# ${title}`, note, ...parts].join('\n\n')}\n`;
}

/** A table; a cell is text as Markdown has it, on one line. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The text as code; '' stays empty. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``;
}

/** Text of the source within a cell, as a sentence begins. */
export function sentence(text: string): string {
  const plain = text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll(/\s+/g, ' ').trim();
  return `${plain.slice(0, 1).toUpperCase()}${plain.slice(1)}`;
}
