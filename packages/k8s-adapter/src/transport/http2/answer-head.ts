// The head of an answer, as the headers of HTTP/2 have it (RFC 9113, section 8.3.2).
import type { ResponseHeaders } from '../../proto/answer.ts';
import type { Header } from './header-table.ts';

/** What the headers say, or why they are the head of no answer. */
export type AnswerHead =
  /** Below 200 it only says that the answer is to come. */
  | { readonly fault: null; readonly status: number; readonly headers: ResponseHeaders }
  | { readonly fault: string };

export function answerHead(headers: readonly Header[]): AnswerHead {
  let status: string | undefined;
  const flat: Record<string, string> = {};
  // Not taken apart: each would go through two iterators, for each answer.
  for (const header of headers) {
    const name = header[0];
    const value = header[1];
    if (name === ':status') {
      if (status !== undefined) return { fault: 'an answer with two statuses' };
      status = value;
    }
    if (name.startsWith(':')) continue;
    const known = flat[name];
    flat[name] = known === undefined ? value : `${known}, ${value}`;
  }
  const fault = statusFault(status);
  return fault === null ? { fault, status: Number(status), headers: flat } : { fault };
}

/** Others' words in a message are short. */
const statusLengthMax = 20;

function statusFault(status: string | undefined): string | null {
  if (status === undefined) return 'an answer without a status';
  // To go over to another protocol is not for HTTP/2.
  if (/^[1-9]\d\d$/.test(status) && status !== '101') return null;
  return `an answer with the status ${JSON.stringify(status.slice(0, statusLengthMax))}`;
}
