// The tables by which HPACK writes a header as a number (RFC 7541, appendix A and section 2.3.2).

/** A header as it is on its way; bytes are letters, as in Latin-1. */
export type Header = readonly [name: string, value: string];

/** What every connection knows from the start, from number 1 on. */
export const staticHeaders: readonly Header[] = `
:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`
  .trim()
  .split('\n')
  .map((line) => {
    const [name = '', ...value] = line.split(' ');
    return [name, value.join(' ')];
  });

/** What both ends keep unless one of them wants it smaller. */
export const tableBytesMax = 4096;
/** What each header counts for beside its letters. */
const headerBytes = 32;

/** What a connection has learnt: the newest header has the lowest number, the oldest go first. */
export class HeaderTable {
  readonly #headers: Header[] = [];
  #bytes = 0;
  #bytesMax = tableBytesMax;
  readonly #onDropped: (header: Header) => void;

  constructor(onDropped: (header: Header) => void = () => {}) {
    this.#onDropped = onDropped;
  }

  get length(): number {
    return this.#headers.length;
  }

  /** The header with this number, static ones included; undefined: there is none. */
  get(number: number): Header | undefined {
    if (number <= staticHeaders.length) return staticHeaders[number - 1];
    return this.#headers[this.#headers.length - (number - staticHeaders.length)];
  }

  /** One that is larger than the table empties it. */
  add(header: Header): void {
    this.#headers.push(header);
    this.#bytes += bytesOf(header);
    this.#shrink();
  }

  /** Whether it would stay there. */
  takes(header: Header): boolean {
    return bytesOf(header) <= this.#bytesMax;
  }

  resize(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#shrink();
  }

  #shrink(): void {
    while (this.#bytes > this.#bytesMax) {
      const oldest = this.#headers.shift();
      if (!oldest) return;
      this.#bytes -= bytesOf(oldest);
      this.#onDropped(oldest);
    }
  }
}

/** What it counts, by HPACK and by HTTP/2. */
export function bytesOf([name, value]: Header): number {
  return name.length + value.length + headerBytes;
}
