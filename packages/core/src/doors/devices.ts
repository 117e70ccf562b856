// Taints of devices: which pods leave for them, when and why, as kube-controller-manager decides it.

// The model.

export {
  type AllocatedDevice,
  type ClaimingPodEvent,
  type DeviceEvent,
  type DeviceId,
  type DeviceResource,
  type DeviceSelector,
  type DeviceTaintRule,
  type EvictionProgress,
  formatDevice,
  type PublishedDevice,
  parseDevice,
  type ResourceClaim,
  type ResourceSlice,
  selectsAllDevices,
} from '../devices/device.ts';

// The decision.

export { Devices, type RuleReach, type VerdictOptions } from '../devices/devices.ts';
export type {
  DeviceCause,
  DeviceHit,
  DeviceReason,
  DeviceReasonCode,
  DeviceTaint,
  DeviceTaintSource,
  DeviceVerdict,
} from '../devices/verdict.ts';
export { confirmDeviceTaint, type DeviceSources } from '../eviction/confirm.ts';

// kube-controller-manager's own controller for it.

export {
  type UpstreamDeviceCommand,
  type UpstreamDeviceEvent,
  UpstreamDeviceEviction,
  type UpstreamDeviceOptions,
} from '../devices/upstream.ts';

// Its words.

export {
  describeDeviceCause,
  describeDevicePatience,
  describeDeviceReason,
  describeTaintSource,
} from '../devices/words.ts';
export { reasonOfCause } from '../eviction/device-taints.ts';
export type { PodClaim } from '../model/pod.ts';
