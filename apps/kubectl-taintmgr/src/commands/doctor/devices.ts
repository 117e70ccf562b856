// Faults of DeviceTaintRules, ResourceSlices, claims and DeviceClasses, by their content alone: of a cluster
// or of a file.
import { formatDuration, type Instant, parseTime } from '@taintmgr/core/time';
import type { Level } from './finding.ts';

/** The group of devices, whatever its version. */
export const deviceGroup = 'resource.k8s.io';

/** A fault, and which member of the object has it. */
export interface DeviceFault {
  readonly path: readonly (string | number)[];
  readonly level: Level;
  readonly message: string;
  readonly fix: string;
}

/** A member of an object as it came; undefined where there is none. */
function member(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((found, step) => Object(found)[step], value);
}

const effects = ['NoExecute', 'NoSchedule', 'None'];
const selectorFields = ['driver', 'pool', 'device'];

/** Faults of a DeviceTaintRule. `now`: where a time of it is in the past, that is one; null: it is not. */
export function ruleFaults(rule: unknown, now: Instant | null): readonly DeviceFault[] {
  return [...selectorFaults(rule), ...taintFaults(rule, now)];
}

function selectorFaults(rule: unknown): readonly DeviceFault[] {
  const selector = member(rule, 'spec', 'deviceSelector') ?? null;
  const path = ['spec', 'deviceSelector'];
  if (selector !== null && !isObject(selector)) {
    return [wrong(path, 'deviceSelector', selector, 'an object with driver, pool or device')];
  }
  if (selector === null) {
    const message =
      'has no deviceSelector: it evicts no pods, and kube-scheduler up to 1.37 takes it for every device, so that no new pod gets one';
    return [{ path: ['spec'], level: 'WARN', message, fix: 'name driver, pool or device' }];
  }
  const unknown = Object.keys(selector).filter((name) => !selectorFields.includes(name));
  if (unknown.length > 0) {
    return unknown.map((name) => {
      const message = `deviceSelector has no field ${name} since Kubernetes 1.35: a rule without the fields that are left may select every device`;
      return { path: [...path, name], level: 'FAIL', message, fix: 'name driver, pool or device' };
    });
  }
  const noText = selectorFields.flatMap((name) =>
    textFault([...path, name], `deviceSelector.${name}`, member(selector, name)),
  );
  if (noText.length > 0) return noText;
  if (selectorFields.some((name) => (member(selector, name) ?? null) !== null)) return [];
  const then = isNoExecute(rule)
    ? 'every pod that has one and does not tolerate the taint is evicted, in all namespaces'
    : 'with the effect NoExecute it would evict from all of them';
  const message = `deviceSelector is empty: it selects every device of every driver; ${then}`;
  return [{ path, level: 'WARN', message, fix: 'name driver, pool or device' }];
}

function isNoExecute(rule: unknown): boolean {
  return member(rule, 'spec', 'taint', 'effect') === 'NoExecute';
}

function taintFaults(rule: unknown, now: Instant | null): readonly DeviceFault[] {
  const found = [...valueFaults(rule, ['spec', 'taint'], 'taint')];
  const added = parseTime(String(member(rule, 'spec', 'taint', 'timeAdded') ?? ''));
  if (now !== null && added !== null && added < now && isNoExecute(rule)) {
    const message = `timeAdded is ${formatDuration(now - added)} ago: deadlines count from then, and who does not tolerate the taint for longer is evicted at once`;
    const fix = 'leave it out: the API server fills in when the rule is written';
    found.push({ path: ['spec', 'taint', 'timeAdded'], level: 'WARN', message, fix });
  }
  return found;
}

/** The reasons of the API server to refuse the taint of a device; `name`: the taint, as messages have it. */
function valueFaults(object: unknown, path: Path, name: string): readonly DeviceFault[] {
  const taint = member(object, ...path);
  const [effect, added] = [member(taint, 'effect'), member(taint, 'timeAdded') ?? null];
  const found: DeviceFault[] = [];
  if (typeof effect !== 'string' || !effects.includes(effect))
    found.push(wrong([...path, 'effect'], `${name}.effect`, effect, effects.join(', ')));
  if (added !== null && (typeof added !== 'string' || parseTime(added) === null))
    found.push(wrong([...path, 'timeAdded'], `${name}.timeAdded`, added, wantedTime));
  return found;
}

const wantedTime = 'an RFC 3339 time such as 2026-11-29T03:31:04Z';

/**
 * The reasons of the API server to refuse a ResourceSlice, as far as taints are concerned. Version v1beta1
 * has them in `basic`.
 */
export function sliceFaults(slice: unknown): readonly DeviceFault[] {
  const path = ['spec', 'devices'];
  const ofDevices = listAt(slice, path).flatMap((device, index) => {
    const [at, name] = [[...path, index], `devices[${index}]`];
    if (!isObject(device)) return [wrong(at, name, device, 'an object with a name')];
    const places = [
      [at, name],
      [[...at, 'basic'], `${name}.basic`],
    ] as const;
    return places.flatMap(([place, text]) =>
      listAt(slice, [...place, 'taints']).flatMap((_, taint) =>
        valueFaults(slice, [...place, 'taints', taint], `${text}.taints[${taint}]`),
      ),
    );
  });
  return [
    ...textFault(['spec', 'driver'], 'driver', member(slice, 'spec', 'driver')),
    ...ofDevices,
  ];
}

