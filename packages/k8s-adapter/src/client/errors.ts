// The errors that a request of a command may end in, for people. A command line knows them before it
// loads anything else.
import type { Failure, FailureStage } from '../proto/answer.ts';

/** The API server refused; `failure` has its words, `message` those kubectl would print. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
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
    // Who has shown a certificate runs, and the message says what is wrong with it.
    const isRefused = stage === 'request' && /certificate/i.test(why);
    super(`${failed(server)}: ${why}${isRefused ? '' : `; ${check}`}`);
  }
}

/** What answers there is not the API server that was asked for. */
export class WrongServerError extends ConnectionError {}

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
