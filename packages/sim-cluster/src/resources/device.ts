// resource.k8s.io: devices, claims for them, and what taints them. A server stores them as v1.
import {
  withClaimDefaults,
  withRuleTime,
  withSliceTimes,
  withTemplateDefaults,
} from '../defaults/device.ts';
import { withEmptyStatus } from '../defaults/kinds.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import * as schema from '../schema/device.ts';
import {
  sliceWarnings,
  validateDeviceClass,
  validateSlice,
  validateSliceUpdate,
  validateTaintRule,
} from '../validation/device.ts';
import {
  validateClaim,
  validateClaimUpdate,
  validateTemplate,
  validateTemplateUpdate,
} from '../validation/device-claim.ts';
import {
  defineResource,
  type Resource,
  type ResourceGiven,
  statusSubresource,
} from './resource.ts';

const group = 'resource.k8s.io';

const stored: readonly Resource[] = (
  [
    {
      plural: 'deviceclasses',
      kind: 'DeviceClass',
      schema: schema.deviceClass,
      namespaced: false,
      generation: true,
      validate: validateDeviceClass,
    },
    {
      plural: 'devicetaintrules',
      kind: 'DeviceTaintRule',
      schema: schema.deviceTaintRule,
      namespaced: false,
      generation: true,
      unconditionalUpdate: false,
      subresources: [statusSubresource],
      admit: withEmptyStatus,
      derive: withRuleTime,
      load: (rule, now) => withRuleTime(rule, '', null, now),
      validate: validateTaintRule,
    },
    {
      plural: 'resourceclaims',
      kind: 'ResourceClaim',
      schema: schema.resourceClaim,
      subresources: [statusSubresource],
      admit: withEmptyStatus,
      derive: withClaimDefaults,
      validate: validateClaim,
      validateUpdate: validateClaimUpdate,
    },
    {
      plural: 'resourceclaimtemplates',
      kind: 'ResourceClaimTemplate',
      schema: schema.resourceClaimTemplate,
      derive: withTemplateDefaults,
      validate: validateTemplate,
      validateUpdate: validateTemplateUpdate,
    },
    {
      plural: 'resourceslices',
      kind: 'ResourceSlice',
      schema: schema.resourceSlice,
      namespaced: false,
      generation: true,
      fieldLabels: {
        'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
        'spec.driver': ({ spec }) => spec.driver ?? '',
      },
      derive: withSliceTimes,
      load: (slice, now) => withSliceTimes(slice, '', null, now),
      validate: validateSlice,
      validateUpdate: validateSliceUpdate,
      warnings: sliceWarnings,
    },
  ] as const satisfies readonly Omit<ResourceGiven, 'group' | 'singular'>[]
).map((given) =>
  defineResource({ ...given, group, showsDeleted: true, singular: given.kind.toLowerCase() }),
);

/** The beta, whose objects look as those of v1 do. */
function beta(storage: Resource): Resource {
  const { kind } = storage;
  const version = 'v1beta2';
  const shown =
    (apiVersion: string) =>
    (object: KubeObject): KubeObject => {
      const { kind: _kind, apiVersion: _version, ...rest } = object;
      return { kind, apiVersion, ...rest } as KubeObject;
    };
  // Rules became v1 later than the rest.
  const isOld = storage.plural !== 'devicetaintrules';
  return {
    ...storage,
    version,
    storage,
    unconditionalUpdate: true,
    deprecation: isOld
      ? `${group}/${version} ${kind} is deprecated in v1.36+, unavailable in v1.39+`
      : null,
    view: { toView: shown(`${group}/${version}`), toStored: shown(`${group}/v1`) },
  };
}

/** All of them, those that are stored first. */
export const deviceResources: readonly Resource[] = [...stored, ...stored.map(beta)];