const podSpecs: readonly Path[] = [
  ['spec'],
  ['spec', 'template', 'spec'],
  ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
];
const wantedClaim = 'an object with a name and resourceClaimName or resourceClaimTemplateName';

/** Claims of a pod, or of what makes pods, that are no objects. */
export function podClaimFaults(object: unknown): readonly DeviceFault[] {
  return podSpecs.flatMap((spec) => {
    const path = [...spec, 'resourceClaims'];
    return listAt(object, path).flatMap((claim, index) =>
      isObject(claim)
        ? []
        : [wrong([...path, index], `resourceClaims[${index}]`, claim, wantedClaim)],
    );
  });
}

function textFault(path: Path, name: string, value: unknown): readonly DeviceFault[] {
  const isText = (value ?? null) === null || typeof value === 'string';
  return isText ? [] : [wrong(path, name, value, 'a string')];
}

/** A value that no API server takes. */
function wrong(path: Path, name: string, value: unknown, want: string): DeviceFault {
  const got = value === undefined ? 'nothing' : JSON.stringify(value);
  return { path, level: 'FAIL', message: `${name}: got ${got}, want ${want}`, fix: '' };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** More seconds are no int64 of nanoseconds any more. */
const tolerationSecondsMax = 9_223_372_036;

/** Faults of a ResourceClaim, or of what a ResourceClaimTemplate makes: of its tolerations. */
export function claimFaults(claim: unknown): readonly DeviceFault[] {
  const root = member(claim, 'kind') === 'ResourceClaimTemplate' ? ['spec', 'spec'] : ['spec'];
  const path = [...root, 'devices', 'requests'];
  return listAt(claim, path).flatMap((_, index) => requestFaults(claim, [...path, index]));
}

type Path = readonly (string | number)[];

/** v1beta1 has the tolerations of a request in the request. */
function requestFaults(claim: unknown, path: Path): readonly DeviceFault[] {
  const first = listAt(claim, [...path, 'firstAvailable']);
  const places: readonly Path[] = [
    path,
    [...path, 'exactly'],
    ...first.map((_, index) => [...path, 'firstAvailable', index]),
  ];
  return places.flatMap((place) => {
    const tolerations = [...place, 'tolerations'];
    return listAt(claim, tolerations).flatMap((toleration, index) =>
      tolerationFaults(toleration, [...tolerations, index]),
    );
  });
}

function listAt(object: unknown, path: Path): readonly unknown[] {
  const found = member(object, ...path);
  return Array.isArray(found) ? found : [];
}

/** Faults of one toleration of a device taint; `path`: where it stands. */
function tolerationFaults(toleration: unknown, path: Path): readonly DeviceFault[] {
  const key = String(member(toleration, 'key') ?? '');
  const what = key === '' ? 'tolerates all taints' : `tolerates ${key}`;
  if ((member(toleration, 'effect') ?? '') === '') {
    const message = `${what} without naming an effect: kube-scheduler accepts that and eviction does not, so pods on a device with such a NoExecute taint are evicted, and their replacements too, without end`;
    return [{ path, level: 'WARN', message, fix: 'write effect: NoExecute' }];
  }
  const seconds = member(toleration, 'tolerationSeconds');
  if (typeof seconds !== 'number' || seconds <= tolerationSecondsMax) return [];
  const message = `${what} for ${seconds} s, more than ${tolerationSecondsMax}: kube-controller-manager's number overflows, and it mostly evicts at once`;
  const fix = 'leave tolerationSeconds out: then there is no limit';
  return [{ path: [...path, 'tolerationSeconds'], level: 'WARN', message, fix }];
}

/** A DeviceClass whose devices pods get as an extended resource. */
export function classFaults(deviceClass: unknown): readonly DeviceFault[] {
  const name = member(deviceClass, 'spec', 'extendedResourceName');
  if (typeof name !== 'string' || name === '') return [];
  const message = `pods that get its devices as the extended resource ${name} are not evicted for device taints up to Kubernetes 1.37 (k/k#141290)`;
  const fix = 'use a ResourceClaim if they must leave';
  return [{ path: ['spec', 'extendedResourceName'], level: 'INFO', message, fix }];
}

/** The devices of a rule; a member that is left out matches any. */
export interface SelectedDevices {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
}

/** `driver gpu.example.com, pool n1`; `every device` of an empty selector. */
export function selectionText({ driver, pool, device }: SelectedDevices): string {
  const parts = Object.entries({ driver, pool, device }).filter(([, name]) => name !== undefined);
  return parts.map(([what, name]) => `${what} ${name}`).join(', ') || 'every device';
}
