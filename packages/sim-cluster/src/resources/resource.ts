import type { Cause } from '../objects/errors.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import type { Decoded } from '../schema/decode.ts';
import type { Struct } from '../schema/types.ts';
import { validateMetadata } from '../validation/metadata.ts';
import type { FieldLabels } from './field-labels.ts';

/** A subresource as discovery shows it. */
export interface Subresource {
  /** Such as `status`. */
  readonly name: string;
  /** The verbs that discovery lists. */
  readonly verbs: readonly string[];
  /** The kind it takes, when that is not the resource's own. */
  readonly kind?: {
    /** Left out: the core group. */
    readonly group?: string;
    /** Left out: the version of the resource. */
    readonly version?: string;
    /** Such as `Scale`. */
    readonly kind: string;
  };
}

/** A column of a table. */
export interface Column {
  /** The head of the column, such as `Ready`. */
  readonly name: string;
  /** The type of the cells; `date` is printed as an age. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` for the column of names, else ''. */
  readonly format: string;
  /** Text for people. */
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

/** The printed form of a kind: its columns and the cells of one object at a time `now`. */
export interface Printer {
  /** The columns, from left to right. */
  readonly columns: readonly Column[];
  /** The cells of an object, in the order of the columns; `now` is in milliseconds. */
  readonly cells: (object: KubeObject, now: number) => readonly Json[];
}

/** The paths of the desired and current number of pods. */
export interface ScaleAccess {
  /** Reads the numbers of an object. */
  read(object: KubeObject): {
    /** The desired number of pods. */
    readonly wanted: number;
    /** The number of pods that the status states. */
    readonly there: number;
    /** The selector as text; '' for none. */
    readonly selector: string;
  };
  /** A copy of the object with another desired number of pods. */
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
  /** The API group; '' for the core group. */
  readonly group: string;
  /** Such as `v1`. */
  readonly version: string;
  /** The name in paths, such as `pods`. */
  readonly plural: string;
  /** Under which name its objects are stored. */
  readonly storeKey: string;
  /** The resource as which its objects are stored; null: as itself. */
  readonly storage: Resource | null;
  /** Such as `Pod`. */
  readonly kind: string;
  /** Such as `PodList`. */
  readonly listKind: string;
  /** Such as `pod`. */
  readonly singular: string;
  /** Such as `po`, for kubectl. */
  readonly shortNames: readonly string[];
  /** Such as `all`, for kubectl. */
  readonly categories: readonly string[];
  /** False for cluster-scoped kinds. */
  readonly namespaced: boolean;
  /** The verbs that are served. */
  readonly verbs: readonly string[];
  /** The subresources that are served. */
  readonly subresources: readonly Subresource[];
  /** The fields of the kind. */
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
  /** The faults of an object; none: it is valid. */
  readonly validate: (object: KubeObject, context?: ValidationContext) => readonly Cause[];
  /** The further faults of an update, such as changes of immutable fields. */
  readonly validateUpdate: (next: KubeObject, previous: KubeObject) => readonly Cause[];
  /** Warnings about an object that is accepted. */
  readonly warnings: (object: KubeObject, previous: KubeObject | null) => readonly string[];
  /** Its columns; null: those that its plural name has. */
  readonly printer: Printer | null;
  /** Null for the kinds of every server. */
  readonly custom: CustomKind | null;
  /** For a second view of a stored resource: to and from the stored form. */
  readonly view: {
    /** The view of a stored object. */
    readonly toView: (stored: KubeObject) => KubeObject;
    /** The stored form of an object of the view. */
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
