// Asks admission webhooks over HTTPS.
import { request } from 'node:https';
import { isIP } from 'node:net';
import type { CallWebhook, WebhookCall } from '../admission/webhooks/call.ts';

/** A longer answer is cut off, and then is invalid JSON. */
const answerBytesMax = 3 * 1024 * 1024;

/**
 * POSTs an AdmissionReview; errors are worded as by Go's client. Of an answer, at most 3 MiB are read.
 * For `callWebhook` of `ApiServerOptions`.
 */
export const callOverHttps: CallWebhook = (call, done) => {
  const { url, host, port, serverName, ca, body } = call;
  const { pathname, search } = new URL(url);
  const sent = request(
    {
      host,
      port,
      // TLS cannot ask for an IP address by name, yet the certificate must still contain it.
      servername: isIP(serverName) ? '' : serverName,
      ...(ca === null ? {} : { ca }),
      // A certificate is looked at for each call, as configurations may say another authority each time.
      agent: false,
      method: 'POST',
      path: `${pathname}${search}`,
      headers: {
        host: `${serverName}:${port}`,
        accept: 'application/json, */*',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'kube-apiserver-admission',
      },
    },
    (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= answerBytesMax) chunks.push(chunk);
      });
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        const { statusCode: status = 0, headers } = response;
        const contentType = headers['content-type'] ?? '';
        done({ kind: 'answered', status, contentType, body });
      });
      response.on('error', () => done({ kind: 'failed', why: 'unexpected EOF' }));
    },
  );
  sent.on('error', (error: NodeJS.ErrnoException) => {
    done({ kind: 'failed', why: inGo(error, call) });
  });
  sent.end(body);
  return () => void sent.destroy();
};

const untrusted: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);
const verifying = 'tls: failed to verify certificate: x509:';

function inGo({ code = '', message }: NodeJS.ErrnoException, call: WebhookCall): string {
  const { host, port, serverName } = call;
  const dial = `dial tcp ${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (untrusted.has(code)) return `${verifying} certificate signed by unknown authority`;
  switch (code) {
    case 'ECONNREFUSED':
      return `${dial}: connect: connection refused`;
    case 'EHOSTUNREACH':
      return `${dial}: connect: no route to host`;
    case 'ENETUNREACH':
      return `${dial}: connect: network is unreachable`;
    case 'ETIMEDOUT':
      return `${dial}: connect: connection timed out`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${host}: no such host`;
    case 'ECONNRESET':
      return 'EOF';
    case 'CERT_HAS_EXPIRED':
      return `${verifying} certificate has expired or is not yet valid`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${verifying} certificate is not valid for any names, but wanted to match ${serverName}`;
    default:
      return /wrong version number|packet length/i.test(message)
        ? 'http: server gave HTTP response to HTTPS client'
        : message;
  }
}
