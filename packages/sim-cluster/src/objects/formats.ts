// The formats that schemas may ask of texts; a format that is not known is not checked.
import { isIP, isIPv4, isIPv6 } from 'node:net';

const units =
  'ns|us|µs|ms|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|' +
  'd|day|days|w|wk|wks|week|weeks';
const durationPattern = new RegExp(`^[-+]?(?:\\d+(?:\\.\\d*)?\\s*(?:${units})\\s*)+$`);
const dateTimePattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[-+]\d\d:?\d\d)$/;
const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const labelPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));
const isDateTime = (text: string): boolean => dateTimePattern.test(text) && isTime(text);

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
  'date-time': isDateTime,
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
  'k8s-short-name': (text) => text.length <= 63 && labelPattern.test(text),
  'k8s-long-name': (text) =>
    text.length <= 253 && text.split('.').every((label) => labelPattern.test(label)),
};

function isHostLabel(label: string): boolean {
  return /^[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/.test(label);
}

/** Whether a text has a format. */
export function hasFormat(format: string, text: string): boolean {
  return Object.hasOwn(formats, format) ? (formats[format]?.(text) ?? true) : true;
}

/** Formats that a schema may name and that are looked at elsewhere, or not at all. */
const unchecked: readonly string[] = [
  'bsonobjectid',
  'cidr',
  'creditcard',
  'hexcolor',
  'isbn',
  'isbn10',
  'isbn13',
  'password',
  'rgbcolor',
  'ssn',
  'uuid3',
  'uuid4',
  'uuid5',
];

/** Whether the server knows a format of texts. */
export function isFormat(format: string): boolean {
  return Object.hasOwn(formats, format) || unchecked.includes(format);
}
