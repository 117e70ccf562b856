// What is wrong with the name, labels and annotations of an object, in the words of the API server.
import { invalid, isRecord, type ManifestFault, wrongType } from './validation.ts';

const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const subdomainPattern = new RegExp(`^${subdomain}$`);
const subdomainLengthMax = 253;
const wantSubdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`;

const part = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const partPattern = new RegExp(`^${part}$`);
const partLengthMax = 63;
const wantPart = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${part}')`;
const wantLabelValue = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${part})?')`;

/** A text that is refused, and why. */
type Refusal = readonly [text: string, why: string];

/** All of them; `metadata` may be anything. */
export function metadataFaults(metadata: unknown): readonly ManifestFault[] {
  const { name, labels, annotations } = isRecord(metadata) ? metadata : {};
  return [
    ...nameFaults(name),
    ...textsFaults('labels', labels, (key, value) => [
      ...keyRefusals(key),
      ...valueRefusals(value),
    ]),
    // A prefix may have any case there.
    ...textsFaults('annotations', annotations, (key) =>
      keyRefusals(key.toLowerCase()).map(([, why]) => [key, why]),
    ),
  ];
}

function nameFaults(name: unknown): readonly ManifestFault[] {
  const path = ['metadata', 'name'];
  if (typeof name !== 'string' || name === '') {
    const text = 'metadata.name: Required value: name or generateName is required';
    return [{ path, text, endsChecks: true }];
  }
  if (name.length > subdomainLengthMax) {
    return [invalid(path, name, `must be no more than ${subdomainLengthMax} bytes`)];
  }
  return subdomainPattern.test(name) ? [] : [invalid(path, name, wantSubdomain)];
}

/** Of texts by their keys; the API server names the map, whichever entry of it is meant. */
function textsFaults(
  member: 'labels' | 'annotations',
  texts: unknown,
  refusalsOf: (key: string, value: string) => readonly Refusal[],
): readonly ManifestFault[] {
  const path = ['metadata', member];
  if (texts === undefined || texts === null) return [];
  if (!isRecord(texts)) return [wrongType(path, 'object', texts)];
  return Object.entries(texts).flatMap(([key, value]) => {
    const place = [...path, key];
    if (value !== null && typeof value !== 'string') return [wrongType(place, 'string', value)];
    const refusals = refusalsOf(key, value ?? '');
    return refusals.map(([text, why]) => ({ ...invalid(path, text, why), path: place }));
  });
}

/** `name` or `prefix/name` */
function keyRefusals(key: string): readonly Refusal[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    const why = `a valid label key ${wantPart} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
    return [[key, why]];
  }
  const [name = '', prefix] = parts.reverse();
  const whys = [
    ...(prefix === '' ? ['prefix part must be non-empty'] : []),
    ...(prefix && !subdomainPattern.test(prefix) ? [`prefix part ${wantSubdomain}`] : []),
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...(name.length > partLengthMax
      ? [`name part must be no more than ${partLengthMax} bytes`]
      : []),
    ...(partPattern.test(name) ? [] : [`name part ${wantPart}`]),
  ];
  return whys.map((why) => [key, why]);
}

function valueRefusals(value: string): readonly Refusal[] {
  if (value.length > partLengthMax) return [[value, `must be no more than ${partLengthMax} bytes`]];
  return value === '' || partPattern.test(value) ? [] : [[value, wantLabelValue]];
}
