// A page of a list as the API server answers it.
import { type Failure, failureOfStatus, noAnswer } from './answer.ts';
import { answerFault, statedFailure, statedStatus } from './answer-fault.ts';
import type { ApiRequest } from './api-request.ts';
import { asList, asRecord, asText, parseJson } from './json.ts';

interface ListPage {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** '' on the last page. */
  readonly continueToken: string;
}

/** Reads what answers a request for a page. */
export function listPage(request: ApiRequest, body: string): ListPage | Failure {
  const value = parseJson(body);
  const status = statedFailure(value);
  if (status) return failureOfStatus(status, statedStatus(status));
  const why = answerFault(request, value);
  if (why !== null) return noAnswer(why);
  const { items, metadata } = asRecord(value);
  const { resourceVersion, continue: continueToken } = asRecord(metadata);
  return {
    items: asList(items),
    resourceVersion: asText(resourceVersion),
    continueToken: asText(continueToken),
  };
}
