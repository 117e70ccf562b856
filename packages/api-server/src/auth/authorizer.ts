import type { Json, Rule, User } from '@taintmgr/sim-cluster/server';

/** The attributes of a request that authorization looks at. */
export interface Attributes {
  /** Such as `list`; the method in lower case for a path without a resource. */
  readonly verb: string;
  /** For a resource; null for any other path. */
  readonly resource: {
    readonly group: string;
    readonly plural: string;
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
  } | null;
  /** The path without its query. */
  readonly path: string;
}

/** A user as reviews and admission show him. */
export function userInfo({ name: username, uid, groups, extra }: User): {
  readonly [key: string]: Json;
} {
  return { username, ...(uid ? { uid } : {}), groups, ...(extra ? { extra } : {}) };
}

/** Returns the user as whom the pods of a service account authenticate: its name and its groups. */
export function serviceAccountUser(namespace: string, name: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    rules: [],
  };
}

const includes = (values: readonly string[] | undefined, wanted: string): boolean =>
  values !== undefined && (values.includes('*') || values.includes(wanted));

/** True if the rule allows the request. */
export function allows(rule: Rule, { verb, resource, path }: Attributes): boolean {
  if (!includes(rule.verbs, verb)) return false;
  if (!resource) return (rule.nonResourceURLs ?? []).some((url) => matchesPath(url, path));
  const { group, plural, subresource, namespace, name } = resource;
  const wanted = subresource ? `${plural}/${subresource}` : plural;
  const anySubresource = subresource !== '' && includes(rule.resources, `*/${subresource}`);
  return (
    includes(rule.apiGroups, group) &&
    (includes(rule.resources, wanted) || anySubresource) &&
    (rule.resourceNames === undefined || rule.resourceNames.includes(name)) &&
    (rule.namespace === undefined || rule.namespace === namespace)
  );
}

function matchesPath(url: string, path: string): boolean {
  return url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : url === path;
}
