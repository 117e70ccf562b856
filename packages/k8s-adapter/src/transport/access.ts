import type { Agent, OutgoingHttpHeaders } from 'node:http';
import type { AgentOptions } from 'node:https';

/** TLS settings of a connection. Left out: those of the process. */
export type TlsMaterial = Pick<
  AgentOptions,
  'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'
>;

/** Everything that one request needs to be admitted. */
export interface Authorization {
  /** The headers with the credentials, such as Authorization. */
  readonly headers: OutgoingHttpHeaders;
  /** The authorities, and the client certificate. */
  readonly tls: TlsMaterial;
  /** The HTTP proxy between us and the server; null or left out: none. */
  readonly proxy?: URL | null;
  /** Makes the connections instead of us, e.g. through a SOCKS proxy; null: we make them. */
  readonly agent: Agent | null;
}

/** The parts of a way into an API server: address, TLS, proxy, credentials. */
export interface Access {
  /** Base URL, e.g. `https://10.0.0.1:6443` or `https://host/k8s/clusters/c-1`. */
  readonly server: string;
  /**
   * Asked before each request, once for those that are sent together, because tokens and certificates
   * change. Rejects when it fails.
   */
  authorize(): Promise<Authorization>;
  /** Called for a 401, so that a cached credential is not used again. */
  rejected(): void;
  /** Called when it is not needed for now: anything it waits for is given up. */
  close?(): void;
}

/** Tells whether both make the same connections. */
export function sameTls(one: TlsMaterial, other: TlsMaterial): boolean {
  return (
    String(one.ca) === String(other.ca) &&
    String(one.cert) === String(other.cert) &&
    String(one.key) === String(other.key) &&
    one.servername === other.servername &&
    one.rejectUnauthorized === other.rejectUnauthorized
  );
}
