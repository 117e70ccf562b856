// The interface by which webhooks are reached; a host with a network implements it.

/** One POST to a webhook. */
export interface WebhookCall {
  /** The address as error texts show it. */
  readonly url: string;
  /** The real address: the same, or an endpoint of the Service. */
  readonly host: string;
  /** The port of the host. */
  readonly port: number;
  /** The name that the certificate must have. */
  readonly serverName: string;
  /** The authorities that it must be signed by, PEM; null: those that the machine trusts. */
  readonly ca: string | null;
  /** An AdmissionReview in JSON. */
  readonly body: string;
}

/** The answer of a webhook, or the reason why there is none. */
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

/** Sends the request and reports its outcome once; the returned function gives up. */
export type CallWebhook = (
  call: WebhookCall,
  done: (outcome: WebhookOutcome) => void,
) => () => void;

/** For a server without a network: no webhook can be reached. */
export const unreachable: CallWebhook = ({ host, port }, done) => {
  done({ kind: 'failed', why: `dial tcp ${host}:${port}: connect: network is unreachable` });
  return () => {};
};
