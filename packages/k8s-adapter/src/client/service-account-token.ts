import type { Millis } from '@taintmgr/core/time';
import { objectRequest } from '../proto/api-request.ts';
import { asInteger, asRecord, asText } from '../proto/json.ts';
import type { Transport } from '../transport/sink.ts';
import { ApiClient } from './client.ts';

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** The least that an API server gives a token for is ten minutes. */
const wantedSeconds = 3600;
/** A token is replaced when so much of its life is over. */
const usedShare = 0.75;

/** The token of a service account, asked for and renewed by TokenRequest. */
export class ServiceAccountToken {
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
