// Lists: stored objects in key order, in pages, with the list's own metadata.
import { badRequest, expired, futureResourceVersion } from '../objects/errors.ts';
import { isObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type Resource, storageOf } from '../resources/resource.ts';
import { Selector } from '../selectors/selector.ts';
import type { Collection, Page, PageQuery } from '../store/collection.ts';
import type { Store } from '../store/store.ts';
import { type ListOptions, readResourceVersion } from '../wire/list-options.ts';

/** A list as values: stored objects in key order and the list's own metadata. */
export interface Listed {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** '' on the last page. */
  readonly continueToken: string;
  /** Null when nothing remains, or under a selector. */
  readonly remaining: number | null;
}

const listTooOldMessage = 'The resourceVersion for the provided list is too old.';
const tokenTooOldMessage =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** The resourceVersion in a token that continues at the newest state. */
const newest = -1;

/** Answers a list; throws ApiError 400, 410, 422 or 504. */
export function listObjects(
  store: Store,
  resource: Resource,
  namespace: string,
  options: ListOptions,
): Listed {
  const selector = new Selector(resource, options.labelSelector, options.fieldSelector);
  const collection = store.collection(storageOf(resource).storeKey);
  const start = startOf(store, collection, options);
  const query: PageQuery = {
    namespace,
    after: start.after,
    limit: start.limit,
    matches: selector.isEmpty ? () => true : (object) => selector.matches(object),
  };
  const present = start.rv >= store.rv;
  const page = present
    ? presentPage(collection, resource, selector, query)
    : collection.pageAt(start.rv, query);
  return toListed(page, start.rv, selector.isEmpty);
}

/** Field selectors that fix the node use the index. */
function presentPage(
  collection: Collection,
  resource: Resource,
  selector: Selector,
  query: PageQuery,
): Page {
  const nodeName = resource.plural === 'pods' ? selector.fixed('spec.nodeName') : null;
  return collection.page(nodeName ? { ...query, indexed: nodeName } : query);
}

function toListed(page: Page, rv: number, unselected: boolean): Listed {
  return {
    items: page.items,
    resourceVersion: String(rv),
    continueToken: page.lastKey === null ? '' : encodeToken(rv, page.lastKey),
    remaining: unselected && page.remaining > 0 ? page.remaining : null,
  };
}

interface Start {
  /** The state to show. */
  readonly rv: number;
  readonly after: string | null;
  readonly limit: number;
}

/** Decides which state a list shows and where it begins. */
function startOf(store: Store, collection: Collection, options: ListOptions): Start {
  const limit = options.limit === 0 ? Number.POSITIVE_INFINITY : options.limit;
  if (options.continueToken !== '') return continuation(store, collection, options, limit);
  const rv = readResourceVersion(options.resourceVersion, true);
  if (rv > store.rv) throw futureResourceVersion(options.resourceVersion, String(store.rv));
  // A list at "any" version comes from a cache, which knows no pages.
  if (options.resourceVersion === '0') {
    return { rv: store.rv, after: null, limit: Number.POSITIVE_INFINITY };
  }
  const exact = options.match === 'Exact' || (options.match === '' && rv > 0 && options.limit > 0);
  if (!exact) return { rv: store.rv, after: null, limit };
  if (rv < collection.history.expiredThrough) throw expired(listTooOldMessage);
  return { rv, after: null, limit };
}

function continuation(
  store: Store,
  collection: Collection,
  options: ListOptions,
  pageLimit: number,
): Start {
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const { rv, after } = decodeToken(options.continueToken);
  // The cache that answers "any" version knows no pages.
  const limit = options.resourceVersion === '0' ? Number.POSITIVE_INFINITY : pageLimit;
  if (rv === newest) return { rv: store.rv, after, limit };
  if (rv < collection.history.expiredThrough || rv > store.rv) {
    throw expired(tokenTooOldMessage, encodeToken(newest, after));
  }
  return { rv, after, limit };
}

function encodeToken(rv: number, after: string): string {
  const token = { v: 'meta.k8s.io/v1', rv, start: `${after}\0` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function decodeToken(text: string): { readonly rv: number; readonly after: string } {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (isObject(token) && typeof token.start === 'string' && typeof token.rv === 'number') {
      return { rv: token.rv, after: token.start.slice(0, -1) };
    }
  } catch {
    // Not JSON: answered like any other token that is not ours.
  }
  throw badRequest('invalid continue token: continue key is not valid: not a token of this server');
}
