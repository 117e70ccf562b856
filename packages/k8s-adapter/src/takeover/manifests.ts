// The admission policies by which the API server refuses kube-controller-manager what taintmgr decides.

import { takeoverLabel } from '@taintmgr/core/policy';
import { policyApiVersion } from '../kinds/kinds.ts';
import { evictionsPolicy, readinessPolicy } from './rules.ts';

export { takeoverLabel } from '@taintmgr/core/policy';

/** As which the policies are written. */
export const takeoverManager = 'taintmgr-takeover';

/** Where the policies say which version of their content they have. */
export const takeoverVersionAnnotation = 'taintmgr.dev/takeover-version';

/** Of the content below: a test says when it has to be raised. */
export const takeoverVersion = '3';

const apiVersion = 'admissionregistration.k8s.io/v1';
const path = `/apis/${apiVersion}`;

/** For whom the policies are made. */
export interface TakeoverOptions {
  /** The TaintManager whose status is the heartbeat. */
  readonly manager: string;
  /** Who may mark pods all the same: taintmgr's own user, as a SelfSubjectReview names it. */
  readonly users: readonly string[];
}

/** A policy or a binding, as the API server stores it: its defaults are spelled out. */
export interface TakeoverManifest {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'ValidatingAdmissionPolicy' | 'ValidatingAdmissionPolicyBinding';
  readonly metadata: {
    readonly name: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A policy with its binding. */
interface TakeoverPolicy {
  readonly policy: TakeoverManifest;
  readonly binding: TakeoverManifest;
}

/** Both policies. What is bound last is what acts, so policies are written before their bindings. */
export interface TakeoverPolicies {
  /** Refuses evictions for taints: the mark that goes before each DELETE. */
  readonly evictions: TakeoverPolicy;
  /** Refuses marking pods not ready, where the leader's status says so. */
  readonly readiness: TakeoverPolicy;
}

/** The policies as values. */
export function takeoverPolicies(options: TakeoverOptions): TakeoverPolicies {
  return {
    evictions: withBinding('taintmgr-takeover', evictionsPolicy(options.users), options.manager),
    readiness: withBinding('taintmgr-readiness', readinessPolicy(options.users), options.manager),
  };
}

/** The four objects in the order in which they are written. */
export function takeoverManifests(options: TakeoverOptions): readonly TakeoverManifest[] {
  const { evictions, readiness } = takeoverPolicies(options);
  return [evictions.policy, readiness.policy, evictions.binding, readiness.binding];
}

/** Where a policy or a binding is read and written. */
export function takeoverPath({
  kind,
  metadata,
}: Pick<TakeoverManifest, 'kind' | 'metadata'>): string {
  return `${takeoverCollection(kind)}/${metadata.name}`;
}

/** Where those of a kind are. */
export function takeoverCollection(kind: TakeoverManifest['kind']): string {
  const isPolicy = kind === 'ValidatingAdmissionPolicy';
  return `${path}/${isPolicy ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings'}`;
}

function withBinding(
  name: string,
  rules: Readonly<Record<string, unknown>>,
  manager: string,
): TakeoverPolicy {
  const metadata = { name, annotations: { [takeoverVersionAnnotation]: takeoverVersion } };
  const labels = { [takeoverLabel.key]: takeoverLabel.value };
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['UPDATE'],
    resources: ['pods/status'],
    scope: '*',
  };
  return {
    policy: {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        // Whatever goes wrong in here: the cluster is as it was without us.
        failurePolicy: 'Ignore',
        // A custom resource: of built-in kinds the API server may stop to hear of changes.
        paramKind: { apiVersion: policyApiVersion, kind: 'TaintManager' },
        matchConstraints: {
          matchPolicy: 'Equivalent',
          namespaceSelector: { matchLabels: labels },
          objectSelector: {},
          resourceRules: [rule],
        },
        ...rules,
      },
    },
    binding: {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        paramRef: { name: manager, parameterNotFoundAction: 'Allow' },
      },
    },
  };
}
