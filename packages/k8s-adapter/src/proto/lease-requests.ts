// Requests that read, create and update a Lease.
import { formatTimeMillis, type Instant, type Millis } from '@taintmgr/core/time';
import { asInteger, asRecord, asText, isRecord, type JsonRecord } from './json.ts';
import { type ApiRequest, getRequest, objectRequest, withQuery } from './requests.ts';

/** A Lease by its namespace and name. */
export interface LeaseName {
  /** The namespace of the Lease. */
  readonly namespace: string;
  /** The name of the Lease. */
  readonly name: string;
}

/** The part of a Lease that an election needs. */
export interface Lease {
  readonly uid: string;
  readonly resourceVersion: string;
  /** spec.holderIdentity; '' when there is no holder. */
  readonly holder: string;
  /** The time that a renewal counts, by the holder's own word. */
  readonly duration: Millis;
  /** The number of times the holder changed. */
  readonly transitions: number;
  /** All of it, so that what others wrote into it is written back. */
  readonly object: JsonRecord;
}

/** The values that a holder writes into the spec of its Lease. */
export interface LeaseClaim {
  /** '' gives the lease back. */
  readonly holder: string;
  readonly duration: Millis;
  readonly renewedAt: Instant;
  /** The time at which the holder became it; null: the written time stays. */
  readonly acquiredAt: Instant | null;
  readonly transitions: number;
  /** The words of the holder on itself beside that; left out: nothing. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** GET of the Lease; the server gives up after `timeout` (whole seconds). */
export function readLeaseRequest(lease: LeaseName, timeout: Millis): ApiRequest {
  return getRequest(within(leasePath(lease), timeout));
}

/** POST of a Lease that does not exist; one that does is refused with 409. */
export function createLeaseRequest(
  { namespace, name }: LeaseName,
  claim: LeaseClaim,
  timeout: Millis,
): ApiRequest {
  return objectRequest('POST', within(leasesPath(namespace), timeout), {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name, namespace, ...(claim.annotations && { annotations: claim.annotations }) },
    spec: claimedSpec({}, claim),
  });
}

/** PUT of the Lease as it was read with our claim in it; refused with 409 if it changed since. */
export function updateLeaseRequest(
  name: LeaseName,
  lease: Lease,
  claim: LeaseClaim,
  timeout: Millis,
): ApiRequest {
  const { object } = lease;
  const spec = claimedSpec(asRecord(object.spec), claim);
  const before = asRecord(object.metadata);
  const annotations = { ...asRecord(before.annotations), ...claim.annotations };
  const metadata = claim.annotations ? { ...before, annotations } : before;
  return objectRequest('PUT', within(leasePath(name), timeout), { ...object, metadata, spec });
}

/** Reads a Lease; null for any other object. */
export function leaseFromJson(value: unknown): Lease | null {
  if (!isRecord(value)) return null;
  const metadata = asRecord(value.metadata);
  const spec = asRecord(value.spec);
  const resourceVersion = asText(metadata.resourceVersion);
  if (resourceVersion === '') return null;
  return {
    uid: asText(metadata.uid),
    resourceVersion,
    holder: asText(spec.holderIdentity),
    duration: (asInteger(spec.leaseDurationSeconds) ?? 0) * 1000,
    transitions: asInteger(spec.leaseTransitions) ?? 0,
    object: value,
  };
}

/** Writes an instant as Kubernetes' MicroTime wants it: six digits, neither more nor fewer. */
export function formatMicroTime(instant: Instant): string {
  return formatTimeMillis(instant).replace('Z', '000Z');
}

function claimedSpec(spec: JsonRecord, claim: LeaseClaim): JsonRecord {
  const { holder, duration, renewedAt, acquiredAt, transitions } = claim;
  return {
    ...spec,
    holderIdentity: holder,
    leaseDurationSeconds: Math.trunc(duration / 1000),
    ...(acquiredAt !== null && { acquireTime: formatMicroTime(acquiredAt) }),
    renewTime: formatMicroTime(renewedAt),
    leaseTransitions: transitions,
  };
}

/** Where the Leases of a namespace are. */
export function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
}

/** Where a Lease is. */
export function leasePath({ namespace, name }: LeaseName): string {
  return `${leasesPath(namespace)}/${encodeURIComponent(name)}`;
}

/** The server gives up after this time. */
function within(path: string, timeout: Millis): string {
  return withQuery(path, { timeout: `${Math.max(1, Math.trunc(timeout / 1000))}s` });
}
