// The interface by which webhooks are reached; a host with a network implements it.

/** One POST to a webhook. */
export interface WebhookCall {
  /** Where it goes, as error texts show it. */
  readonly url: string;
  /** Where it really goes: the same, or one of those behind a Service. */
  readonly host: string;
  readonly port: number;
  /** The name that the certificate must have. */
  readonly serverName: string;
  /** The authorities that it must be signed by, PEM; null: those that the machine trusts. */
  readonly ca: string | null;
  /** An AdmissionReview in JSON. */
  readonly body: string;
}

export type WebhookOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** '' where it does not say. */
      readonly contentType: string;
      readonly body: string;
    }
  /** `why` as Go words it: `dial tcp 127.0.0.1:9443: connect: connection refused`. */
  | { readonly kind: 'failed'; readonly why: string };

/** Sends it and tells what came of it, once; what is returned gives up. */
export type CallWebhook = (
  call: WebhookCall,
  done: (outcome: WebhookOutcome) => void,
) => () => void;

/** For a server without a network: no webhook can be reached. */
export const unreachable: CallWebhook = ({ host, port }, done) => {
  done({ kind: 'failed', why: `dial tcp ${host}:${port}: connect: network is unreachable` });
  return () => {};
};
