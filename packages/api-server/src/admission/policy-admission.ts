// Judges changes by the ValidatingAdmissionPolicies of the cluster.

import {
  type Admission,
  type AdmissionRequest,
  type ApiError,
  type Clock,
  hash,
  type KubeObject,
  policyDenial,
  type Resource,
  type ServedResources,
  type Store,
  storageOf,
  type User,
  type Writer,
} from '@taintmgr/sim-cluster/server';
import type { Access } from '../auth/access.ts';
import { serviceAccountUser } from '../auth/authorizer.ts';
import type { Verdict as Answer, Question } from '../policy/authorizer.ts';
import type { ParamRef } from '../policy/binding.ts';
import type { MatchResources } from '../policy/match-resources.ts';
import { type Bindings, dynamic, requestBindings } from './bindings.ts';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts';
import { evaluatePolicy, type Verdict } from './evaluate.ts';
import { LaggingView } from './lagging-view.ts';
import { isExempt, matched, type NamespaceLabels } from './match.ts';
import { ConfigurationError, type ParamRightsOptions, Params, paramRightsFault } from './params.ts';

// The policies and bindings that are in force: those that were stored a moment ago.

/** The real server compiles once a second. */
const delayMinMs = 300;
const delayMaxMs = 1000;

const policyResource = 'validatingadmissionpolicies';
const bindingResource = 'validatingadmissionpolicybindings';

type Action = 'Deny' | 'Warn' | 'Audit';

/** A binding in force. */
interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly matchResources: MatchResources;
  readonly paramRef: ParamRef | null;
  readonly actions: readonly Action[];
}

class Policies {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #policies = new Map<string, CompiledPolicy>();
  readonly #bindings = new Map<string, Binding>();

  /** `changed` is called when others are in force than before. */
  constructor(store: Store, clock: Clock, changed: () => void) {
    this.#store = store;
    this.#clock = clock;
    this.#changed = changed;
    store.subscribe(({ resource, object }) => {
      if (resource !== policyResource && resource !== bindingResource) return;
      const { name, resourceVersion } = object.metadata;
      const spread = hash(`${name}/${resourceVersion}`) % (delayMaxMs - delayMinMs);
      this.#clock.after(delayMinMs + spread, () => this.#refresh(resource, name));
    });
  }

  /** True if no policy can judge. */
  get isEmpty(): boolean {
    return this.#policies.size === 0 || this.#bindings.size === 0;
  }

  /** The policies in force, whether bound or not. */
  all(): Iterable<CompiledPolicy> {
    return this.#policies.values();
  }

  /** The bindings of a policy. */
  bindingsOf({ name }: CompiledPolicy): readonly Binding[] {
    return [...this.#bindings.values()].filter(({ policyName }) => policyName === name);
  }

  /** A server that starts answers no request before it has read what is stored. */
  begin(): void {
    for (const resource of [policyResource, bindingResource]) {
      for (const { metadata } of this.#store.collection(resource).list('')) {
        this.#refresh(resource, metadata.name);
      }
    }
  }

  /** Uses the object stored by now, which may be newer than the one that set the clock. */
  #refresh(resource: string, name: string): void {
    const stored = this.#store.get(resource, '', name);
    if (resource === policyResource) put(this.#policies, name, stored && compilePolicy(stored));
    else put(this.#bindings, name, stored && readBinding(stored));
    this.#changed();
  }
}

function put<V>(map: Map<string, V>, name: string, value: V | null): void {
  if (value === null) map.delete(name);
  else map.set(name, value);
}

function readBinding({ metadata, spec }: KubeObject): Binding {
  return {
    name: metadata.name,
    policyName: spec.policyName ?? '',
    matchResources: spec.matchResources ?? {},
    paramRef: spec.paramRef ?? null,
    actions: spec.validationActions ?? [],
  };
}

export interface PolicyAdmissionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly access: Access;
  readonly served: ServedResources;
}

/** The part of an audit log entry that policies write. */
export interface Audited {
  readonly request: AdmissionRequest;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The number of latest entries that are kept. */
const auditedMax = 1000;
const auditKey = 'validation.policy.admission.k8s.io/validation_failure';

/** A pending refusal: the policy that refuses, and the reason. */
interface Denial {
  readonly who: string;
  readonly message: string;
  readonly reason: string | null;
}

export class PolicyAdmission implements Admission {
  readonly #store: Store;
  readonly #served: ServedResources;
  readonly #access: Access;
  readonly #policies: Policies;
  readonly #params: Params;
  readonly #paramRights: ParamRightsOptions;
  readonly #audited: Audited[] = [];
  readonly #viewNamespaces: () => LaggingView;
  #namespaces: LaggingView | null = null;

  constructor({ store, clock, access, served }: PolicyAdmissionOptions) {
    this.#store = store;
    this.#served = served;
    this.#access = access;
    this.#paramRights = { store, access, served };
    this.#params = new Params(store, clock, served);
    this.#viewNamespaces = () => new LaggingView(store, clock, 'namespaces');
    this.#policies = new Policies(store, clock, () => {
      this.#params.watchFor(this.#policies.all());
      this.#namespaces ??= this.#viewNamespaces();
    });
  }

  /** The entries that Audit actions and audit annotations have written, the latest last. */
  get audited(): readonly Audited[] {
    return this.#audited;
  }

  /** Uses what is stored now, as a server does that has just started; parameters follow later. */
  begin(paramsSyncMs: number): void {
    this.#params.begin(paramsSyncMs);
    this.#policies.begin();
  }

