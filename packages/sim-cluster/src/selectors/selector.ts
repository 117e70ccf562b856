import { badRequest } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Resource } from '../resources/resource.ts';
import { type FieldTerm, matchesFields, parseFieldSelector } from './fields.ts';
import { matchesLabels, parseLabelSelector, type Requirement } from './labels.ts';
import { SelectorError } from './lexer.ts';

/** What a list, a watch or a deletecollection is narrowed to. */
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
