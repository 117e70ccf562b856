// The `authorizer` of expressions: checks rights of the requester or of a service account.
import type { CelMethod, CelObject } from '../cel/type.ts';
import { CelError, type CelValue, lazyObject } from '../cel/value.ts';

/** The right that is checked; without a service account it is a right of the requester. */
export interface Question {
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | null;
  readonly verb: string;
  /** '' for a resource. */
  readonly path: string;
  readonly group: string;
  readonly plural: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly reason: string;
}

export type AskAuthorizer = (question: Question) => Verdict;

/** A question that is being put together, or its answer. */
interface Check {
  readonly ask: AskAuthorizer;
  readonly question: Question;
  readonly verdict: Verdict | null;
}

const checks = new WeakMap<object, Check>();

function checkOf(self: unknown): Check {
  const check = typeof self === 'object' && self !== null ? checks.get(self) : undefined;
  if (!check) throw new CelError('no such overload');
  return check;
}

function made(type: CelObject, check: Check, fields: Record<string, () => CelValue> = {}): object {
  const instance = lazyObject(type, fields) as object;
  checks.set(instance, check);
  return instance;
}

const objectType = (name: string, methods: readonly CelMethod[]): CelObject => ({
  kind: 'object',
  name: `kubernetes.authorization.${name}`,
  fields: {},
  methods,
});

function answer(
  name: string,
  returns: 'bool' | 'string',
  read: (verdict: Verdict) => CelValue,
): CelMethod {
  const call = (self: unknown): CelValue => read(checkOf(self).verdict ?? refused);
  return { name, takes: [], returns, call };
}

const refused: Verdict = { allowed: false, reason: '' };
const decision = objectType('Decision', [
  answer('allowed', 'bool', ({ allowed }) => allowed),
  answer('reason', 'string', ({ reason }) => reason),
  answer('errored', 'bool', () => false),
  answer('error', 'string', () => ''),
]);

const check: CelMethod = {
  name: 'check',
  takes: ['string'],
  returns: decision,
  call: (self, verb) => {
    const asked = checkOf(self);
    const verdict = asked.ask({ ...asked.question, verb: String(verb) });
    return made(decision, { ...asked, verdict });
  },
};

/** A method that returns a narrower question: the same one with its argument in this member. */
function narrowed(name: string, member: keyof Question, returns: CelObject): CelMethod {
  return {
    name,
    takes: ['string'],
    returns,
    call: (self, text) => {
      const asked = checkOf(self);
      return made(returns, { ...asked, question: { ...asked.question, [member]: String(text) } });
    },
  };
}

const pathCheck = objectType('PathCheck', [check]);
const resourceMethods: CelMethod[] = [check];
const resourceCheck = objectType('ResourceCheck', resourceMethods);
for (const member of ['subresource', 'namespace', 'name'] as const) {
  resourceMethods.push(narrowed(member, member, resourceCheck));
}
/** RBAC grants no parts of objects: a selector does not change the rights. */
for (const name of ['fieldSelector', 'labelSelector']) {
  const call = (self: unknown): CelValue => made(resourceCheck, checkOf(self));
  resourceMethods.push({ name, takes: ['string'], returns: resourceCheck, call });
}
const groupCheck = objectType('GroupCheck', [narrowed('resource', 'plural', resourceCheck)]);

const authorizerMethods: CelMethod[] = [
  narrowed('path', 'path', pathCheck),
  narrowed('group', 'group', groupCheck),
];

/** The type of `authorizer`. */
export const authorizerType: CelObject = {
  ...objectType('Authorizer', authorizerMethods),
  fields: { requestResource: resourceCheck },
};
authorizerMethods.push({
  name: 'serviceAccount',
  takes: ['string', 'string'],
  returns: authorizerType,
  call: (self, namespace, name) => {
    const asked = checkOf(self);
    const serviceAccount = { namespace: String(namespace), name: String(name) };
    const question = { ...asked.question, serviceAccount };
    return made(authorizerType, { ...asked, question });
  },
});

const nothing: Question = {
  serviceAccount: null,
  verb: '',
  path: '',
  group: '',
  plural: '',
  subresource: '',
  namespace: '',
  name: '',
};

/** The value of `authorizer`: the rights of the requester, for the request. */
export function authorizerOf(ask: AskAuthorizer, requested: Partial<Question>): CelValue {
  const asked: Check = { ask, question: nothing, verdict: null };
  const resource = { ...asked, question: { ...nothing, ...requested } };
  return made(authorizerType, asked, { requestResource: () => made(resourceCheck, resource) });
}
