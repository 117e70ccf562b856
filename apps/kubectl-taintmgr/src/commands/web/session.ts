// Who may look at the page: whoever came by the address that was printed, and nobody else.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What a request is let in by, or why it is not. */
export type Admission =
  | { readonly kind: 'in'; readonly cookie: string | null }
  | { readonly kind: 'out'; readonly status: 403 | 405; readonly message: string };

const used =
  'This page is for the browser that opened the address which kubectl taintmgr web has printed, and that ' +
  'address works once. End the command and start it anew for another one.';
const secretBytes = 32;

/**
 * One session. Its address has a token that becomes a cookie at its first use. A page of another site
 * that got a name of its own to lead here (DNS rebinding) is known by the header Host, and one that
 * lets the browser ask in its name by Sec-Fetch-Site.
 */
export class Session {
  readonly #port: number;
  readonly #token: string = newSecret();
  readonly #secret: string = newSecret();
  #isUsed = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** What the user opens. */
  get address(): string {
    return `http://127.0.0.1:${this.#port}/?token=${this.#token}`;
  }

  /** Judges a request by its head alone. */
  judge({ method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): Admission {
    const hosts = ['127.0.0.1', 'localhost'].map((name) => `${name}:${this.#port}`);
    if (!hosts.includes(headers.host ?? '')) return out('wrong Host');
    if (method !== 'GET') {
      return { kind: 'out', status: 405, message: 'nothing here takes anything but GET' };
    }
    const { 'sec-fetch-site': site = 'none' } = headers;
    const isOurs = site === 'same-origin' || site === 'none';
    if (isOurs && cookiesIn(headers.cookie).some(([name, value]) => this.#isOwn(name, value))) {
      return { kind: 'in', cookie: null };
    }
    // The file of --open leads here from another site, as browsers see it.
    const asked = URL.parse(url ?? '/', 'http://127.0.0.1');
    const isFirst = !this.#isUsed && asked?.pathname === '/';
    if (!isFirst || !isSame(asked.searchParams.get('token') ?? '', this.#token)) return out(used);
    this.#isUsed = true;
    return {
      kind: 'in',
      cookie: `${this.#name}=${this.#secret}; Path=/; HttpOnly; SameSite=Strict`,
    };
  }

  /** Cookies are of all ports of a host. */
  get #name(): string {
    return `taintmgr-web-${this.#port}`;
  }

  #isOwn(name: string, value: string): boolean {
    return name === this.#name && isSame(value, this.#secret);
  }
}

function out(message: string): Admission {
  return { kind: 'out', status: 403, message };
}

function newSecret(): string {
  return randomBytes(secretBytes).toString('base64url');
}

function cookiesIn(header: string | undefined): readonly (readonly [string, string])[] {
  return (header ?? '').split(';').map((part) => {
    const [name = '', value = ''] = part.trim().split('=');
    return [name, value] as const;
  });
}

/** In a time that says nothing of where they differ. */
function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
