// The errors in which a connection, a request and a kubeconfig may end, in words for people. A
// command line knows them before it loads anything else.
import type { Failure, FailureStage } from '../proto/answer.ts';

const untrusted = 'signed by an authority that is not trusted: check certificate-authority';

/** In plain words what Node says in those of its libraries, by the code of the error. */
const texts: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection was cut off',
  ERR_SSL_WRONG_VERSION_NUMBER: 'what answers there does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'what answers there does not speak TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is ${untrusted}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate is ${untrusted}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its certificate is ${untrusted}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate is ${untrusted}`,
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

/** The words of an error; those of its parts where it has none (a host with several addresses). */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map(describeError).join('; ');
  }
  if (!(error instanceof Error)) return String(error);
  const text = 'code' in error ? texts[String(error.code)] : undefined;
  return text ?? (error.message.trim() || error.name);
}

/**
 * Some servers announce an answer, once or every few seconds; without a bound that is work without
 * end.
 */
export const announcementsMax = 100;
export const announcedTooOften: string = `the answer is announced more than ${announcementsMax} times`;

/** The API server refused; `failure` has its words, `message` those kubectl would print. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Status, reason and message of the API server. */
  readonly failure: Failure;

  constructor(failure: Failure) {
    const { reason, message } = failure;
    super(`Error from server${reason === '' ? '' : ` (${reason})`}: ${message}`);
    this.failure = failure;
  }
}

/** No answer came; the message says what was tried, why it failed and what to check. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  /** `stage` 'login': the server was not asked, since there are no credentials to ask it with. */
  constructor(server: string, why: string, stage: FailureStage | 'request' = 'request') {
    const { failed, check } = attempts[stage];
    // A server that has shown a certificate runs, and the message names its fault.
    const isRefused = stage === 'request' && /certificate/i.test(why);
    const next = /does not speak TLS/.test(why) ? checkAddress : check;
    super(`${failed(server)}: ${why}${isRefused ? '' : `; ${next}`}`);
  }
}

/** Says that another server than the API server that was asked for has answered. */
export class WrongServerError extends ConnectionError {}

/** Something runs there. */
const checkAddress = 'check the address and port of the server that the current context names';

const attempts = {
  request: {
    failed: (server: string) => `request to ${server} failed`,
    check: 'check that the API server runs and that --context names the right cluster',
  },
  login: {
    failed: (server: string) => `cannot log in to ${server}`,
    check: 'check the user that the current context names (kubectl config view --minify)',
  },
} as const;

/** A configuration that cannot be used; the message is one line for the person who wrote it. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}