  judge(request: AdmissionRequest, writer: Writer): void {
    if (isExempt(request)) {
      const fault = paramRightsFault(request, writer, this.#paramRights);
      if (fault) throw fault;
      return;
    }
    if (this.#policies.isEmpty) return;
    const denials: Denial[] = [];
    const annotations: Record<string, string> = {};
    const others = this.#othersThan(request.resource);
    const shared = new Map<Resource, Bindings>();
    const bindingsOf = (shown: AdmissionRequest): Bindings => {
      const known = shared.get(shown.resource) ?? this.bindings(shown, writer);
      shared.set(shown.resource, known);
      return known;
    };
    for (const policy of this.#policies.all()) {
      const shown = matched(policy.constraints, request, this.#labelsOf, others);
      if (!shown) continue;
      const bindings = (): Bindings => bindingsOf(shown);
      denials.push(...this.#ask(policy, { request, others }, writer, bindings, annotations));
    }
    if (Object.keys(annotations).length > 0) this.#audit({ request, annotations });
    const [first] = denials;
    if (first) throw refusal(request, first);
  }

  /** Evaluates a policy that matches, with all its bindings. */
  #ask(
    policy: CompiledPolicy,
    { request, others }: Asking,
    writer: Writer,
    bindings: () => Bindings,
    annotations: Record<string, string>,
  ): readonly Denial[] {
    const denials: Denial[] = [];
    const attempt = (what: 'policy' | 'binding', who: string, work: () => void): void => {
      try {
        work();
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        if (policy.ignoresFailures) return;
        const message = `failed to configure ${what}: ${error.message}`;
        denials.push({ who, message, reason: null });
      }
    };
    const name = `ValidatingAdmissionPolicy '${policy.name}'`;
    const bound = this.#policies.bindingsOf(policy);
    if (bound.length === 0) return [];
    attempt('policy', name, () => {
      const resource = this.#params.resourceOf(policy);
      for (const binding of bound) {
        if (!matched(binding.matchResources, request, this.#labelsOf, others)) continue;
        const who = `${name} with binding '${binding.name}'`;
        attempt('binding', who, () => {
          const params = this.#params.collect(resource, binding.paramRef, request.namespace);
          for (const param of params) {
            const verdict = evaluatePolicy(policy, { ...bindings(), params: dynamic(param) });
            denials.push(...carryOut(verdict, { policy, binding, who }, writer, annotations));
          }
        });
      }
    });
    return denials;
  }

  /** The request in the form that the match constraints ask for; null where they do not match. */
  shownTo(constraints: MatchResources, request: AdmissionRequest): AdmissionRequest | null {
    return matched(constraints, request, this.#labelsOf, this.#othersThan(request.resource));
  }

  /** The other resources under which the same objects are served. */
  #othersThan(resource: Resource): readonly Resource[] {
    const storage = storageOf(resource);
    return this.#served.all.filter((one) => one !== resource && storageOf(one) === storage);
  }

  /** The variables that expressions see for a request, without parameters. */
  bindings(request: AdmissionRequest, writer: Writer): Bindings {
    const isNamespace = request.resource.plural === 'namespaces';
    const namespace = isNamespace ? null : this.#namespaceNamed(request.namespace);
    return requestBindings(request, writer, namespace, (question) =>
      this.#answer(writer.user, question),
    );
  }

  #namespaceNamed(name: string): KubeObject | null {
    if (name === '') return null;
    // A namespace that is too new for the caches is looked up.
    return this.#namespaces?.get('', name) ?? this.#store.get('namespaces', '', name);
  }

  readonly #labelsOf: NamespaceLabels = (name) => {
    const namespace = this.#namespaceNamed(name);
    return namespace ? (namespace.metadata.labels ?? {}) : null;
  };

  #answer(asking: User, question: Question): Answer {
    const { serviceAccount, verb, path, ...resource } = question;
    const user = serviceAccount
      ? serviceAccountUser(serviceAccount.namespace, serviceAccount.name)
      : asking;
    const attributes = { verb, path, resource: path === '' ? resource : null };
    const { grant, reason } = this.#access.decide(user, attributes);
    return { allowed: grant !== null, reason };
  }

  #audit(entry: Audited): void {
    this.#audited.push(entry);
    if (this.#audited.length > auditedMax) this.#audited.shift();
  }
}

/** A request, and the other resources under which its objects are served. */
interface Asking {
  readonly request: AdmissionRequest;
  readonly others: readonly Resource[];
}

interface Asked {
  readonly policy: CompiledPolicy;
  readonly binding: Binding;
  readonly who: string;
}

/** Does with a verdict what the binding wants; returns what stands against the request. */
function carryOut(
  { decisions, annotations: own }: Verdict,
  { policy, binding, who }: Asked,
  writer: Writer,
  annotations: Record<string, string>,
): readonly Denial[] {
  const denials: Denial[] = [];
  for (const [expressionIndex, decision] of decisions.entries()) {
    if (decision.kind === 'admit') continue;
    const { message, reason } = decision;
    for (const action of binding.actions) {
      if (action === 'Deny') denials.push({ who, message, reason });
      if (action === 'Warn') writer.warn(`Validation failed for ${who}: ${message}`);
      // The first failure is all that is written.
      if (action === 'Audit') {
        annotations[auditKey] ??= JSON.stringify([
          {
            message,
            policy: policy.name,
            binding: binding.name,
            expressionIndex,
            validationActions: binding.actions,
          },
        ]);
      }
    }
  }
  for (const { key, value } of own) annotations[`${policy.name}/${key}`] ??= value;
  return denials;
}

/** By default it is said to be invalid, whatever the text says. */
function refusal({ resource, name }: AdmissionRequest, { who, message, reason }: Denial): ApiError {
  return policyDenial(resource, name, reason ?? 'Invalid', `${who} denied request: ${message}`);
}
