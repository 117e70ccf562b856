// Matches requests with policies and bindings.
import type {
  AdmissionRequest,
  KubeObject,
  LabelSelector,
  Resource,
} from '@taintmgr/sim-cluster/server';
import {
  apiVersionOf,
  labelSelectorRequirements,
  matchesLabels,
} from '@taintmgr/sim-cluster/server';
import type { MatchResources, ResourceRule } from '../policy/match-resources.ts';

/** The labels of a namespace; null for one that is not there. */
export type NamespaceLabels = (name: string) => Readonly<Record<string, string>> | null;

/** Kinds that no policy judges, so that no policy can lock everyone out. */
const exempt: ReadonlySet<string> = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);

/** True for kinds that policies are never asked about. */
export function isExempt({ resource: { group, plural } }: AdmissionRequest): boolean {
  return group === 'admissionregistration.k8s.io' && exempt.has(plural);
}

const webhookKinds: ReadonlySet<string> = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
]);

/** True for kinds that webhooks are never asked about. */
export function isAdmissionConfiguration(request: AdmissionRequest): boolean {
  const { group, plural } = request.resource;
  return (
    isExempt(request) || (group === 'admissionregistration.k8s.io' && webhookKinds.has(plural))
  );
}

/**
 * The request in the form that the constraints match, or null if they do not match it. Without
 * rules every request matches. A request that matches only in another version or group is converted
 * to it: `others` are the resources under which the same objects are served.
 */
export function matched(
  given: MatchResources,
  request: AdmissionRequest,
  labelsOf: NamespaceLabels,
  others: readonly Resource[],
): AdmissionRequest | null {
  const { resourceRules = [], excludeResourceRules = [] } = given;
  const isSelected =
    matchesNamespace(given.namespaceSelector, request, labelsOf) &&
    matchesObject(given.objectSelector, request);
  if (!isSelected) return null;
  const equivalent = given.matchPolicy === 'Exact' ? [] : others;
  const known = [request, ...equivalent.map((resource) => ({ ...request, resource }))];
  const ruled = (rules: readonly ResourceRule[]): AdmissionRequest | undefined =>
    known.find((one) => rules.some((rule) => matchesRule(rule, one)));
  if (ruled(excludeResourceRules)) return null;
  if (resourceRules.length === 0) return request;
  const found = ruled(resourceRules);
  return found ? shownAs(found.resource, request) : null;
}

/** The request with its objects as another resource shows them. */
function shownAs(resource: Resource, request: AdmissionRequest): AdmissionRequest {
  if (resource === request.resource) return request;
  const { object, oldObject } = request;
  const shown = (one: KubeObject | null): KubeObject | null => {
    if (one === null || request.subresource === 'scale') return one;
    const stored = request.resource.view?.toStored(one) ?? one;
    const viewed = resource.view?.toView(stored) ?? stored;
    return { ...viewed, kind: resource.kind, apiVersion: apiVersionOf(resource) };
  };
  return {
    ...request,
    resource,
    asked: { resource: request.resource, object, oldObject },
    object: shown(object),
    oldObject: shown(oldObject),
  };
}

function matchesRule(rule: ResourceRule, request: AdmissionRequest): boolean {
  const { resource, operation, name } = request;
  const names = rule.resourceNames ?? [];
  return (
    has(rule.operations, operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((pattern) => matchesResource(pattern, request)) &&
    matchesScope(rule.scope ?? '*', request) &&
    (names.length === 0 || names.includes(name))
  );
}

function has(texts: readonly string[] = [], wanted: string): boolean {
  return texts.includes('*') || texts.includes(wanted);
}

/**
 * `pods`, `pods/status`. `*` matches no subresource, `pods/*` matches pods too, and `*` twice
 * matches everything.
 */
function matchesResource(pattern: string, { resource, subresource }: AdmissionRequest): boolean {
  const [plural = '', sub = ''] = pattern.split('/');
  if (plural !== '*' && plural !== resource.plural) return false;
  return sub === '*' || sub === subresource;
}

/** A Namespace is an object of the cluster. */
function matchesScope(scope: string, { resource }: AdmissionRequest): boolean {
  return scope === '*' || (scope === 'Namespaced') === resource.namespaced;
}

function matchesNamespace(
  selector: LabelSelector | undefined,
  request: AdmissionRequest,
  labelsOf: NamespaceLabels,
): boolean {
  if (isEmpty(selector)) return true;
  const { resource, subresource, object, namespace, name } = request;
  const isNamespace = resource.group === '' && resource.plural === 'namespaces';
  if (isNamespace && subresource === '' && object) return selects(selector, object);
  if (!isNamespace && namespace === '') return true;
  const labels = labelsOf(isNamespace ? name : namespace);
  return labels !== null && selects(selector, { metadata: { name, labels } });
}

/** The object as it was counts as much as the object as it shall be. */
function matchesObject(
  selector: LabelSelector | undefined,
  { object, oldObject }: AdmissionRequest,
): boolean {
  if (isEmpty(selector)) return true;
  return [object, oldObject].some((one) => one !== null && selects(selector, one));
}

const isEmpty = (selector: LabelSelector = {}): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 &&
  (selector.matchExpressions ?? []).length === 0;

/** True if the selector matches the labels of an object. */
export function selects(selector: LabelSelector | undefined, { metadata }: KubeObject): boolean {
  const requirements = labelSelectorRequirements(selector ?? {});
  return requirements !== null && matchesLabels(requirements, metadata.labels ?? {});
}
