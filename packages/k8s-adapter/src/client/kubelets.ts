// Asks kubelets for their summaries without the API server between.

import type { Millis } from '@taintmgr/core/time';
import type { KubeletAddress } from '../pressure/convert.ts';
import { asInteger, asRecord, asText } from '../proto/json.ts';
import { type ApiRequest, objectRequest } from '../proto/requests.ts';
import type { TlsMaterial } from '../transport/access.ts';
import { HttpTransport } from '../transport/http-transport.ts';
import type { Sink, Transport } from '../transport/sink.ts';
import { ApiClient } from './client.ts';

/** The way to kubelets that are asked directly. */
export interface KubeletsOptions {
  /** Where all other requests go, and where tokens come from. */
  readonly api: Transport;
  /** Null: nothing is known of it. */
  readonly addressOf: (nodeName: string) => KubeletAddress | null;
  /**
   * The authorities that vouch for the certificates of kubelets. The certificates are verified in
   * any case.
   */
  readonly ca: NonNullable<TlsMaterial['ca']>;
  /** The account whose tokens kubelets are shown. */
  readonly serviceAccount: ServiceAccountName;
  /** The program and its version. */
  readonly userAgent: string;
}

const throughApi = /^\/api\/v1\/nodes\/([^/]+)\/proxy(\/stats\/summary)$/;

/**
 * The transport, asking kubelets for their summaries without the API server between. A kubelet sees
 * the token it is shown, and one that is hostile would use it: so it is never our own, but that of
 * a service account that may read summaries and nothing else. Each answer has a separate
 * connection.
 */
export function summariesFromKubelets(options: KubeletsOptions): Transport {
  const { api, addressOf, ca, serviceAccount, userAgent } = options;
  const token = new ServiceAccountToken(api, serviceAccount);
  return {
    send: (request, sink) => {
      const [, id = '', path = ''] = throughApi.exec(request.path) ?? [];
      if (path === '') return api.send(request, sink);
      const address = addressOf(decodeURIComponent(id));
      if (!address) return failLater(sink, 'the node has no address');
      const access = {
        server: urlOf(address),
        authorize: async () => {
          const headers = { authorization: `Bearer ${await token.get()}` };
          return { headers, tls: { ca, rejectUnauthorized: true }, agent: null };
        },
        rejected: () => token.forget(),
      };
      return sendOnce(new HttpTransport(access, userAgent), { ...request, path }, sink);
    },
  };
}

function urlOf({ host, port }: KubeletAddress): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Over a connection that ends with the answer. */
function sendOnce(transport: HttpTransport, request: ApiRequest, sink: Sink): () => void {
  const hangUp = transport.send(request, {
    head: (status, headers) => sink.head(status, headers),
    data: (chunk) => sink.data(chunk),
    alive: (age) => sink.alive(age),
    end: () => {
      transport.close();
      sink.end();
    },
    failed: (message, stage) => {
      transport.close();
      sink.failed(message, stage);
    },
  });
  return () => {
    hangUp();
    transport.close();
  };
}

/**
 * At the earliest after `send` has returned: some callers ignore earlier input as of an unknown
 * request.
 */
function failLater(sink: Sink, message: string): () => void {
  const timer = setImmediate(() => sink.failed(message));
  return () => clearImmediate(timer);
}

/** The service account whose token kubelets are shown. */
interface ServiceAccountName {
  /** The namespace of the service account. */
  readonly namespace: string;
  /** The name of the service account. */
  readonly name: string;
}

/** The least that an API server gives a token for is ten minutes. */
const wantedSeconds = 3600;
/** A token is replaced when this part of its life is over. */
const usedShare = 0.75;

/** The token of a service account, asked for and renewed by TokenRequest. */
class ServiceAccountToken {
  readonly #client: ApiClient;
  readonly #path: string;
  #token: Promise<string> | null = null;
  #renewAt: Millis = Number.POSITIVE_INFINITY;

  constructor(api: Transport, { namespace, name }: ServiceAccountName) {
    this.#client = new ApiClient({ transport: api, server: 'the API server' });
    this.#path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  }

  /** Rejects when none is given; the next call asks again. */
  get(): Promise<string> {
    if (performance.now() >= this.#renewAt) this.forget();
    this.#token ??= this.#request().catch((error: unknown) => {
      this.forget();
      throw error;
    });
    return this.#token;
  }

  /** The token is not taken. */
  forget(): void {
    this.#token = null;
    this.#renewAt = Number.POSITIVE_INFINITY;
  }

  async #request(): Promise<string> {
    const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
    const body = { ...kind, spec: { expirationSeconds: wantedSeconds } };
    const answer = await this.#client.send(objectRequest('POST', this.#path, body));
    const { spec, status } = asRecord(answer);
    const token = asText(asRecord(status).token);
    if (token === '') throw new Error(`${this.#path} gave no token`);
    const seconds = asInteger(asRecord(spec).expirationSeconds) ?? wantedSeconds;
    this.#renewAt = performance.now() + seconds * 1000 * usedShare;
    return token;
  }
}
