// The policies and bindings that are in force: those that were stored a moment ago.
import type { Clock, KubeObject, Store } from '@taintmgr/sim-cluster/server';
import { hash } from '@taintmgr/sim-cluster/server';
import type { ParamRef } from '../policy/binding.ts';
import type { MatchResources } from '../policy/match-resources.ts';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts';

/** The real server compiles once a second. */
const delayMinMs = 300;
const delayMaxMs = 1000;

const policyResource = 'validatingadmissionpolicies';
const bindingResource = 'validatingadmissionpolicybindings';

type Action = 'Deny' | 'Warn' | 'Audit';

/** A binding in force. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly matchResources: MatchResources;
  readonly paramRef: ParamRef | null;
  readonly actions: readonly Action[];
}

export class Policies {
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

  /** Whether there is nothing that could judge. */
  get isEmpty(): boolean {
    return this.#policies.size === 0 || this.#bindings.size === 0;
  }

  /** Those in force, whether bound or not. */
  all(): Iterable<CompiledPolicy> {
    return this.#policies.values();
  }

  /** The bindings of a policy. */
  bindingsOf({ name }: CompiledPolicy): readonly Binding[] {
    return [...this.#bindings.values()].filter(({ policyName }) => policyName === name);
  }

  /** A server that begins answers nobody before it knows what it finds stored. */
  begin(): void {
    for (const resource of [policyResource, bindingResource]) {
      for (const { metadata } of this.#store.collection(resource).list('')) {
        this.#refresh(resource, metadata.name);
      }
    }
  }

  /** Takes over what is stored by now, which may be newer than what set the clock. */
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
