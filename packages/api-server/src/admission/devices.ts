// Judges requests for devices by rules outside the cluster's own validation: expressions, and the
// namespace of a claim.
import type { AdmissionRequest, Cause, KubeObject, Store } from '@taintmgr/sim-cluster/server';
import { forbiddenValue, invalid, invalidValue } from '@taintmgr/sim-cluster/server';
import { selectorFault } from '../cel/device-selector.ts';

const adminLabel = 'resource.kubernetes.io/admin-access';

interface Asked {
  readonly selectors?: readonly Selector[];
  readonly adminAccess?: boolean;
}

interface Selector {
  readonly cel?: { readonly expression: string };
}

interface Request {
  readonly exactly?: Asked;
  readonly firstAvailable?: readonly Asked[];
}

/** Refuses, with 422, expressions that do not compile, and admin access where the namespace has none. */
export function judgeDevices(request: AdmissionRequest, store: Store): void {
  const { resource, object, operation, subresource, name, namespace } = request;
  if (resource.group !== 'resource.k8s.io' || object === null || subresource !== '') return;
  // The spec of a claim or a template is immutable.
  if (operation === 'UPDATE' && resource.plural !== 'deviceclasses') return;
  const isAdmin = (): boolean =>
    store.get('namespaces', '', namespace)?.metadata.labels?.[adminLabel] === 'true';
  const causes = causesIn(resource.plural, object, isAdmin);
  if (causes.length > 0) throw invalid(resource, name, causes);
}

function causesIn(plural: string, { spec }: KubeObject, isAdmin: () => boolean): readonly Cause[] {
  switch (plural) {
    case 'deviceclasses':
      return selectorCauses(spec.selectors, 'spec.selectors');
    case 'resourceclaims':
      return requestCauses(spec.devices.requests, 'spec.devices.requests', isAdmin);
    case 'resourceclaimtemplates':
      return requestCauses(spec.spec.devices.requests, 'spec.spec.devices.requests', isAdmin);
    default:
      return [];
  }
}

function requestCauses(
  requests: readonly Request[] | null,
  path: string,
  isAdmin: () => boolean,
): readonly Cause[] {
  return (requests ?? []).flatMap(({ exactly, firstAvailable = [] }, index) => {
    const field = `${path}[${index}]`;
    const text = `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`;
    return [
      ...selectorCauses(exactly?.selectors, `${field}.exactly.selectors`),
      ...firstAvailable.flatMap(({ selectors }, at) =>
        selectorCauses(selectors, `${field}.firstAvailable[${at}].selectors`),
      ),
      ...(exactly?.adminAccess && !isAdmin() ? [forbiddenValue(`${field}.adminAccess`, text)] : []),
    ];
  });
}

function selectorCauses(selectors: readonly Selector[] = [], path: string): readonly Cause[] {
  return selectors.flatMap(({ cel }, index) => {
    const { expression = '' } = cel ?? {};
    const fault = cel ? selectorFault(expression) : null;
    return fault === null
      ? []
      : [invalidValue(`${path}[${index}].cel.expression`, expression, fault)];
  });
}
