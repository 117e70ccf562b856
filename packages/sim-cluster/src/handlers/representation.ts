// An object or list in the form the client asked for.
import { badRequest, notAcceptable } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Printer, Resource } from '../resources/resource.ts';
import { apiVersionOf } from '../resources/resources.ts';
import type { Representation } from '../wire/negotiation.ts';
import { decodeAs, toStored, toView } from '../write/canonical.ts';
import type { ResourceCall } from './front.ts';
import type { Listed } from './list.ts';

/** An object of any form. */
type Given = Readonly<Record<string, unknown>>;

const metaVersion = 'meta.k8s.io/v1';
const includeChoices = ['', 'Metadata', 'Object', 'None'] as const;

const itemsOfLists = new WeakMap<KubeObject, Given>();

/** An item of a list, without its kind. The same value each time, so that its text can be kept. */
function itemOf(view: KubeObject): Given {
  const known = itemsOfLists.get(view);
  if (known) return known;
  const { kind: _kind, apiVersion: _version, ...item } = view;
  if (Object.isFrozen(view)) itemsOfLists.set(view, Object.freeze(item));
  return item;
}

/** Turns stored objects into the JSON a client asked for. */
export class Presenter {
  readonly #resource: Resource;
  readonly #representation: Representation;
  readonly #include: string;
  readonly #now: () => number;
  /** Null: no table is asked for. */
  readonly #printer: Printer | null;

  /** Throws ApiError 400 for an unknown `includeObject`. */
  constructor({ resource, formats, info, backend }: ResourceCall, representation: Representation) {
    const isTable = representation.form === 'table';
    const includeObject = info.query.get('includeObject') ?? '';
    const known = includeChoices.some((value) => value === includeObject);
    if (isTable && !known) {
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(includeObject)}: must be 'Metadata', 'Object', 'None', or empty`,
      );
    }
    this.#resource = resource;
    this.#representation = representation;
    this.#include = includeObject;
    this.#now = () => backend.clock.now();
    this.#printer = isTable ? formats.printerOf(resource) : null;
  }

  /** The form that the client asked for. */
  get form(): Representation['form'] {
    return this.#representation.form;
  }

  /** The object in answer to a request for one object. */
  object(stored: KubeObject): Given {
    const { form } = this.#representation;
    if (form === 'partialList') {
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (*core.${this.#resource.kind})`,
      );
    }
    return this.item(stored, true);
  }

  /** An object of a stream; only the first Table of a stream has its columns. */
  item(stored: KubeObject, first: boolean): Given {
    const view = toView(this.#resource, stored);
    switch (this.#representation.form) {
      case 'table': {
        const rows = [this.#row(stored, view)];
        return this.#table({ resourceVersion: stored.metadata.resourceVersion }, rows, first);
      }
      case 'object':
        return view;
      default:
        return partial(view);
    }
  }

  /** A whole list; its long member is `items`, or `rows` of a Table. */
  list(listed: Listed): Given {
    const { resourceVersion, continueToken, remaining } = listed;
    const isCustom = this.#resource.custom !== null && this.#representation.form === 'object';
    const metadata = {
      resourceVersion,
      ...(continueToken || isCustom ? { continue: continueToken } : {}),
      ...(remaining === null ? {} : { remainingItemCount: remaining }),
    };
    const { form } = this.#representation;
    if (form === 'table') {
      const rows = listed.items.map((stored) => this.#row(stored, toView(this.#resource, stored)));
      return this.#table(metadata, rows, true);
    }
    if (form === 'partial') {
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (*core.${this.#resource.listKind})`,
      );
    }
    if (form === 'partialList') {
      const items = listed.items.map((stored) => partial(stored));
      return { kind: 'PartialObjectMetadataList', apiVersion: metaVersion, metadata, items };
    }
    const { listKind, custom } = this.#resource;
    const items = listed.items.map((stored) => {
      const view = toView(this.#resource, stored);
      // Items of a custom kind state their kind.
      return custom ? view : itemOf(view);
    });
    return { kind: listKind, apiVersion: apiVersionOf(this.#resource), metadata, items };
  }

  /** The empty object of a BOOKMARK event. */
  bookmark(resourceVersion: string, initialEventsEnd: boolean, first: boolean): Given {
    const annotations = initialEventsEnd ? { 'k8s.io/initial-events-end': 'true' } : undefined;
    const metadata = { resourceVersion, ...(annotations ? { annotations } : {}) };
    const empty = {
      kind: this.#resource.kind,
      apiVersion: apiVersionOf(this.#resource),
      metadata,
    };
    const { custom } = this.#resource;
    const read = custom?.read(empty, false) ?? decodeAs(this.#resource, empty);
    const object = read.value as KubeObject;
    switch (this.#representation.form) {
      case 'table': {
        const cells = this.#cells(toStored(this.#resource, object));
        // The mark of the end must reach even a client that wants no objects.
        const row = { cells, object: initialEventsEnd ? partial(object) : this.#included(object) };
        return this.#table({ resourceVersion }, [row], first);
      }
      case 'object':
        return object;
      default:
        return partial(object);
    }
  }

  #row(stored: KubeObject, view: KubeObject): unknown {
    // The columns of a custom resource are those of the version that is asked for.
    const shown = this.#resource.custom ? view : stored;
    const cells = this.#cells(shown);
    return { cells, object: this.#included(view) };
  }

  #cells(object: KubeObject): unknown {
    return this.#printer?.cells(object, this.#now());
  }

  #included(view: KubeObject): unknown {
    if (this.#include === 'None') return null;
    return this.#include === 'Object' ? view : partial(view);
  }

  #table(metadata: unknown, rows: readonly unknown[], withColumns: boolean): Given {
    const columnDefinitions = withColumns ? this.#printer?.columns : null;
    return { kind: 'Table', apiVersion: metaVersion, metadata, columnDefinitions, rows };
  }
}

function partial({ metadata }: KubeObject): Given {
  return { kind: 'PartialObjectMetadata', apiVersion: metaVersion, metadata };
}
