// The settings of the endpoints: pages, certificates, and the readers that are let in.

import { inputFile } from './files.ts';
import { choice, duration, ipAddress, paths, wholeNumber } from './kind.ts';
import { section, setting } from './setting.ts';

const inServing = section('serving');

/** Where, and by which certificate. */
export const serving = {
  bindAddress: inServing(
    'bind-address',
    ipAddress,
    '::',
    'address to serve health, metrics and explanations on; :: and 0.0.0.0 mean all of a machine, ' +
      'of both families',
  ),
  securePort: inServing(
    'secure-port',
    wholeNumber(0, 65_535),
    10_257,
    'port to serve them on over HTTPS; 0: not at all',
  ),
  healthzBindAddress: inServing(
    'healthz-bind-address',
    ipAddress,
    '::',
    'address to serve health alone on',
  ),
  healthzPort: inServing(
    'healthz-port',
    wholeNumber(0, 65_535),
    0,
    'port to serve health alone on, over HTTP, for the probes of a kubelet; 0: not at all',
  ),
  tlsCertFile: inServing(
    'tls-cert-file',
    inputFile,
    '',
    'certificate to serve with, read again when it changes; by default one of its own making',
  ),
  tlsPrivateKeyFile: inServing('tls-private-key-file', inputFile, '', 'key of --tls-cert-file'),
  tlsMinVersion: inServing(
    'tls-min-version',
    choice(['VersionTLS12', 'VersionTLS13']),
    'VersionTLS12',
    'oldest version of TLS that is spoken',
  ),
};

/** Who may read it. */
export const access = {
  authenticationKubeconfig: setting(
    'authentication-kubeconfig',
    'authentication.kubeconfig',
    inputFile,
    '',
    'kubeconfig to review tokens with; by default the connection of the controller itself',
  ),
  tokenCacheTtl: setting(
    'authentication-token-webhook-cache-ttl',
    'authentication.tokenWebhookCacheTTL',
    duration(0),
    10_000,
    'how long the review of a token holds',
  ),
  clientCaFile: setting(
    'client-ca-file',
    'authentication.clientCAFile',
    inputFile,
    '',
    'authority whose client certificates log in: user is the common name, groups the organizations',
  ),
  authorizationKubeconfig: setting(
    'authorization-kubeconfig',
    'authorization.kubeconfig',
    inputFile,
    '',
    'kubeconfig to ask with who may read what; by default the connection of the controller itself',
  ),
  alwaysAllowPaths: setting(
    'authorization-always-allow-paths',
    'authorization.alwaysAllowPaths',
    paths,
    ['/healthz', '/readyz', '/livez'],
    "paths open to everybody; one that ends in '*' stands for all that begin so",
  ),
  allowedTtl: setting(
    'authorization-webhook-cache-authorized-ttl',
    'authorization.webhookCacheAuthorizedTTL',
    duration(0),
    10_000,
    'how long a permission holds',
  ),
  deniedTtl: setting(
    'authorization-webhook-cache-unauthorized-ttl',
    'authorization.webhookCacheUnauthorizedTTL',
    duration(0),
    10_000,
    'how long a refusal holds',
  ),
};
