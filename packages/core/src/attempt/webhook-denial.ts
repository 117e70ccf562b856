// How the API server says that an admission webhook has refused a request.

/** An admission webhook refused. */
export interface WebhookDenial {
  readonly webhook: string;
  /** Its own words; '': it gave none. */
  readonly words: string;
}

const denial = /^admission webhook "([^"]*)" denied the request(?:: | without explanation$)(.*)$/s;

/**
 * Reads the API server's sentence, which is the same for every webhook whatever status it answers
 * with. Null: no webhook refused. One that cannot be reached has not.
 */
export function webhookDenial(message: string): WebhookDenial | null {
  const [, webhook, words = ''] = denial.exec(message) ?? [];
  return webhook === undefined ? null : { webhook, words };
}
