// The validation of where a webhook is.
import type { Cause } from '@taintmgr/sim-cluster/server';
import { invalidValue, required, subdomainErrors } from '@taintmgr/sim-cluster/server';

/** The address of a webhook: a URL or a Service. */
export interface ClientConfig {
  readonly url?: string;
  readonly service?: ServiceReference;
  /** PEM in base64; left out: the authorities that the machine trusts. */
  readonly caBundle?: string;
}

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port: number;
}

const form = '; desired format: https://host[:port]/path';

/** The rules for a clientConfig at `field`. */
export function validateWebhookAddress(
  { url, service }: ClientConfig,
  field: string,
): readonly Cause[] {
  if (url !== undefined && service === undefined) return validateUrl(url, `${field}.url`);
  if (service !== undefined && url === undefined) {
    return validateReference(service, `${field}.service`);
  }
  return [required(field, 'exactly one of url or service is required')];
}

function validateUrl(text: string, field: string): readonly Cause[] {
  // The parts of a reference by RFC 3986; a reference without scheme or host has empty ones.
  const parts = /^(?:([A-Za-z][\w+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(
    text,
  );
  const [, scheme = '', authority = '', query = '', fragment = ''] = parts ?? [];
  const [user, host] = authority.includes('@') ? authority.split('@') : ['', authority];
  if (scheme && host && !URL.canParse(text)) {
    return [required(field, `url must be a valid URL: parse ${JSON.stringify(text)}${form}`)];
  }
  const notPermitted = (value: string, what: string): readonly Cause[] =>
    value ? [invalidValue(field, value, `${what} are not permitted in the URL`)] : [];
  return [
    ...(scheme.toLowerCase() === 'https'
      ? []
      : [invalidValue(field, scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host ? [] : [invalidValue(field, host ?? '', `host must be specified${form}`)]),
    ...(user ? [invalidValue(field, user, 'user information is not permitted in the URL')] : []),
    ...notPermitted(fragment, 'fragments'),
    ...notPermitted(query, 'query parameters'),
  ];
}

function validateReference(
  { name, namespace, path = '', port }: ServiceReference,
  field: string,
): readonly Cause[] {
  const isPort = port >= 1 && port <= 65_535;
  return [
    ...(name ? [] : [required(`${field}.name`, 'service name is required')]),
    ...(namespace ? [] : [required(`${field}.namespace`, 'service namespace is required')]),
    ...(isPort
      ? []
      : [
          invalidValue(
            `${field}.port`,
            port,
            'port is not valid: must be between 1 and 65535, inclusive',
          ),
        ]),
    ...validatePath(path, `${field}.path`),
  ];
}

/** Segments like names of objects, each after a slash. */
function validatePath(path: string, field: string): readonly Cause[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalidValue(field, path, 'segment[0] may not be empty')];
  const begins = path.startsWith('/') ? [] : [invalidValue(field, path, "must start with a '/'")];
  const segments = path.replace(/\/$/, '').slice(1).split('/');
  return [
    ...begins,
    ...segments.flatMap((segment, at) => {
      const errors = segment === '' ? ['may not be empty'] : subdomainErrors(segment);
      const separator = segment === '' ? ' ' : ': ';
      return errors.map((error) => invalidValue(field, path, `segment[${at}]${separator}${error}`));
    }),
  ];
}
