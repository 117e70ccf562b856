import type { Cause } from '../objects/errors.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import type { Decoded } from '../schema/decode.ts';
import type { Struct } from '../schema/types.ts';
import { validateMetadata } from '../validation/metadata.ts';
import type { FieldLabels } from './field-labels.ts';

/** A subresource as discovery shows it. */
export interface Subresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind it takes, when that is not the resource's own. */
  readonly kind?: { readonly group?: string; readonly version?: string; readonly kind: string };
}

/** A column of a table. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

/** The printed form of a kind: its columns and the cells of one object at a time `now`. */
export interface Printer {
  readonly columns: readonly Column[];
  readonly cells: (object: KubeObject, now: number) => readonly Json[];
}

/** The paths of the desired and current number of pods. */
export interface ScaleAccess {
  read(object: KubeObject): {
    readonly wanted: number;
    readonly there: number;
    /** The selector as text; '' for none. */
    readonly selector: string;
  };
  withReplicas(object: KubeObject, replicas: number): KubeObject;
}

/** The properties that distinguish kinds defined in a cluster from built-in kinds. */
export interface CustomKind {
  /** Reads JSON as the kind, with the defaults of fields that are not there or without. */
  readonly read: (value: unknown, defaults: boolean) => Decoded;
  /** True if the definition is being deleted: no new object is created. */
  readonly isTerminating: boolean;
  /** The schema as OpenAPI documents show it. */
  readonly openApi: { readonly [key: string]: Json };
  /** The scale subresource; null: there is none. */
  readonly scale: ScaleAccess | null;
}

/** The context of a validation beside the object. */
interface ValidationContext {
  /** The object before an update. */
  readonly previous?: KubeObject;
  readonly subresource?: string;
}

/** All that is stored of a kind, by its plural name: what admission may look at beside the object. */
export type StoredObjects = (plural: string) => readonly KubeObject[];

/** Everything the API server knows about one resource. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Under which name its objects are stored. */
  readonly storeKey: string;
  /** The resource as which its objects are stored; null: as itself. */
  readonly storage: Resource | null;
  readonly kind: string;
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly schema: Struct;
  /**
   * True if `metadata.generation` counts changes of the spec; `whole`: of everything but metadata
   * and status.
   */
  readonly generation: boolean | 'whole';
  /** True if a PUT without resourceVersion is accepted; otherwise it is answered with 422. */
  readonly unconditionalUpdate: boolean;
  /** True if a PUT to a missing name creates the object. */
  readonly createOnUpdate: boolean;
  /** True if DELETE answers with the deleted object, as few kinds do. */
  readonly showsDeleted: boolean;
  /** The warning of every answer; null for none. */
  readonly deprecation: string | null;
  /** Field labels for selectors beside metadata.name and metadata.namespace. */
  readonly fieldLabels: FieldLabels;
  /** Prepares a new object before its defaults; its uid is already set. */
  readonly admit: (object: KubeObject, stored: StoredObjects) => KubeObject;
  /**
   * The object with its defaults and what else follows from it, whenever it is written, at `now`.
   * `previous` is its state before; null for a new one.
   */
  readonly derive: (
    object: KubeObject,
    subresource: string,
    previous: KubeObject | null,
    now: number,
  ) => KubeObject;
  /** The defaults of the API alone, where `derive` adds more to an object than those; else null. */
  readonly defaults: ((object: KubeObject) => KubeObject) | null;
  /** The stored form of a loaded object; null: as it is. */
  readonly load: ((object: KubeObject, now: number) => KubeObject) | null;
  /** Further changes of a deletion that does not remove the object at once; null for none. */
  readonly markDeleted:
    | ((marked: KubeObject, previous: KubeObject, now: number) => KubeObject)
    | null;
  readonly validate: (object: KubeObject, context?: ValidationContext) => readonly Cause[];
  readonly validateUpdate: (next: KubeObject, previous: KubeObject) => readonly Cause[];
  /** Warnings about an object that is accepted. */
  readonly warnings: (object: KubeObject, previous: KubeObject | null) => readonly string[];
  /** Its columns; null: those that its plural name has. */
  readonly printer: Printer | null;
  /** Null for the kinds of every server. */
  readonly custom: CustomKind | null;
  /** For a second view of a stored resource: to and from the stored form. */
  readonly view: {
    readonly toView: (stored: KubeObject) => KubeObject;
    readonly toStored: (viewed: KubeObject) => KubeObject;
  } | null;
}

const allVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

/** The verbs of a resource that cannot be deleted as a collection. */
export const noCollectionDelete: readonly string[] = allVerbs.filter(
  (verb) => verb !== 'deletecollection',
);

/** The subresource that writes the status alone. */
export const statusSubresource: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'] };

/** The subresource that shows and sets the number of pods. */
export const scaleSubresource: Subresource = {
  name: 'scale',
  verbs: ['get', 'patch', 'update'],
  kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
};

/** The resource as which the objects of a resource are stored. */
export function storageOf(resource: Resource): Resource {
  return resource.storage ?? resource;
}

/** The required settings of a resource; the rest has defaults. */
export type ResourceGiven = Partial<Resource> &
  Pick<Resource, 'group' | 'plural' | 'kind' | 'singular' | 'schema'>;

/** A resource with the usual defaults: namespaced, v1, all verbs, no special rules. */
export function defineResource(given: ResourceGiven): Resource {
  return {
    version: 'v1',
    storeKey: given.plural,
    storage: null,
    listKind: `${given.kind}List`,
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: allVerbs,
    subresources: [],
    generation: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
    showsDeleted: false,
    deprecation: null,
    fieldLabels: {},
    admit: (object) => object,
    derive: (object) => object,
    defaults: null,
    load: null,
    markDeleted: null,
    validate: (object) => validateMetadata(object),
    validateUpdate: () => [],
    warnings: () => [],
    printer: null,
    custom: null,
    view: null,
    ...given,
  };
}
