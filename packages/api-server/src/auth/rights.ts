import type { Rule } from '@taintmgr/sim-cluster/server';
import { type Attributes, allows } from './authorizer.ts';
import type { Grant } from './grants.ts';

/** A right that a role or a token grants. */
export interface Right {
  /** `ClusterRole NAME`, `Role NAMESPACE/NAME`; '' for a rule that came with a token. */
  readonly role: string;
  /** A verb of the API, such as `list`; `*` for all of them. */
  readonly verb: string;
  /** `pods/eviction`, `leases.coordination.k8s.io`, `/metrics`. */
  readonly resource: string;
  /** Null: everywhere. */
  readonly namespace: string | null;
  /** Null: of any name. */
  readonly name: string | null;
}

/** A request that was forbidden. */
export interface Denial {
  /** The name of the user, such as `system:serviceaccount:kube-system:taintmgr`. */
  readonly user: string;
  /** The verb of the request, such as `create`. */
  readonly verb: string;
  /** In the form of a Right's resource. */
  readonly resource: string;
  /** '' for a resource without a namespace, and for a path. */
  readonly namespace: string;
  /** '' for a request that names no object. */
  readonly name: string;
  /** The number of equal requests that were forbidden. */
  readonly count: number;
}

/** The rights that users have used, and the rights that they were refused. */
export class RightsUse {
  readonly #used = new Set<string>();
  readonly #denied = new Map<string, Denial>();

  get denials(): readonly Denial[] {
    return [...this.#denied.values()];
  }

  use(user: string, grant: Grant, attributes: Attributes): void {
    for (const { right, rule } of split(grant)) {
      if (allows(rule, attributes)) this.#used.add(keyOf(user, right));
    }
  }

  deny(user: string, { verb, path, resource }: Attributes): void {
    const { group = '', plural = '', subresource = '', namespace = '', name = '' } = resource ?? {};
    const part = subresource ? `${plural}/${subresource}` : plural;
    const what = resource ? qualified(part, group) : path;
    const key = JSON.stringify([user, verb, what, namespace, name]);
    const count = (this.#denied.get(key)?.count ?? 0) + 1;
    this.#denied.set(key, { user, verb, resource: what, namespace, name, count });
  }

  /** The rights of the grants that the user has not used. */
  unused(user: string, grants: readonly Grant[]): readonly Right[] {
    const unused = new Map<string, Right>();
    for (const { right } of grants.flatMap(split)) {
      const key = keyOf(user, right);
      if (!this.#used.has(key)) unused.set(key, right);
    }
    return [...unused.values()];
  }
}

/** A grant as single rights, each with the rule that gives just this. */
function split({ rule, role }: Grant): readonly { readonly right: Right; readonly rule: Rule }[] {
  const { verbs, apiGroups = [], resources = [], nonResourceURLs = [], resourceNames } = rule;
  const namespace = rule.namespace ?? null;
  const scope = rule.namespace === undefined ? {} : { namespace: rule.namespace };
  return verbs.flatMap((verb) => [
    ...nonResourceURLs.map((url) => ({
      right: { role, verb, resource: url, namespace: null, name: null },
      rule: { verbs: [verb], nonResourceURLs: [url] },
    })),
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        (resourceNames ?? [null]).map((name) => ({
          right: { role, verb, resource: qualified(resource, group), namespace, name },
          rule: {
            verbs: [verb],
            apiGroups: [group],
            resources: [resource],
            ...(name === null ? {} : { resourceNames: [name] }),
            ...scope,
          },
        })),
      ),
    ),
  ]);
}

function keyOf(user: string, { role, verb, resource, namespace, name }: Right): string {
  return JSON.stringify([user, role, verb, resource, namespace, name]);
}

function qualified(resource: string, group: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}
