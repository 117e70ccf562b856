// Reads the body of a request as its kind.
import { badRequest, invalid, noProtobufKind, unsupportedMediaType } from '../objects/errors.ts';
import { depthMax, int64Max, isObject } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import type { CustomKind } from '../resources/resource.ts';
import type { Struct } from '../schema/types.ts';
import { invalidValue } from '../validation/causes.ts';
import type { ApiRequest } from '../wire/exchange.ts';
import { cannotBeHandled, decodeAs, membersRead } from '../write/canonical.ts';
import type { Call } from './front.ts';

/** A kind that can be the body of a request. */
export interface BodyKind {
  /** The API group; '' for the core group. */
  readonly group: string;
  /** Such as `v1`. */
  readonly version: string;
  /** Such as `Pod`. */
  readonly kind: string;
  /** The fields of the kind. */
  readonly schema: Struct;
  /** The reader of a custom resource; null or left out for a built-in kind. */
  readonly custom?: CustomKind | null;
}

export interface Body {
  readonly object: KubeObject;
  /** Texts for the Warning header. */
  readonly warnings: string[];
}

/** The media type of a request's body, '' when none is named. */
export function mediaType(request: ApiRequest): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** The body as text. */
export function bodyText(request: ApiRequest): string {
  const { body } = request;
  if (body === null) return '';
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
}

/**
 * Reads the body as JSON, whatever carries it: JSON, YAML that is JSON, or protobuf of the few
 * kinds kubectl sends so. Throws ApiError 415, and what `refuse` makes of a parse error.
 */
export function readJson({ request, formats }: Call, refuse: (parseError: string) => Error): Json {
  const type = mediaType(request);
  if (type === 'application/vnd.kubernetes.protobuf') {
    const { body } = request;
    const bytes =
      typeof body === 'string' ? Buffer.from(body, 'latin1') : (body ?? new Uint8Array());
    const decoded = formats.decode(bytes);
    if (decoded === null) throw noProtobufKind();
    return decoded;
  }
  if (type !== '' && type !== 'application/json' && type !== 'application/yaml') {
    throw unsupportedMediaType();
  }
  return valueIn(request) ?? parseJson(bodyText(request), refuse);
}

/** The body that came as a value; undefined: it came as text. */
export function valueIn({ value }: ApiRequest): Json | undefined {
  return value as Json | undefined;
}

/** Parses JSON; what does not parse becomes the error that `refuse` makes of Go's message. */
export function parseJson(text: string, refuse: (parseError: string) => Error): Json {
  if (isDeeperThan(text, depthMax)) throw refuse('exceeded max depth');
  const tooLarge = tooLargeNumber(text);
  if (tooLarge !== null) throw refuse(`json: cannot unmarshal number ${tooLarge} of type int64`);
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw refuse(goMessage(text, String(error)));
  }
}

const int64Min = -(2n ** 63n);

/** The text of a whole number that exceeds int64; null if there is none. */
function tooLargeNumber(text: string): string | null {
  // Nearly no text has such a long run of digits, and nearly none of those has it in a number.
  if (!/\d{19}/.test(text)) return null;
  for (const [, number] of text.matchAll(
    /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|(-?\d{19,})(?![\d.eE])/g,
  )) {
    if (number === undefined) continue;
    const value = BigInt(number);
    if (value > int64Max || value < int64Min) return number;
  }
  return null;
}

