// The forms of bodies and answers beside JSON: protobuf, YAML, tables, server-side apply.

import {
  type ApiRequest,
  apiVersionOf,
  type Binary,
  bodyReply,
  bodyText,
  chunksOf,
  errorReply,
  type Formats,
  formOf,
  isJson,
  isList,
  isObject,
  jsonWatch,
  mediaType,
  parseAccept,
  type Reply,
  type Representation,
  type RequestInfo,
  type ResourceCall,
  statusReply,
  type Talk,
  type WatchFormat,
} from '@taintmgr/sim-cluster/server';
import { applyRequest } from '../apply/apply.ts';
import { decodeProtobuf } from '../protobuf/decode.ts';
import {
  encodeFrame,
  encodeObject,
  hasProtobuf,
  isOftenRead,
  protobufType,
} from '../protobuf/encode.ts';
import { printerFor } from '../table/printers.ts';

// Writes JSON values as YAML, in blocks as the real server does.

const yamlType = 'application/yaml';

/** True if the first entry of the Accept header that the server understands asks for YAML. */
function prefersYaml(headers: Readonly<Record<string, string>>): boolean {
  for (const { mediaType, parameters } of parseAccept(headers.accept ?? '*/*')) {
    if (mediaType === yamlType && parameters.as === undefined) return true;
    if (mediaType === 'application/json' || mediaType === '*/*') return false;
  }
  return false;
}

/** A document. */
export function yamlText(value: unknown): string {
  return `${block(value, '')}\n`;
}

function block(value: unknown, indent: string): string {
  if (isList(value) && value.length > 0) {
    return value.map((item) => `${indent}- ${block(item, `${indent}  `).trimStart()}`).join('\n');
  }
  if (!isObject(value) || Object.keys(value).length === 0) return `${indent}${scalarText(value)}`;
  return Object.entries(value)
    .map(([key, member]) => `${indent}${scalarText(key)}:${memberText(member, indent)}`)
    .join('\n');
}

function memberText(member: unknown, indent: string): string {
  const isEmpty = !(isList(member) || isObject(member)) || Object.keys(member).length === 0;
  if (isEmpty) return ` ${scalarText(member)}`;
  // Lists stand where their key stands.
  return `\n${block(member, isList(member) ? indent : `${indent}  `)}`;
}

/** Texts that YAML would not read as texts; those of version 1.1 too. */
const notPlain = /^(?:~|null|true|false|yes|no|on|off|y|n|[-+.]?[\d.][\w.:+-]*)$/i;

function scalarText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPlain = /^[A-Za-z_/][\w./-]*(?: [\w./-]+)*$/.test(value) && !notPlain.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** Reads one YAML document; throws for other text. */
export type ParseYaml = (text: string) => unknown;

/** The formats that a server reads and writes beside JSON. */
export interface FormatOptions {
  /** Reads YAML, for request bodies of that type; left out: only YAML that is JSON is understood. */
  readonly parseYaml?: ParseYaml;
  /**
   * Answers pods, nodes, leases and DaemonSets in protobuf on request. Some of their rare fields
   * are missing there, so the option suits clients that read what controllers read; off by default.
   */
  readonly protobuf?: boolean;
}

/** The formats of one server. */
export function formatsOf({ parseYaml, protobuf = false }: FormatOptions): Formats {
  return {
    talk: (request, info) => talk(request, info, { protobuf, ...(parseYaml ? { parseYaml } : {}) }),
    decode: decodeProtobuf,
    binary: (call) => binary(call, protobuf),
    printerOf: (resource) => resource.printer ?? printerFor(resource.plural),
    apply: applyRequest,
  };
}

const notAcceptableCode = 406;
const yamlTypes: readonly string[] = [yamlType, 'application/apply-patch+yaml'];

function talk(
  asked: ApiRequest,
  info: RequestInfo,
  { parseYaml, protobuf = false }: FormatOptions,
): Talk {
  const { headers } = asked;
  const isYaml = prefersYaml(headers) && /^\/apis?(\/|$)/.test(info.path);
  const inProtobuf = prefersProtobuf(headers) && (protobuf || !takesJson(headers));
  const request = parseYaml ? inJson(asked, parseYaml) : asked;
  return {
    // A watch cannot be answered in YAML.
    request:
      isYaml && info.verb !== 'watch'
        ? { ...request, headers: { ...headers, accept: 'application/json' } }
        : request,
    watch: inProtobuf ? protobufWatch : jsonWatch,
    reply: (reply) => (isYaml ? inYaml(reply) : reply),
    refuse: (error) => {
      // A client that asks for an unavailable form is refused in JSON.
      const isBinary = inProtobuf && error.code !== notAcceptableCode;
      return errorReply(error, isBinary ? (...all) => protobufReply(...all) : statusReply);
    },
  };
}

/**
 * Returns the request with a YAML body turned into JSON; an invalid body is left for the handler to
 * refuse.
 */
function inJson(request: ApiRequest, parseYaml: ParseYaml): ApiRequest {
  if (!yamlTypes.includes(mediaType(request))) return request;
  try {
    return { ...request, body: JSON.stringify(parseYaml(bodyText(request))) };
  } catch {
    return request;
  }
}

/** A response in YAML; bodies other than JSON stay unchanged. */
function inYaml(reply: Reply): Reply {
  if (reply.headers['content-type'] !== 'application/json') return reply;
  const { value: _value, ...rest } = reply;
  const text = [...chunksOf(reply)].join('');
  const headers = { ...reply.headers, 'content-type': yamlType };
  return { ...rest, headers, body: yamlText(JSON.parse(text)) };
}

/** A response in protobuf; each warning becomes a Warning header entry. */
function protobufReply(status: number, object: object, warnings: readonly string[] = []): Reply {
  const reply = bodyReply(status, '', warnings);
  const headers = { ...reply.headers, 'content-type': protobufType };
  return { ...reply, headers, body: [encodeObject({ ...object })] };
}

/** Each event after its length. */
const protobufWatch: WatchFormat = {
  headers: { ...jsonWatch.headers, 'content-type': `${protobufType};stream=watch` },
  event: encodeFrame,
};

/** Returns the protobuf form if the server prefers it, or if the client accepts no other. */
function binary({ request, resource }: ResourceCall, isPreferred: boolean): Binary | null {
  const form = protobufForm(request.headers);
  if (!form) return null;
  const isWritten = takesJson(request.headers)
    ? isPreferred && isOftenRead(resource.kind)
    : form !== 'object' || hasProtobuf(apiVersionOf(resource), resource.kind);
  return isWritten ? { form, watch: protobufWatch, reply: protobufReply } : null;
}

type Headers = Readonly<Record<string, string>>;

/** The form that is asked for by the first entry that is understood, where that is protobuf; no Table is. */
function protobufForm(headers: Headers): Representation['form'] | null {
  for (const { mediaType, parameters } of parseAccept(headers.accept || '*/*')) {
    const form = formOf(parameters);
    if (form && isJson(mediaType)) return null;
    if (form && form !== 'table' && mediaType === protobufType) return form;
  }
  return null;
}

/** True if an answer without another form, such as a Status, should be in protobuf. */
function prefersProtobuf(headers: Headers): boolean {
  const plain = parseAccept(headers.accept || '*/*').find(
    ({ mediaType, parameters }) =>
      parameters.as === undefined && (mediaType === protobufType || isJson(mediaType)),
  );
  return plain?.mediaType === protobufType;
}

/** Whether JSON will do, in any form. */
function takesJson(headers: Headers): boolean {
  return parseAccept(headers.accept || '*/*').some(({ mediaType }) => isJson(mediaType));
}
