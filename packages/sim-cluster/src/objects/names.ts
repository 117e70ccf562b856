// The validation of names and labels.
const labelSource = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomainSource = `${labelSource}(\\.${labelSource})*`;
const qualifiedSource = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValueSource = `(${qualifiedSource})?`;

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const labelPattern = whole(labelSource);
const subdomainPattern = whole(subdomainSource);
const qualifiedPattern = whole(qualifiedSource);
const labelValuePattern = whole(labelValueSource);

function patternError(rule: string, pattern: string, ...examples: readonly string[]): string {
  const quoted = examples.map((example) => `'${example}'`).join(',  or ');
  return `${rule} (e.g. ${quoted}, regex used for validation is '${pattern}')`;
}

const tooLong = (limit: number): string => `must be no more than ${limit} bytes`;

const subdomainError = patternError(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomainSource,
  'example.com',
);
const labelError = patternError(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  labelSource,
  'my-name',
  '123-abc',
);
const qualifiedRule =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const qualifiedError = patternError(qualifiedRule, qualifiedSource, 'MyName', 'my.name', '123-abc');
const labelValueError = patternError(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValueSource,
  'MyValue',
  'my_value',
  '12345',
);

/** Too long, of the wrong pattern, or both. */
function errorsOf(
  value: string,
  lengthMax: number,
  pattern: RegExp,
  error: string,
): readonly string[] {
  return [
    ...(value.length > lengthMax ? [tooLong(lengthMax)] : []),
    ...(pattern.test(value) ? [] : [error]),
  ];
}

/** The faults in a name of most objects; empty if there are none. */
export function subdomainErrors(value: string): readonly string[] {
  return errorsOf(value, 253, subdomainPattern, subdomainError);
}

/** The faults in the name of a namespace or a container. */
export function labelNameErrors(value: string): readonly string[] {
  return errorsOf(value, 63, labelPattern, labelError);
}

/** The faults in a label key, taint key or annotation key: `[prefix/]name`. */
export function qualifiedNameErrors(value: string): readonly string[] {
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${qualifiedError} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const errors: string[] = [];
  const name = parts.at(-1) ?? '';
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') errors.push('prefix part must be non-empty');
    else errors.push(...subdomainErrors(prefix).map((error) => `prefix part ${error}`));
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > 63) errors.push(`name part ${tooLong(63)}`);
  if (!qualifiedPattern.test(name)) errors.push(`name part ${qualifiedError}`);
  return errors;
}

/** The faults in a label value or a taint value. */
export function labelValueErrors(value: string): readonly string[] {
  return errorsOf(value, 63, labelValuePattern, labelValueError);
}

const label1035Source = '[a-z]([-a-z0-9]*[a-z0-9])?';
const label1035Pattern = whole(label1035Source);
const label1035Error = patternError(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  label1035Source,
  'my-name',
  'abc-123',
);

/** The faults in a name that begins with a letter, as names of resources and versions do. */
export function labelErrors1035(value: string): readonly string[] {
  return errorsOf(value, 63, label1035Pattern, label1035Error);
}
