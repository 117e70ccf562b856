import type { Documents, Splitter } from './documents.ts';

const [quote, comma, backslash] = [34, 44, 92];
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125];
const beginsItems = /"items"\s*:\s*$/;
/** Enough of the text before a list to see its name. */
const nameLength = 100;

/** Finds the documents of a JSON text, and the items of those that are lists. */
export class JsonSplitter implements Splitter {
  readonly #documents: Documents;
  #shell = '';
  /** Null outside `items`. */
  #item: string | null = null;
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  push(text: string): void {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#inString) this.#goOnInString(code);
      else if (code === quote) this.#inString = true;
      else if (code === openList || code === openObject) {
        this.#depth++;
        if (code === openObject || this.#depth !== 2 || this.#item !== null) continue;
        const before = (this.#shell + text.slice(from, at)).slice(-nameLength);
        if (!beginsItems.test(before)) continue;
        this.#keep(text.slice(from, at + 1));
        this.#item = '';
        from = at + 1;
      } else if (code === closeList || code === closeObject) {
        this.#depth--;
        if (this.#item !== null && this.#depth === 1) {
          this.#endItem(text.slice(from, at));
          this.#item = null;
          from = at;
        } else if (this.#depth <= 0) {
          this.#endDocument(text.slice(from, at + 1));
          from = at + 1;
        }
      } else if (code === comma && this.#item !== null && this.#depth === 2) {
        this.#endItem(text.slice(from, at));
        from = at + 1;
      }
    }
    this.#keep(text.slice(from));
  }

  end(): void {
    if (this.#item !== null) this.#endItem('');
    if (this.#shell.trim() !== '') this.#endDocument('');
  }

  #goOnInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#inString = false;
  }

  #keep(text: string): void {
    if (this.#item === null) this.#shell += text;
    else this.#item += text;
  }

  #endItem(rest: string): void {
    this.#keep(rest);
    if (this.#item?.trim()) this.#documents.item(this.#item);
    this.#item = '';
  }

  #endDocument(rest: string): void {
    this.#keep(rest);
    this.#documents.shell(this.#shell);
    this.#shell = '';
    this.#depth = 0;
  }
}
