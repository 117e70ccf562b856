// API objects of resource.k8s.io as the core's slices, claims and taint rules: v1, v1beta2 and v1beta1, rules v1alpha3 too.
import type {
  AllocatedDevice,
  DeviceTaintRule,
  EvictionProgress,
  PublishedDevice,
  ResourceClaim,
  ResourceSlice,
} from '@taintmgr/core/devices';
import { readTolerations, taintsFrom } from './convert.ts';
import { asInteger, asList, asRecord, asText, isRecord, type JsonRecord } from './json.ts';
import { timeFromJson } from './taint-starts.ts';

/** Reads a ResourceSlice. Never throws: a field of a wrong type is read as an absent one. */
export function resourceSliceFromJson(value: unknown): ResourceSlice {
  const { metadata, spec } = asRecord(value);
  const { driver, pool, devices } = asRecord(spec);
  const { name, generation } = asRecord(pool);
  return {
    name: asText(asRecord(metadata).name),
    driver: asText(driver),
    pool: asText(name),
    generation: asInteger(generation) ?? 0,
    devices: asList(devices).map(publishedFromJson),
  };
}

/** v1beta1 has all but the name in `basic`. */
function publishedFromJson(value: unknown): PublishedDevice {
  const { name, basic, taints } = asRecord(value);
  return { name: asText(name), taints: taintsFrom(taints ?? asRecord(basic).taints) };
}

/**
 * Reads a DeviceTaintRule. Rules of Kubernetes 1.33 and 1.34 may also select by class and by CEL:
 * the devices of these are unknown here. Such a rule has no selector, and names its way of
 * selection.
 */
export function deviceTaintRuleFromJson(value: unknown): DeviceTaintRule {
  const object = asRecord(value);
  const metadata = asRecord(object.metadata);
  const { deviceSelector, taint } = asRecord(object.spec);
  const [read = noTaint] = taintsFrom([taint]);
  return {
    name: asText(metadata.name),
    uid: asText(metadata.uid),
    generation: asInteger(metadata.generation) ?? 0,
    ...selectionFromJson(deviceSelector),
    taint: read,
    progress: progressFrom(asRecord(object.status)),
  };
}

const noTaint = { key: '', value: '', effect: '', timeAdded: null };

function selectionFromJson(value: unknown): Pick<DeviceTaintRule, 'selector' | 'unreadSelection'> {
  if (!isRecord(value)) return { selector: null };
  const { driver, pool, device, ...others } = value;
  const unreadSelection = Object.keys(others).filter((name) => others[name] !== null);
  if (unreadSelection.length > 0) return { selector: null, unreadSelection };
  const part = (text: unknown): string | null => (typeof text === 'string' ? text : null);
  return { selector: { driver: part(driver), pool: part(pool), device: part(device) } };
}

function progressFrom({ conditions }: JsonRecord): EvictionProgress | null {
  const condition = asList(conditions)
    .map(asRecord)
    .find(({ type }) => type === 'EvictionInProgress');
  if (!condition) return null;
  return {
    status: asText(condition.status),
    reason: asText(condition.reason),
    message: asText(condition.message),
    observedGeneration: asInteger(condition.observedGeneration) ?? 0,
    transitionAt: timeFromJson(condition.lastTransitionTime),
  };
}

/** Reads a ResourceClaim. Never throws: a field of a wrong type is read as an absent one. */
export function resourceClaimFromJson(value: unknown): ResourceClaim {
  const object = asRecord(value);
  const { namespace, name, uid, ownerReferences } = asRecord(object.metadata);
  const { allocation, reservedFor } = asRecord(object.status);
  const controller = asList(ownerReferences)
    .map(asRecord)
    .find((owner) => owner.controller === true);
  return {
    namespace: asText(namespace),
    name: asText(name),
    uid: asText(uid),
    ownerUid: controller ? asText(controller.uid) : null,
    allocated: isRecord(allocation) ? allocatedFrom(allocation) : null,
    reservedFor: asList(reservedFor).map((consumer) => asText(asRecord(consumer).uid)),
  };
}

function allocatedFrom({ devices }: JsonRecord): readonly AllocatedDevice[] {
  return asList(asRecord(devices).results).map((value) => {
    const { request, driver, pool, device, tolerations } = asRecord(value);
    return {
      request: asText(request),
      driver: asText(driver),
      pool: asText(pool),
      device: asText(device),
      tolerations: readTolerations(tolerations),
    };
  });
}
