// The shapes of resource.k8s.io: devices, their claims, and their taints.
import { objectMeta, topLevel } from './metadata.ts';
import { always, atomic, list, listBy, map, type Struct, struct } from './types.ts';

const selectors = list(
  struct('DeviceSelector', { cel: struct('CELDeviceSelector', { expression: 'string!' }) }),
);

const nodeSelector = atomic(
  struct('NodeSelector', {
    nodeSelectorTerms: always(
      list(
        struct('NodeSelectorTerm', {
          matchExpressions: list(requirement()),
          matchFields: list(requirement()),
        }),
      ),
    ),
  }),
);

function requirement(): Struct {
  return struct('NodeSelectorRequirement', {
    key: 'string!',
    operator: 'string!',
    values: list('string'),
  });
}

const deviceTaint = struct('DeviceTaint', {
  key: 'string!',
  value: 'string',
  effect: 'string!',
  timeAdded: 'time',
});

const toleration = struct('DeviceToleration', {
  key: 'string',
  operator: 'string',
  value: 'string',
  effect: 'string',
  tolerationSeconds: 'int64*',
});

// ResourceSlice.

const attribute = struct('DeviceAttribute', {
  int: 'int64*',
  bool: 'bool*',
  string: 'string*',
  version: 'string*',
  ints: list('int64'),
  bools: list('bool'),
  strings: list('string'),
  versions: list('string'),
});

const device = struct('Device', {
  name: 'string!',
  attributes: map(attribute),
  capacity: map(struct('DeviceCapacity', { value: 'quantity!', requestPolicy: 'any' })),
  consumesCounters: list('any'),
  nodeName: 'string*',
  nodeSelector,
  allNodes: 'bool*',
  taints: list(deviceTaint),
  bindsToNode: 'bool*',
  bindingConditions: list('string'),
  bindingFailureConditions: list('string'),
  allowMultipleAllocations: 'bool*',
  nodeAllocatableResourceMappings: map('any'),
});

/** resource.k8s.io ResourceSlice. */
export const resourceSlice: Struct = topLevel('ResourceSlice', {
  spec: always(
    struct('ResourceSliceSpec', {
      driver: 'string!',
      pool: always(
        struct('ResourcePool', {
          name: 'string!',
          generation: 'int64!',
          resourceSliceCount: 'int64!',
        }),
      ),
      nodeName: 'string*',
      nodeSelector,
      allNodes: 'bool*',
      devices: list(device),
      perDeviceNodeSelection: 'bool*',
      sharedCounters: list('any'),
    }),
  ),
});

// DeviceTaintRule.

const condition = struct('Condition', {
  type: 'string!',
  status: 'string!',
  observedGeneration: 'int64',
  lastTransitionTime: 'time!',
  reason: 'string!',
  message: 'string!',
});

/** resource.k8s.io DeviceTaintRule. */
export const deviceTaintRule: Struct = topLevel('DeviceTaintRule', {
  spec: always(
    struct('DeviceTaintRuleSpec', {
      deviceSelector: struct('DeviceTaintSelector', {
        driver: 'string*',
        pool: 'string*',
        device: 'string*',
      }),
      taint: always(deviceTaint),
    }),
  ),
  status: always(struct('DeviceTaintRuleStatus', { conditions: listBy('type', condition) })),
});

// ResourceClaim, and what makes claims.

const asked = {
  deviceClassName: 'string!',
  selectors,
  allocationMode: 'string',
  count: 'int64',
} as const;
const capacity = struct('CapacityRequirements', { requests: map('quantity') });
const opaque = struct('OpaqueDeviceConfiguration', { driver: 'string!', parameters: 'any' });

/** `spec` of a ResourceClaim. */
export const resourceClaimSpec: Struct = always(
  struct('ResourceClaimSpec', {
    devices: always(
      struct('DeviceClaim', {
        requests: always(
          list(
            struct('DeviceRequest', {
              name: 'string!',
              exactly: struct('ExactDeviceRequest', {
                ...asked,
                adminAccess: 'bool*',
                tolerations: list(toleration),
                capacity,
              }),
              firstAvailable: list(
                struct('DeviceSubRequest', {
                  name: 'string!',
                  ...asked,
                  tolerations: list(toleration),
                  capacity,
                }),
              ),
            }),
          ),
        ),
        constraints: list(
          struct('DeviceConstraint', {
            requests: list('string'),
            matchAttribute: 'string*',
            distinctAttribute: 'string*',
          }),
        ),
        config: list(struct('DeviceClaimConfiguration', { requests: list('string'), opaque })),
      }),
    ),
  }),
);

/** `status.allocation` of a ResourceClaim. */
export const allocationResult: Struct = struct('AllocationResult', {
  devices: always(
    struct('DeviceAllocationResult', {
      results: list(
        struct('DeviceRequestAllocationResult', {
          request: 'string!',
          driver: 'string!',
          pool: 'string!',
          device: 'string!',
          adminAccess: 'bool*',
          tolerations: list(toleration),
          bindingConditions: list('string'),
          bindingFailureConditions: list('string'),
          shareID: 'string*',
          consumedCapacity: map('quantity'),
        }),
      ),
      config: list(
        struct('DeviceAllocationConfiguration', {
          source: 'string!',
          requests: list('string'),
          opaque,
        }),
      ),
    }),
  ),
  nodeSelector,
  allocationTimestamp: 'time',
});

/** resource.k8s.io ResourceClaim. */
export const resourceClaim: Struct = topLevel('ResourceClaim', {
  spec: resourceClaimSpec,
  status: always(
    struct('ResourceClaimStatus', {
      allocation: allocationResult,
      reservedFor: listBy(
        'uid',
        struct('ResourceClaimConsumerReference', {
          apiGroup: 'string',
          resource: 'string!',
          name: 'string!',
          uid: 'string!',
        }),
      ),
      devices: {
        ...list(
          struct('AllocatedDeviceStatus', {
            driver: 'string!',
            pool: 'string!',
            device: 'string!',
            shareID: 'string*',
            conditions: listBy('type', condition),
            data: 'any',
            networkData: 'any',
          }),
        ),
        mergeKey: 'driver',
        keys: ['driver', 'device', 'pool', 'shareID'],
        isReplaced: true,
      },
    }),
  ),
});

/** `spec` of a ResourceClaimTemplate. */
export const resourceClaimTemplateSpec: Struct = always(
  struct('ResourceClaimTemplateSpec', { metadata: objectMeta, spec: resourceClaimSpec }),
);

/** resource.k8s.io ResourceClaimTemplate. */
export const resourceClaimTemplate: Struct = topLevel('ResourceClaimTemplate', {
  spec: resourceClaimTemplateSpec,
});

/** resource.k8s.io DeviceClass. */
export const deviceClass: Struct = topLevel('DeviceClass', {
  spec: always(
    struct('DeviceClassSpec', {
      selectors,
      config: list(struct('DeviceClassConfiguration', { opaque })),
      extendedResourceName: 'string*',
    }),
  ),
});
