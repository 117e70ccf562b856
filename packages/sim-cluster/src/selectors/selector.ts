import { badRequest } from '../objects/errors.ts';
import { entry } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { FieldLabels } from '../resources/field-labels.ts';
import type { Resource } from '../resources/resource.ts';
import { matchesLabels, parseLabelSelector, type Requirement } from './labels.ts';
import { SelectorError } from './lexer.ts';

// Field selectors.

/** A condition on a field label. */
interface FieldTerm {
  readonly label: string;
  readonly equal: boolean;
  readonly value: string;
  readonly read: (object: KubeObject) => string;
}

const commonFields: FieldLabels = {
  'metadata.name': ({ metadata }) => metadata.name,
  'metadata.namespace': ({ metadata }) => metadata.namespace ?? '',
};

/** `label=value`, `==`, `!=`, joined by commas. Throws SelectorError, also for unknown labels. */
function parseFieldSelector(resource: Resource, text: string): readonly FieldTerm[] {
  return splitTerms(text).map((term) => {
    const { label, equal, value } = parseTerm(term, text);
    return { label, equal, value, read: reader(resource, label) };
  });
}

/** True when the object meets every term. */
function matchesFields(terms: readonly FieldTerm[], object: KubeObject): boolean {
  return terms.every((term) => (term.read(object) === term.value) === term.equal);
}

function reader(resource: Resource, label: string): FieldTerm['read'] {
  const own = entry(resource.fieldLabels, label);
  if (own) return own;
  const common = entry(commonFields, label);
  if (common && (resource.namespaced || label === 'metadata.name')) return common;
  // Kinds with specific labels answer differently from those without.
  throw new SelectorError(
    resource.custom || Object.keys(resource.fieldLabels).length > 0
      ? `field label not supported: ${label}`
      : `"${label}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/** The terms between commas; `\,` is a comma within a value. Empty terms are left out. */
function splitTerms(text: string): readonly string[] {
  return (text.match(/(?:\\.?|[^,\\])+/gs) ?? []).filter((term) => term !== '');
}

function parseTerm(term: string, text: string): Omit<FieldTerm, 'read'> {
  const parts = /^((?:\\.|[^=!\\])*?)(!=|==|=)(.*)$/s.exec(term);
  if (!parts) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
  return { label: parts[1] ?? '', equal: parts[2] !== '!=', value: unescaped(parts[3] ?? '') };
}

/** A value as it was before `\`, `,` and `=` in it were written with a backslash. */
function unescaped(written: string): string {
  return written.replace(/\\.?|=/gs, (found) => {
    if (found === '=') {
      throw new SelectorError('invalid field selector: unescaped character in value: 61');
    }
    const sign = found.slice(1);
    if (['\\', ',', '='].includes(sign)) return sign;
    throw new SelectorError(`invalid field selector: invalid escape sequence: ${found}`);
  });
}

/** The filter of a list, a watch or a deletecollection. */
export class Selector {
  readonly #labels: readonly Requirement[];
  readonly #fields: readonly FieldTerm[];

  /** Throws ApiError 400 for a selector that does not parse or names an unknown field. */
  constructor(resource: Resource, labelSelector: string, fieldSelector: string) {
    try {
      this.#labels = parseLabelSelector(labelSelector);
      this.#fields = parseFieldSelector(resource, fieldSelector);
    } catch (error) {
      if (error instanceof SelectorError) throw badRequest(error.message);
      throw error;
    }
  }

  /** True when everything matches. */
  get isEmpty(): boolean {
    return this.#labels.length === 0 && this.#fields.length === 0;
  }

  /** The value the selector demands of a field, or null when it does not fix it. */
  fixed(label: string): string | null {
    return this.#fields.find((term) => term.equal && term.label === label)?.value ?? null;
  }

  matches(object: KubeObject): boolean {
    return (
      matchesLabels(this.#labels, object.metadata.labels ?? {}) &&
      matchesFields(this.#fields, object)
    );
  }
}
