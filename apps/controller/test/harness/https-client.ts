import https from 'node:https';
import { TLSSocket } from 'node:tls';

/** What a server said. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Of the server's certificate. */
  readonly fingerprint: string;
}

export interface Ask
  extends Pick<https.RequestOptions, 'host' | 'method' | 'cert' | 'key' | 'maxVersion'> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks a server on this machine, whoever it is; the connection ends with the answer. */
export function ask(port: number, path: string, options: Ask = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const where = { host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false };
    const request = https.request({ ...where, ...options }, (response) => {
      const { socket } = response;
      const fingerprint =
        socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint : '';
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body, fingerprint });
      });
    });
    request.on('error', reject);
    request.end();
  });
}
