// The parameters of policies, as the API server's caches know them.
import {
  type AdmissionRequest,
  type ApiError,
  type Clock,
  invalid,
  type KubeObject,
  type Resource,
  type ServedResources,
  type Store,
  storageOf,
  type Writer,
} from '@taintmgr/sim-cluster/server';
import type { Access } from '../auth/access.ts';
import type { ParamRef } from '../policy/binding.ts';
import type { CompiledPolicy } from './compiled-policy.ts';
import { LaggingView } from './lagging-view.ts';
import { selects } from './match.ts';

/** Something in a policy or its binding that cannot work; the text says what. */
export class ConfigurationError extends Error {}

export class Params {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #served: ServedResources;
  readonly #views = new Map<string, LaggingView>();
  /** Until then no kind has been listed. */
  #unsyncedUntil = Number.NEGATIVE_INFINITY;

  constructor(store: Store, clock: Clock, served: ServedResources) {
    this.#store = store;
    this.#clock = clock;
    this.#served = served;
  }

  /** Stored parameters are listed only after `syncMs`. */
  begin(syncMs: number): void {
    this.#unsyncedUntil = this.#clock.now() + syncMs;
  }

  /** Watches the kinds that these policies name, and no others. */
  watchFor(policies: Iterable<CompiledPolicy>): void {
    const wanted = new Set<string>();
    for (const { paramKind } of policies) {
      const resource = paramKind && this.#served.findKind(paramKind.apiVersion, paramKind.kind);
      if (resource) wanted.add(this.#viewOf(resource).key);
    }
    for (const [key, view] of this.#views) {
      if (wanted.has(key)) continue;
      view.stop();
      this.#views.delete(key);
    }
  }

  /** The resource of a policy's parameters, null without one. Throws when it is not served. */
  resourceOf({ paramKind }: CompiledPolicy): Resource | null {
    if (!paramKind) return null;
    const { apiVersion, kind } = paramKind;
    const resource = this.#served.findKind(apiVersion, kind);
    if (resource) return resource;
    const text = `failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`;
    throw new ConfigurationError(text);
  }

  /**
   * Returns the parameters to evaluate a policy with. Null stands for no parameter; an empty list
   * means that the policy is not evaluated. Throws when the binding requires parameters that do not
   * exist.
   */
  collect(
    resource: Resource | null,
    ref: ParamRef | null,
    requestNamespace: string,
  ): readonly (KubeObject | null)[] {
    if (!resource || !ref) return [null];
    if (this.#clock.now() < this.#unsyncedUntil) throw unsynced(resource);
    const namespace = namespaceOf(resource, ref, requestNamespace);
    const found = this.#find(resource, ref, namespace);
    if (found.length > 0 || ref.parameterNotFoundAction !== 'Deny') return found;
    throw new ConfigurationError(
      'no params found for policy binding with `Deny` parameterNotFoundAction',
    );
  }

  #find(resource: Resource, ref: ParamRef, namespace: string): readonly KubeObject[] {
    const { view } = this.#viewOf(resource);
    const found = ref.name
      ? [view.get(namespace, ref.name)].filter((object) => object !== null)
      : view.list(namespace).filter((object) => selects(ref.selector, object));
    return found.map((object) => resource.view?.toView(object) ?? object);
  }

  #viewOf(resource: Resource): { readonly key: string; readonly view: LaggingView } {
    const key = storageOf(resource).storeKey;
    const view = this.#views.get(key) ?? new LaggingView(this.#store, this.#clock, key);
    this.#views.set(key, view);
    return { key, view };
  }
}

/** The real server waits for a second before it says so: by its source, for it was not tried. */
function unsynced({ group, version, kind }: Resource): ConfigurationError {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const paramKind = `&ParamKind{APIVersion:${apiVersion},Kind:${kind},}`;
  return new ConfigurationError(
    `paramKind kind \`${paramKind}\` not yet synced to use for admission`,
  );
}

function namespaceOf({ namespaced }: Resource, ref: ParamRef, requestNamespace: string): string {
  const given = ref.namespace ?? '';
  if (!namespaced && given !== '') {
    const text = 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`';
    throw new ConfigurationError(text);
  }
  if (!namespaced) return '';
  const namespace = given || requestNamespace;
  if (namespace !== '') return namespace;
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
}

// Writing a policy with parameters requires the right to read them.

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ParamRightsOptions {
  readonly store: Store;
  readonly access: Access;
  readonly served: ServedResources;
}

/**
 * Why a write of a policy or a binding is refused, or null. Only changed references to parameters
 * are checked. The wording for bindings is not recorded from a real server.
 */
export function paramRightsFault(
  { object, oldObject, resource: { group, kind, plural } }: AdmissionRequest,
  { user }: Writer,
  options: ParamRightsOptions,
): ApiError | null {
  if (!object || plural.startsWith('mutating')) return null;
  const isPolicy = plural === 'validatingadmissionpolicies';
  const field = isPolicy ? 'paramKind' : 'paramRef';
  const named = object.spec?.[field];
  const isNews = JSON.stringify(named) !== JSON.stringify(oldObject?.spec?.[field]);
  const paramKind = isPolicy ? named : kindOf(object, options.store);
  if (!named || !paramKind || !isNews) return null;
  const { name = '*', namespace = '*' } = isPolicy ? {} : named;
  const asked = { ...resourceOf(paramKind, options.served), subresource: '', namespace, name };
  const { grant } = options.access.judge(user, { verb: 'get', path: '', resource: asked });
  if (grant) return null;
  const about = `(kind=${paramKind.kind}, apiVersion=${paramKind.apiVersion})`;
  const what = isPolicy ? 'all objects of the referenced paramKind' : 'the referenced param';
  const message = `Forbidden: user ${user.name} must have "get" permission on ${what} ${about}`;
  const cause = { reason: 'FieldValueForbidden', message, field: `spec.${field}` };
  return invalid({ kind, group }, object.metadata.name, [cause]);
}

/** The parameter kind of a binding's policy, if the policy exists. */
function kindOf(binding: KubeObject, store: Store): Kind | undefined {
  const name = binding.spec?.policyName ?? '';
  return store.get('validatingadmissionpolicies', '', name)?.spec?.paramKind;
}

function resourceOf({ apiVersion, kind }: Kind, served: ServedResources): GroupAndPlural {
  const found = served.findKind(apiVersion, kind);
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  return { group, plural: found?.plural ?? '*' };
}

interface GroupAndPlural {
  readonly group: string;
  readonly plural: string;
}
