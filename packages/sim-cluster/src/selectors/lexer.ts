// Cuts a selector into tokens, with the real server's messages for invalid text.

/** A selector that does not parse; the message is the real server's. */
export class SelectorError extends Error {}

export interface Token {
  readonly kind: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const endToken: Token = { kind: 'end', text: '' };
const tokenPattern = /\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+))/y;

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
    tokenPattern.lastIndex = this.#at;
    const match = tokenPattern.exec(this.#text);
    if (!match) return endToken;
    this.#at = tokenPattern.lastIndex;
    return match[1] === undefined
      ? { kind: 'word', text: match[2] ?? '' }
      : { kind: 'symbol', text: match[1] };
  }
}
