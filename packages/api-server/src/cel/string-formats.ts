// The formats that schemas may ask of texts; a format that is not known is not checked.
import { isIP, isIPv4, isIPv6 } from 'node:net';

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

/** Of one version of UUIDs; `variant` is what its fourth group begins with. */
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

/** Whether a text has a format. */
export function hasFormat(format: string, text: string): boolean {
  const key = keyOf(format);
  return Object.hasOwn(formats, key) ? (formats[key]?.(text) ?? true) : true;
}

/** Formats that a schema may name and that are not looked at. */
const unchecked: readonly string[] = ['creditcard', 'isbn', 'isbn10', 'isbn13', 'password'];

/** Whether the server knows a format of texts. */
export function isFormat(format: string): boolean {
  const key = keyOf(format);
  return Object.hasOwn(formats, key) || unchecked.includes(key);
}
