// The errors of admission webhooks as the real server words them.
import { ApiError, badRequest, type StatusDetails } from './errors.ts';

/** The parts of a webhook's answer beside its refusal. */
export interface WebhookStatus {
  /** The HTTP status of the refusal; one below 400 is raised to it. */
  readonly code?: number;
  /** The reason, for people. */
  readonly message?: string;
  /** The reason, for programs; used as text without a message. */
  readonly reason?: string;
  /** Handed on to the client. */
  readonly details?: StatusDetails;
}

/** The least status that is a refusal; one below it is raised to it. */
const codeMin = 400;

/** A refusal by a webhook, which chooses the status; the server begins the sentence. */
export function deniedByWebhook(webhook: string, status: WebhookStatus = {}): ApiError {
  const { code = 0, message = '', reason = '', details } = status;
  const who = `admission webhook "${webhook}" denied the request`;
  const why = message || reason;
  const text = why ? `${who}: ${why}` : `${who} without explanation`;
  return new ApiError(Math.max(code, codeMin), reason || null, text, details);
}

/** 500: a webhook could not be asked, or its answer makes no sense. */
export function webhookFailed(webhook: string, why: string): ApiError {
  const message = `failed calling webhook "${webhook}": ${why}`;
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message }],
  });
}

/** 400: a dry run that a webhook might act on. */
export function dryRunUnsupported(webhook: string): ApiError {
  return badRequest(`admission webhook "${webhook}" does not support dry run`);
}

const answers: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/**
 * The Status that a Kubernetes client makes of an HTTP status other than success; `text` is the
 * body.
 */
export function unexpectedStatus(code: number, text: string): string {
  const known = answers[code];
  if (known !== undefined) return known;
  if (code === 403 || code === 406 || code === 415) return text;
  if (code >= 500) {
    return `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
  }
  return `the server responded with the status code ${code} but did not return more details`;
}
