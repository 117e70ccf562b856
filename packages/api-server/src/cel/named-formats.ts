// The formats that expressions know by name: `format.dns1123Label().validate(self.name)`.
import { type Environment, Optional } from '@marcbachmann/cel-js';
import {
  labelErrors1035,
  labelNameErrors,
  labelValueErrors,
  qualifiedNameErrors,
  subdomainErrors,
} from '@taintmgr/sim-cluster/server';
import { hasFormat } from './string-formats.ts';

type Errors = (text: string) => readonly string[];

class NamedFormat {
  readonly errors: Errors;
  constructor(errors: Errors) {
    this.errors = errors;
  }
}

/** The name before the dot in `format.uri()`. */
class Formats {}

/** A prefix may end with a hyphen; what it names goes on. */
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

const formats: Readonly<Record<string, Errors>> = {
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
  const known = new Map(Object.entries(formats).map(([name, of]) => [name, new NamedFormat(of)]));
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