function isDeeperThan(json: string, max: number): boolean {
  if (json.length <= max) return false;
  let depth = 0;
  for (const [token] of json.matchAll(/"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|[[{\]}]/g)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    if (depth > max) return true;
  }
  return false;
}

/** The faults that JSON.parse reports, and Go's words for the place of a wrong character. */
const goPlaces: readonly (readonly [fault: RegExp, place: string])[] = [
  [/after property name/, 'after object key'],
  [/property name/, 'looking for beginning of object key string'],
  [/after property value/, 'after object key:value pair'],
  [/after array element/, 'after array element'],
  [/after JSON/, 'after top-level value'],
];

function goMessage(text: string, message: string): string {
  const at = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
  const found = /Unexpected token '(.)'/u.exec(message)?.[1] ?? text[at];
  if (text.trim() === '' || found === undefined) return 'unexpected end of JSON input';
  const place = goPlaces.find(([fault]) => fault.test(message))?.[1];
  return `invalid character '${found}' ${place ?? 'looking for beginning of value'}`;
}

/**
 * Reads the body as an object of the kind; 400 for another kind, unknown fields per query. The
 * parts shared with `previous`, a stored object whose form no client sees, are not read again.
 */
export function readObject(call: Call, kind: BodyKind, previous: KubeObject | null = null): Body {
  const { request, info } = call;
  const { query } = info;
  const value = readJson(call, (parseError) => {
    return badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; json parse error: ${parseError} (${summary(bodyText(request))})`,
    );
  });
  if (kind.custom) checkCustomKind(value, kind);
  else checkKind(value, kind);
  const twice = repeatedIn(request, query, kind);
  return decodeBody(value, query, kind, previous, previous !== null, twice);
}

/**
 * Members that a body has twice; only clients that ask for validation, or define kinds, are warned.
 */
function repeatedIn(
  request: ApiRequest,
  query: URLSearchParams,
  { custom }: BodyKind,
): readonly string[] {
  const isAsked = query.has('fieldValidation') ? query.get('fieldValidation') !== 'Ignore' : custom;
  const isJson = !/yaml|protobuf/.test(mediaType(request));
  if (!isAsked || !isJson || valueIn(request) !== undefined) return [];
  return repeatedMembers(bodyText(request));
}

/**
 * Reads JSON as an object of the kind, warning about unknown fields or refusing them. The parts
 * shared with `previous`, a stored object, are not read again.
 */
export function decodeBody(
  value: Json,
  query: URLSearchParams,
  kind: BodyKind,
  previous: KubeObject | null = null,
  isBrief = false,
  twice: readonly string[] = [],
): Body {
  const known = previous && (isBrief ? previous : membersRead(previous));
  const { value: object, unknown } = decodeAs(kind, value, known);
  const warnings = [
    ...twice.map((path) => `duplicate field "${path}"`),
    ...unknown.map((path) => `unknown field "${path}"`),
  ];
  const validation = query.get('fieldValidation') ?? '';
  if (validation === 'Strict' && warnings.length > 0) {
    const text = `strict decoding error: ${warnings.join(', ')}`;
    throw cannotBeHandled(kind, kind.kind, kind.version, text);
  }
  return { object: object as KubeObject, warnings: validation === 'Ignore' ? [] : warnings };
}

/**
 * The part of a body that a refusal shows: its beginning, in hexadecimal digits if the body is no
 * JSON.
 */
function summary(text: string): string {
  if (text === '') return '<empty>';
  const bytes = Buffer.from(text);
  const shown = bytes.subarray(0, 30).toString(text.startsWith('{') ? 'utf8' : 'hex');
  return bytes.length > 30 ? `${shown} ...` : shown;
}

/** The body of a custom resource must state its kind. */
function checkCustomKind(value: Json, { group, version, kind }: BodyKind): void {
  const text = JSON.stringify(value);
  const unrecognized = `the object provided is unrecognized (must be of type ${kind})`;
  if (!isObject(value)) throw badRequest(`${unrecognized}: couldn't get version/kind`);
  const given = typeof value.kind === 'string' ? value.kind : '';
  if (given === '') {
    throw badRequest(`${unrecognized}: Object 'Kind' is missing in '${text}' (${summary(text)})`);
  }
  const expected = `${group}/${version}`;
  const apiVersion = typeof value.apiVersion === 'string' ? value.apiVersion : '';
  if (given !== kind) {
    const metadata = isObject(value.metadata) ? value.metadata : {};
    const name = typeof metadata.name === 'string' ? metadata.name : '';
    const [apiGroup = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
    const cause = invalidValue('kind', given, `must be ${kind}`);
    throw invalid({ group: apiGroup, kind: given }, name, [cause]);
  }
  if (apiVersion === expected) return;
  throw badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
  );
}

/** Throws ApiError 400 for a value that says that it is of another kind or version. */
export function checkKind(value: Json, kind: BodyKind): void {
  if (!isObject(value)) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind`,
    );
  }
  const givenKind = typeof value.kind === 'string' ? value.kind : kind.kind;
  const expected = kind.group ? `${kind.group}/${kind.version}` : kind.version;
  const given = typeof value.apiVersion === 'string' ? value.apiVersion : expected;
  const version = given.split('/').at(-1) ?? '';
  if (givenKind !== kind.kind) {
    const text = `converting (${version}.${givenKind}) to (core.${kind.kind}): unknown conversion`;
    throw cannotBeHandled(kind, givenKind, version, text);
  }
  if (given === expected || (kind.kind === 'Eviction' && given === 'policy/v1beta1')) return;
  const text = `no kind "${givenKind}" is registered for version "${given}" in scheme "pkg/api/legacyscheme/scheme.go:30"`;
  throw cannotBeHandled(kind, givenKind, version, text);
}

// Members that a JSON text has twice in one object, which JSON.parse says nothing of.

interface Level {
  readonly path: string;
  /** Null for a list. */
  readonly names: Set<string> | null;
  at: number;
}

/** The paths of repeated members, once for each repetition, in a text that parses. */
function repeatedMembers(json: string): readonly string[] {
  const repeated: string[] = [];
  const levels: Level[] = [];
  let name = '';
  const here = (): string => {
    const level = levels.at(-1);
    if (!level) return '';
    if (!level.names) return `${level.path}[${level.at}]`;
    return level.path === '' ? name : `${level.path}.${name}`;
  };
  for (const [token, text] of json.matchAll(
    /("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[[\]{},]/g,
  )) {
    const level = levels.at(-1);
    if (text !== undefined) {
      name = JSON.parse(text) as string;
      if (level?.names?.has(name)) repeated.push(here());
      level?.names?.add(name);
    } else if (token === '{') levels.push({ path: here(), names: new Set(), at: 0 });
    else if (token === '[') levels.push({ path: here(), names: null, at: 0 });
    else if (token === '}' || token === ']') levels.pop();
    else if (token === ',' && level && !level.names) level.at++;
  }
  return repeated;
}
