import type { Documents, Splitter } from './documents.ts';

/**
 * Finds the documents of a YAML text, and the items of those that are lists written in blocks, as
 * kubectl prints them. Any other YAML is a document without items.
 */
export class YamlSplitter implements Splitter {
  readonly #documents: Documents;
  #line = '';
  readonly #shell: string[] = [];
  /** Null outside `items`. */
  #item: string[] | null = null;
  /** What stands before the dash of each item; null before the first. */
  #indent: string | null = null;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  push(text: string): void {
    const lines = (this.#line + text).split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#take(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  end(): void {
    this.#take(this.#line);
    this.#endDocument();
  }

  #take(line: string): void {
    if (/^(---|\.\.\.)(\s|$)/.test(line)) {
      this.#endDocument();
      this.#shell.push(line.slice(3));
    } else if (this.#item === null) {
      if (/^items:\s*$/.test(line)) this.#item = [];
      else this.#shell.push(line);
    } else this.#takeInItems(line, this.#item);
  }

  #takeInItems(line: string, item: string[]): void {
    this.#indent ??= /^ *(?=-(\s|$))/.exec(line)?.[0] ?? null;
    if (this.#indent !== null && new RegExp(`^${this.#indent}-(\\s|$)`).test(line)) {
      this.#endItem();
      this.#item = [line.replace('-', ' ')];
    } else if (line === '' || /^[\s#]/.test(line)) {
      item.push(line);
    } else {
      this.#endItem();
      this.#item = null;
      this.#indent = null;
      this.#shell.push(line);
    }
  }

  #endItem(): void {
    const text = this.#item?.join('\n') ?? '';
    if (text.trim() !== '') this.#documents.item(text);
    this.#item = [];
  }

  #endDocument(): void {
    this.#endItem();
    this.#item = null;
    this.#indent = null;
    this.#documents.shell(this.#shell.splice(0).join('\n'));
  }
}
