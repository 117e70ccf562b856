// The webhooks that are asked: those of the configurations that were stored a moment ago.
import type { Clock, KubeObject, Store } from '@taintmgr/sim-cluster/server';
import type { MatchResources } from '../../policy/match-resources.ts';
import type { ClientConfig } from '../../policy/webhook-address.ts';
import type { WebhookSpec } from '../../policy/webhooks.ts';
import { compileExpression, type Expression } from '../compiled-policy.ts';
import { LaggingView } from '../lagging-view.ts';

const resource = 'validatingwebhookconfigurations';

/** A webhook ready to be asked. */
export interface Webhook {
  /** One of its own, also where two have one name. */
  readonly id: string;
  readonly name: string;
  readonly address: ClientConfig;
  readonly constraints: MatchResources;
  readonly conditions: readonly Expression[];
  /** Whether the request passes where the webhook cannot be asked. */
  readonly ignoresFailures: boolean;
  /** Whether it may be asked about a dry run. */
  readonly isWithoutEffect: boolean;
  readonly timeoutMs: number;
  /** The version of AdmissionReview that it is asked in. */
  readonly version: 'v1' | 'v1beta1';
}

export class Configurations {
  readonly #view: LaggingView;
  /** Read and compiled once for each stored state. */
  readonly #read = new WeakMap<KubeObject, readonly Webhook[]>();

  constructor(store: Store, clock: Clock) {
    this.#view = new LaggingView(store, clock, resource);
  }

  /** Whether there is nobody to ask. */
  get isEmpty(): boolean {
    return this.#view.isEmpty;
  }

  /** By the names of their configurations, then in the order in which they stand there. */
  all(): readonly Webhook[] {
    return this.#view
      .list('')
      .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
      .flatMap((configuration) => this.#webhooksOf(configuration));
  }

  #webhooksOf(configuration: KubeObject): readonly Webhook[] {
    const known = this.#read.get(configuration);
    if (known) return known;
    const specs: readonly WebhookSpec[] = configuration.webhooks ?? [];
    const webhooks = specs.map((spec, at) => ready(`${configuration.metadata.uid}/${at}`, spec));
    this.#read.set(configuration, webhooks);
    return webhooks;
  }
}

function ready(id: string, spec: WebhookSpec): Webhook {
  const { name, clientConfig, rules = [], matchPolicy, namespaceSelector, objectSelector } = spec;
  const versions = spec.admissionReviewVersions ?? [];
  return {
    id,
    name,
    address: clientConfig,
    constraints: { resourceRules: rules, matchPolicy, namespaceSelector, objectSelector },
    conditions: (spec.matchConditions ?? []).map(({ expression }) =>
      compileExpression(expression, { params: false, authorizer: true }),
    ),
    ignoresFailures: spec.failurePolicy === 'Ignore',
    isWithoutEffect: spec.sideEffects === 'None' || spec.sideEffects === 'NoneOnDryRun',
    timeoutMs: spec.timeoutSeconds * 1000,
    version: versions.find((version) => version === 'v1' || version === 'v1beta1') ?? 'v1',
  };
}
