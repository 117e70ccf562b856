/** What a user may do; `*` stands for anything in every list. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  /** `pods`, `pods/eviction`. */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  /** `/healthz`, `/apis/*`. */
  readonly nonResourceURLs?: readonly string[];
  /** Only in this namespace; everywhere when absent. */
  readonly namespace?: string;
}

export interface User {
  readonly name: string;
  readonly uid?: string;
  /** Members of `system:masters` may do everything. */
  readonly groups: readonly string[];
  readonly rules: readonly Rule[];
}

/** What a request wants to do. */
export interface Attributes {
  readonly verb: string;
  /** For a resource; null for any other path. */
  readonly resource: {
    readonly group: string;
    readonly plural: string;
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
  } | null;
  readonly path: string;
}

const EVERYONE: readonly Rule[] = [
  {
    verbs: ['get'],
    nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'],
  },
];

const AUTHENTICATED: readonly Rule[] = [
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  },
  {
    verbs: ['create'],
    apiGroups: ['authentication.k8s.io'],
    resources: ['selfsubjectreviews'],
  },
  {
    verbs: ['get'],
    nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'],
  },
];

const ALL: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** Every rule that speaks for the user. */
export function rulesOf(user: User): readonly Rule[] {
  const shared = user.groups.includes('system:authenticated')
    ? [...EVERYONE, ...AUTHENTICATED]
    : EVERYONE;
  const own = user.groups.includes('system:masters') ? ALL : user.rules;
  return [...shared, ...own];
}

/** True when a rule allows it. */
export function isAllowed(user: User, attributes: Attributes): boolean {
  return rulesOf(user).some((rule) => allows(rule, attributes));
}

const includes = (values: readonly string[] | undefined, wanted: string): boolean =>
  values !== undefined && (values.includes('*') || values.includes(wanted));

function allows(rule: Rule, { verb, resource, path }: Attributes): boolean {
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
