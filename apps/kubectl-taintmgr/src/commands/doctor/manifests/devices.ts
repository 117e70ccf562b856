// Rules that taint devices and claims that tolerate such taints, as manifests have them.
import type { Instant } from '@taintmgr/core/time';
import type { Manifest } from '../../../cluster/manifests.ts';
import {
  claimFaults,
  classFaults,
  type DeviceFault,
  deviceGroup,
  podClaimFaults,
  ruleFaults,
  selectionText,
  sliceFaults,
} from '../devices.ts';
import { findingAt, type PlacedFinding } from './placed-finding.ts';

const check = 'devices';

/** The check of each kind. */
const faultsOf: Readonly<
  Record<string, (object: unknown, now: Instant) => readonly DeviceFault[]>
> = {
  DeviceTaintRule: (rule, now) => ruleFaults(rule, now),
  ResourceSlice: (slice) => sliceFaults(slice),
  ResourceClaim: (claim) => claimFaults(claim),
  ResourceClaimTemplate: (template) => claimFaults(template),
  DeviceClass: (deviceClass) => classFaults(deviceClass),
};

/** Everything about device taints. */
export function checkDevices(
  manifests: readonly Manifest[],
  now: Instant,
): readonly PlacedFinding[] {
  const ours = manifests.filter(({ apiVersion }) => apiVersion.split('/')[0] === deviceGroup);
  const slices = ours.filter(({ kind }) => kind === 'ResourceSlice');
  const rules = ours.filter(({ kind }) => kind === 'DeviceTaintRule');
  return [
    ...ours.flatMap((manifest) =>
      (faultsOf[manifest.kind]?.(manifest.field.value, now) ?? []).map((fault) =>
        placed(manifest, fault),
      ),
    ),
    ...manifests.flatMap((manifest) =>
      podClaimFaults(manifest.field.value).map((fault) => placed(manifest, fault)),
    ),
    ...rules.flatMap((rule) => [...checkVersion(rule), ...checkPublished(rule, slices)]),
  ];
}

/** Where the member is left out, at the object without it. */
function placed(manifest: Manifest, { path, level, message, fix }: DeviceFault): PlacedFinding {
  return findingAt(check, level, { manifest, at: manifest.field.at(path) }, message, fix);
}

/** Such versions are those of Kubernetes 1.36 and before, where rules need a gate. */
function checkVersion(rule: Manifest): readonly PlacedFinding[] {
  if (!/\/v1(alpha|beta)\d/.test(rule.apiVersion)) return [];
  const at = rule.field.find(['apiVersion']);
  const message =
    'Kubernetes 1.36 ignores rules unless the feature gate DRADeviceTaintRules is on, and with it kube-scheduler 1.36.0 to 1.36.2 panics or overlooks rules';
  return [findingAt(check, 'INFO', { manifest: rule, at }, message)];
}

/** A device that no slice here has; where there are no slices nothing is known. */
function checkPublished(rule: Manifest, slices: readonly Manifest[]): readonly PlacedFinding[] {
  const at = rule.field.find(['spec', 'deviceSelector']);
  if (slices.length === 0 || !at) return [];
  const nameAt = (name: string): string | undefined => {
    const value = at.find([name])?.value;
    return typeof value === 'string' ? value : undefined;
  };
  const [driver, pool, device] = [nameAt('driver'), nameAt('pool'), nameAt('device')];
  const isSelected = ({ field }: Manifest): boolean => {
    const spec = Object(field.find(['spec'])?.value);
    const devices: readonly unknown[] = Array.isArray(spec.devices) ? spec.devices : [];
    const has = (wanted: string | undefined, name: unknown): boolean =>
      wanted === undefined || wanted === name;
    return (
      has(driver, spec.driver) &&
      has(pool, Object(spec.pool).name) &&
      devices.some((one) => has(device, Object(one).name))
    );
  };
  if (slices.some(isSelected)) return [];
  const named = { ...(driver && { driver }), ...(pool && { pool }), ...(device && { device }) };
  const message = `no ResourceSlice here has ${selectionText(named)}`;
  return [findingAt(check, 'WARN', { manifest: rule, at }, message, 'fix the selector')];
}
