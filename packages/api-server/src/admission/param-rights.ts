// Whoever writes a policy with parameters must be allowed to read them.

import type {
  AdmissionRequest,
  KubeObject,
  ServedResources,
  Store,
  Writer,
} from '@taintmgr/sim-cluster/server';
import { type ApiError, invalid } from '@taintmgr/sim-cluster/server';
import type { Access } from '../auth/access.ts';

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ParamRightsOptions {
  readonly store: Store;
  readonly access: Access;
  readonly served: ServedResources;
}

/**
 * What stands against a write of a policy or a binding; null: nothing. Only what names other parameters
 * than before is looked at. The words for bindings are not recorded.
 */
export function paramRightsFault(
  { object, oldObject, resource: { group, kind, plural } }: AdmissionRequest,
  { user }: Writer,
  options: ParamRightsOptions,
): ApiError | null {
  if (!object || plural.startsWith('mutating')) return null;
  const isPolicy = plural === 'validatingadmissionpolicies';
  const field = isPolicy ? 'paramKind' : 'paramRef';
  const named = object.spec?.[field];
  const isNews = JSON.stringify(named) !== JSON.stringify(oldObject?.spec?.[field]);
  const paramKind = isPolicy ? named : kindOf(object, options.store);
  if (!named || !paramKind || !isNews) return null;
  const { name = '*', namespace = '*' } = isPolicy ? {} : named;
  const asked = { ...resourceOf(paramKind, options.served), subresource: '', namespace, name };
  const { grant } = options.access.judge(user, { verb: 'get', path: '', resource: asked });
  if (grant) return null;
  const about = `(kind=${paramKind.kind}, apiVersion=${paramKind.apiVersion})`;
  const what = isPolicy ? 'all objects of the referenced paramKind' : 'the referenced param';
  const message = `Forbidden: user ${user.name} must have "get" permission on ${what} ${about}`;
  const cause = { reason: 'FieldValueForbidden', message, field: `spec.${field}` };
  return invalid({ kind, group }, object.metadata.name, [cause]);
}

/** Of the policy that a binding is for, if that is there. */
function kindOf(binding: KubeObject, store: Store): Kind | undefined {
  const name = binding.spec?.policyName ?? '';
  return store.get('validatingadmissionpolicies', '', name)?.spec?.paramKind;
}

function resourceOf({ apiVersion, kind }: Kind, served: ServedResources): GroupAndPlural {
  const found = served.findKind(apiVersion, kind);
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  return { group, plural: found?.plural ?? '*' };
}

interface GroupAndPlural {
  readonly group: string;
  readonly plural: string;
}
