import type { Answer, ResponseHeaders } from './answer.ts';
import { isProtobuf, joinBytes, objectFromProtobuf } from './protobuf.ts';

/** What is heard about a request under way. After `end` or `failed` nothing more comes. */
export type ExchangeInput =
  | {
      readonly kind: 'head';
      readonly id: string;
      readonly status: number;
      readonly headers: ResponseHeaders;
    }
  | { readonly kind: 'chunk'; readonly id: string; readonly data: Uint8Array | string }
  | { readonly kind: 'end'; readonly id: string }
  /** Refused, reset or cut off; whatever came before counts for nothing. */
  | { readonly kind: 'failed'; readonly id: string; readonly message: string };

/** Characters of one answer: far above 500 pods of the usual size, below what a string can hold. */
const bodyLengthMax = 256 * 1024 * 1024;
const failureBytesMax = 1024 * 1024;

/** Puts the parts of one answer together; one in protobuf becomes the JSON of it. */
export class AnswerCollector {
  #status = 0;
  #headers: ResponseHeaders = {};
  #body = '';
  #bytes: Uint8Array = new Uint8Array();
  readonly #decoder = new TextDecoder();

  /** Takes the next part; the answer when it is complete, null before. */
  take(input: ExchangeInput): Answer | null {
    switch (input.kind) {
      case 'head':
        this.#status = input.status;
        this.#headers = input.headers;
        return null;
      case 'chunk':
        return this.#append(input.data);
      case 'end':
        return this.#complete();
      case 'failed':
        return { kind: 'none', message: input.message };
    }
  }

  #append(data: Uint8Array | string): Answer | null {
    if (this.#isProtobuf && typeof data !== 'string') return this.#appendBytes(data);
    this.#body += typeof data === 'string' ? data : this.#decoder.decode(data, { stream: true });
    if (this.#body.length <= bodyLengthMax) return null;
    return { kind: 'none', message: `the answer is longer than ${bodyLengthMax} characters` };
  }

  /** Only what is said of a failure comes in protobuf, because nothing longer is asked for so. */
  #appendBytes(data: Uint8Array): Answer | null {
    this.#bytes = joinBytes(this.#bytes, data);
    if (this.#bytes.length <= failureBytesMax) return null;
    return { kind: 'none', message: `the answer is longer than ${failureBytesMax} bytes` };
  }

  get #isProtobuf(): boolean {
    return isProtobuf(this.#headers);
  }

  #complete(): Answer {
    if (this.#status === 0) return { kind: 'none', message: 'the answer ended before it began' };
    const read = this.#isProtobuf ? objectFromProtobuf(this.#bytes) : null;
    const body = read ? JSON.stringify(read) : this.#body + this.#decoder.decode();
    return { kind: 'response', status: this.#status, headers: this.#headers, body };
  }
}
