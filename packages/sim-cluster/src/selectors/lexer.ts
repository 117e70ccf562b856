// Cuts a selector into tokens, with the real server's words for what does not parse.

/** A selector that does not parse; the message is the real server's. */
export class SelectorError extends Error {}

export interface Token {
  readonly kind: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };
const TOKEN = /\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+))/y;

/** The words and symbols of a label selector, one at a time. */
export class Lexer {
  readonly #text: string;
  #at = 0;
  #next: Token | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  peek(): Token {
    this.#next ??= this.#read();
    return this.#next;
  }

  take(): Token {
    const token = this.peek();
    this.#next = null;
    return token;
  }

  #read(): Token {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (!match) return END;
    this.#at = TOKEN.lastIndex;
    return match[1] === undefined
      ? { kind: 'word', text: match[2] ?? '' }
      : { kind: 'symbol', text: match[1] };
  }
}
