// Reads Accept headers: the form and the media type that an answer should have.
import { notAcceptable } from '../objects/errors.ts';
import { entry } from '../objects/json.ts';

type Headers = Readonly<Record<string, string>>;

/** In which form the client wants objects. */
export interface Representation {
  /** `object` for the whole object, `table` for rows, `partial` for metadata alone. */
  readonly form: 'object' | 'table' | 'partial' | 'partialList';
  /** True for indented JSON. */
  readonly pretty: boolean;
}

/** An entry of an Accept header. */
export interface AcceptEntry {
  readonly mediaType: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Clients send few different ones, each of them with every request. */
const accepted = new Map<string, readonly AcceptEntry[]>();
const acceptedMax = 100;

/** The entries of an Accept header in the order written, which is the order of preference. */
export function parseAccept(header: string): readonly AcceptEntry[] {
  const known = accepted.get(header);
  if (known) return known;
  const entries = entriesOf(header);
  if (accepted.size < acceptedMax) accepted.set(header, entries);
  return entries;
}

function entriesOf(header: string): readonly AcceptEntry[] {
  return header.split(',').map((entry) => {
    const [mediaType = '', ...rest] = entry.split(';').map((part) => part.trim());
    const parameters = Object.fromEntries(
      rest.map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
      }),
    );
    return { mediaType: mediaType.toLowerCase(), parameters };
  });
}

const formsByName: Readonly<Record<string, Representation['form']>> = {
  Table: 'table',
  PartialObjectMetadata: 'partial',
  PartialObjectMetadataList: 'partialList',
};
const offeredType = 'application/json';
const browserPattern = /^(curl|Wget|Mozilla)\//;

/**
 * The first entry of the Accept header that is understood; others, protobuf among them, are passed
 * over. 406 when none is. `pretty` is the query parameter.
 */
export function negotiate(headers: Headers, pretty: string | null): Representation {
  const indented = isPretty(headers['user-agent'] ?? '', pretty);
  let understood = false;
  for (const { mediaType, parameters } of parseAccept(headers.accept || '*/*')) {
    if (!isJson(mediaType)) continue;
    understood = true;
    const form = formOf(parameters);
    if (form) return { form, pretty: indented };
  }
  throw notAcceptable(
    understood
      ? `only the following media types are accepted: ${offeredType}`
      : `406: Not Acceptable\n\nAvailable representations: ${offeredType}`,
  );
}

/** True if a media type of an Accept header allows JSON. */
export function isJson(mediaType: string): boolean {
  return mediaType === offeredType || mediaType === '*/*';
}

/** The form that `as` asks for; undefined: none that exists. */
export function formOf({
  as,
  v,
  g,
}: AcceptEntry['parameters']): Representation['form'] | undefined {
  if (as === undefined) return 'object';
  const form = entry(formsByName, as);
  const isVersion = v === 'v1' || (v === 'v1beta1' && form === 'table');
  return isVersion && g === 'meta.k8s.io' ? form : undefined;
}

function isPretty(userAgent: string, parameter: string | null): boolean {
  if (parameter === null || parameter === '') return browserPattern.test(userAgent);
  return parameter === 'true' || parameter === '1';
}
