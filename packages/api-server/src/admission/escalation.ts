// Keeps users from granting, by RBAC objects, rights that they do not have.

import type {
  Admission,
  AdmissionRequest,
  KubeObject,
  Rule,
  Store,
  User,
  Writer,
} from '@taintmgr/sim-cluster/server';
import { equal, forbidden, notFound, quoted } from '@taintmgr/sim-cluster/server';
import type { Access } from '../auth/access.ts';
import { type Attributes, allows } from '../auth/authorizer.ts';
import { isMaster } from '../auth/grants.ts';
import { ownRules, type RoleRef, rulesOf } from '../auth/rbac.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

/** All that there is to give. */
const everything: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/**
 * The writer of a role needs all rights in its rules, or the verb `escalate`; the writer of a
 * binding needs the rights of its role, or the verb `bind`.
 */
export class Escalation implements Admission {
  readonly #store: Store;
  readonly #access: Access;

  constructor(store: Store, access: Access) {
    this.#store = store;
    this.#access = access;
  }

  judge(request: AdmissionRequest, { user }: Writer): void {
    const { resource, object, oldObject } = request;
    if (resource.group !== rbacGroup || object === null || isMaster(user)) return;
    // The garbage collector, and other controllers that edit owners, change objects that they could
    // not have written.
    if (oldObject && equal(withoutOwners(object), withoutOwners(oldObject))) return;
    if (resource.plural.endsWith('bindings')) this.#judgeBinding(request, object, user);
    else this.#judgeRole(request, object, user);
  }

  #judgeRole(request: AdmissionRequest, role: KubeObject, user: User): void {
    const { resource, name, oldObject, operation, namespace } = request;
    const { group, plural } = resource;
    // A path to which something new is posted names nothing.
    const target = operation === 'CREATE' ? '' : name;
    if (this.#may(user, 'escalate', { group, plural, namespace, name: target })) return;
    this.#refuseMore(request, user, ownRules(role));
    if (!role.aggregationRule && !oldObject?.aggregationRule) return;
    // Gathers rules that are not stored yet.
    if (this.#missing(user, everything, '').length === 0) return;
    throw forbidden(
      resource,
      name,
      'must have cluster-admin privileges to use the aggregationRule',
    );
  }

  #judgeBinding(request: AdmissionRequest, binding: KubeObject, user: User): void {
    const roleRef: RoleRef = binding.roleRef;
    const { namespace } = request;
    const role = { group: rbacGroup, plural: `${roleRef.kind.toLowerCase()}s` };
    if (this.#may(user, 'bind', { ...role, namespace, name: roleRef.name })) return;
    const rules = rulesOf(this.#store, roleRef, namespace);
    if (rules === null) throw notFound(role, roleRef.name);
    this.#refuseMore(request, user, rules);
  }

  #may(user: User, verb: string, resource: Omit<Resource, 'subresource'>): boolean {
    const attributes = { verb, path: '', resource: { ...resource, subresource: '' } };
    return this.#access.decide(user, attributes).grant !== null;
  }

  /** Throws ApiError 403 that names the rights that he does not hold. */
  #refuseMore(
    { resource, name, namespace }: AdmissionRequest,
    user: User,
    rules: readonly Rule[],
  ): void {
    const missing = this.#missing(user, rules, namespace);
    if (missing.length === 0) return;
    const who = `user ${JSON.stringify(user.name)} (groups=${quoted(user.groups)})`;
    const what = shown(missing).join('\n');
    throw forbidden(
      resource,
      name,
      `${who} is attempting to grant RBAC permissions not currently held:\n${what}`,
    );
  }

  #missing(user: User, rules: readonly Rule[], namespace: string): readonly Attributes[] {
    const grants = this.#access.grantsOf(user);
    return rules
      .flatMap((rule) => rightsIn(rule, namespace))
      .filter((right) => !grants.some(({ rule }) => allows(rule, right)));
  }
}

type Resource = NonNullable<Attributes['resource']>;

function withoutOwners({ metadata, ...rest }: KubeObject): object {
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _fields,
    ...kept
  } = metadata;
  return { ...rest, metadata: kept };
}

/** A rule as single rights. Only a rule that allows `*` covers a right to do `*`. */
function rightsIn(rule: Rule, namespace: string): readonly Attributes[] {
  const {
    verbs,
    apiGroups = [],
    resources = [],
    resourceNames = [''],
    nonResourceURLs = [],
  } = rule;
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) => {
      const [plural = '', ...rest] = resource.split('/');
      const place = { group, plural, subresource: rest.join('/'), namespace };
      return verbs.flatMap((verb) =>
        resourceNames.map((name) => ({ verb, path: '', resource: { ...place, name } })),
      );
    }),
  );
  const ofPaths = verbs.flatMap((verb) =>
    nonResourceURLs.map((path) => ({ verb, path, resource: null })),
  );
  return [...ofResources, ...ofPaths];
}

/** Rights as rules in the form that Go shows: the verbs of one resource together, those of paths one by one. */
function shown(rights: readonly Attributes[]): readonly string[] {
  const rules = new Map<string, { readonly what: string; readonly verbs: Set<string> }>();
  for (const { verb, path, resource } of rights) {
    const what = resource ? shownResource(resource) : `NonResourceURLs:${quoted([path])}`;
    const key = resource ? what : `${what} ${verb}`;
    const rule = rules.get(key) ?? { what, verbs: new Set() };
    rules.set(key, rule);
    rule.verbs.add(verb);
  }
  return [...rules.values()]
    .map(({ what, verbs }) => `{${what}, Verbs:${quoted([...verbs])}}`)
    .sort();
}

function shownResource({ group, plural, subresource, name }: Resource): string {
  const resource = subresource ? `${plural}/${subresource}` : plural;
  const names = name ? `, ResourceNames:${quoted([name])}` : '';
  return `APIGroups:${quoted([group])}, Resources:${quoted([resource])}${names}`;
}
