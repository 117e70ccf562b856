// The parameters of policies, as the API server's caches know them.
import type { Clock, KubeObject, ServedResources, Store } from '@taintmgr/sim-cluster/server';
import { type Resource, storageOf } from '@taintmgr/sim-cluster/server';
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

  /** What is stored is listed only so much later. */
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
   * The parameters with which a policy is to be evaluated: null is none, an empty list means not at
   * all. Throws when the binding wants some that are not there.
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
