// Headers that say who is impersonated, written as client-go does.
import type { OutgoingHttpHeaders } from 'node:http';

/** What may stand in the name of a header; of these client-go escapes the percent sign. */
const nameByte = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;

/** The header that says one more thing of the user to impersonate, written as client-go does. */
export function extraHeader(key: string, values: readonly string[]): OutgoingHttpHeaders {
  const escaped = [...Buffer.from(key)]
    .map((byte) => [byte, String.fromCharCode(byte)] as const)
    .map(([byte, text]) => (nameByte.test(text) ? text : percentEncoded(byte)));
  return { [`impersonate-extra-${escaped.join('')}`]: values.map(headerText) };
}

/** Go sends the bytes of UTF-8 and reads them as such; Node takes each letter of a header for a byte. */
export function headerText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function percentEncoded(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
