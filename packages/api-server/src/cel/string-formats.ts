// The formats that schemas may ask of texts; a format that is not known is not checked.
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { type Environment, Optional } from '@marcbachmann/cel-js';
import {
  labelErrors1035,
  labelNameErrors,
  labelValueErrors,
  qualifiedNameErrors,
  subdomainErrors,
} from '@taintmgr/sim-cluster/server';

// The formats that expressions know by name: `format.dns1123Label().validate(self.name)`.

type Errors = (text: string) => readonly string[];

class NamedFormat {
  readonly errors: Errors;
  constructor(errors: Errors) {
    this.errors = errors;
  }
}

/** The name before the dot in `format.uri()`. */
class Formats {}

/** A prefix may end with a hyphen, since the generated name continues. */
const prefix =
  (errors: Errors): Errors =>
  (text) =>
    errors(text.length > 1 ? text.replace(/-$/, 'a') : text);

const schemaFormat =
  (name: string, error: string): Errors =>
  (text) =>
    hasFormat(name, text) ? [] : [error];

function uriErrors(text: string): readonly string[] {
  if (hasFormat('uri', text)) return [];
  return [`parse ${JSON.stringify(text)}: invalid URI for request`];
}

const namedFormats: Readonly<Record<string, Errors>> = {
  dns1123Label: labelNameErrors,
  dns1123Subdomain: subdomainErrors,
  dns1035Label: labelErrors1035,
  qualifiedName: qualifiedNameErrors,
  dns1123LabelPrefix: prefix(labelNameErrors),
  dns1123SubdomainPrefix: prefix(subdomainErrors),
  dns1035LabelPrefix: prefix(labelErrors1035),
  labelValue: labelValueErrors,
  uri: uriErrors,
  uuid: schemaFormat('uuid', 'does not match the UUID format'),
  byte: schemaFormat('byte', 'invalid base64'),
  date: schemaFormat('date', 'invalid date'),
  datetime: schemaFormat('datetime', 'invalid datetime'),
};

/** Adds `format` to an environment. */
export function addNamedFormats(environment: Environment): void {
  const options = { async: false };
  environment.registerType('NamedFormat', { ctor: NamedFormat, fields: {} });
  environment.registerType('Formats', Formats);
  environment.registerConstant('format', 'Formats', new Formats());
  const known = new Map(
    Object.entries(namedFormats).map(([name, of]) => [name, new NamedFormat(of)]),
  );
  for (const [name, format] of known) {
    environment.registerFunction(`Formats.${name}(): NamedFormat`, () => format, options);
  }
  environment.registerFunction(
    'Formats.named(string): optional<NamedFormat>',
    (_: Formats, name: string) => Optional.of(known.get(name)),
    options,
  );
  environment.registerFunction(
    'NamedFormat.validate(string): optional<list<string>>',
    ({ errors }: NamedFormat, text: string) => {
      const found = errors(text);
      return found.length === 0 ? Optional.none() : Optional.of(found);
    },
    options,
  );
}

const units =
  'ns|us|µs|ms|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|' +
  'd|day|days|w|wk|wks|week|weeks';
const durationPattern = new RegExp(`^[-+]?(?:\\d+(?:\\.\\d*)?\\s*(?:${units})\\s*)+$`);
const dateTimePattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[-+]\d\d:?\d\d)$/;
const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const labelPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const base64Pattern = /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** A number from 0 to 255. */
const shade = String.raw`\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*`;
const rgbPattern = new RegExp(`^rgb\\(${shade},${shade},${shade}\\)$`);

/** The pattern for one version of UUIDs; `variant` is the start of its fourth group. */
function uuidOf(version: number, variant: string): RegExp {
  const groups = ['[0-9a-f]{8}', '[0-9a-f]{4}', `${version}[0-9a-f]{3}`, variant, '[0-9a-f]{12}'];
  return new RegExp(`^${groups.join('-?')}$`, 'i');
}

const uuid3Pattern = uuidOf(3, '[0-9a-f]{4}');
const uuid4Pattern = uuidOf(4, '[89ab][0-9a-f]{3}');
const uuid5Pattern = uuidOf(5, '[89ab][0-9a-f]{3}');

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));
/** JavaScript takes the 30th of February for the 2nd of March. */
const isDateTime = (text: string): boolean =>
  dateTimePattern.test(text) && isDate(text.slice(0, 10)) && isTime(text);

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || !isTime(text)) return false;
  return new Date(text).toISOString().startsWith(text);
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  const max = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return rest.length === 0 && /^\d+$/.test(bits) && Number(bits) <= max;
}

function isUri(text: string): boolean {
  return text.startsWith('/') || (/^[a-z][-+.a-z0-9]*:/i.test(text) && URL.canParse(text));
}

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  datetime: isDateTime,
  date: isDate,
  duration: (text) => durationPattern.test(text) || /^[-+]?0$/.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  uri: isUri,
  uuid: (text) => uuidPattern.test(text),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: (text) => text.length <= 255 && text.split('.').every(isHostLabel),
  byte: (text) => base64Pattern.test(text),
  mac: (text) => /^[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}$/i.test(text),
  uuid3: (text) => uuid3Pattern.test(text),
  uuid4: (text) => uuid4Pattern.test(text),
  uuid5: (text) => uuid5Pattern.test(text),
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text),
  rgbcolor: (text) => rgbPattern.test(text),
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  k8sshortname: (text) => text.length <= 63 && labelPattern.test(text),
  k8slongname: (text) =>
    text.length <= 253 && text.split('.').every((label) => labelPattern.test(label)),
};

function isHostLabel(label: string): boolean {
  return /^[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/.test(label);
}

/** The server knows `date-time` and `datetime` as the same. */
const keyOf = (format: string): string => format.replaceAll('-', '');

/** True if a text has the format. */
export function hasFormat(format: string, text: string): boolean {
  const key = keyOf(format);
  return Object.hasOwn(formats, key) ? (formats[key]?.(text) ?? true) : true;
}

/** Formats that a schema may name and that are not looked at. */
const unchecked: readonly string[] = ['creditcard', 'isbn', 'isbn10', 'isbn13', 'password'];

/** True if the server knows a format of texts. */
export function isFormat(format: string): boolean {
  const key = keyOf(format);
  return Object.hasOwn(formats, key) || unchecked.includes(key);
}
