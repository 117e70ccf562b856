import { parseQuantity } from '@taintmgr/core';
import type { Field } from '@taintmgr/k8s-adapter/manifests';

// Names, labels and amounts as the API server takes them. It would refuse others only when an object is
// made of them, where nobody knows any more which line they come from.

const namePattern = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const nameLengthMax = 253;
const labelKeyPattern =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
const labelValuePattern = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/;

/** Kubernetes is made for clusters of so many pods; workloads that ask for more are not simulated. */
export const podsMax = 150_000;

/** The name of an object. Throws FileFault. */
export function nameOf(field: Field): string {
  return checkName(field, field.text());
}

/** A namespace and a name in it, `shop/web`. Throws FileFault. */
export function keyOf(field: Field): readonly [namespace: string, name: string] {
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(field.text()) ?? [];
  if (namespace === undefined || name === undefined) throw field.fault('want NAMESPACE/NAME');
  return [checkName(field, namespace), checkName(field, name)];
}

/** The value of a label, such as a zone. Throws FileFault. */
export function labelValueOf(field: Field): string {
  return checkLabelValue(field, field.text());
}

/** Labels by their keys; none for undefined. Throws FileFault. */
export function labelsOf(field: Field | undefined): Readonly<Record<string, string>> {
  return textsOf(field, (place, key, value) => {
    if (!labelKeyPattern.test(key)) throw place.fault(`no key of a label: ${JSON.stringify(key)}`);
    checkLabelValue(place, value);
  });
}

/** Amounts such as `500m` and `64Mi` by their resources; none for undefined. Throws FileFault. */
export function amountsOf(field: Field | undefined): Readonly<Record<string, string>> {
  return textsOf(field, (place, _, value) => void place.read(() => parseQuantity(value)));
}

/** Texts and numbers by their keys: both are how labels and amounts are written. */
function textsOf(
  field: Field | undefined,
  check: (place: Field, key: string, value: string) => void,
): Readonly<Record<string, string>> {
  const entries = Array.from(field?.entries() ?? [], ([key, place]) => {
    const { value } = place;
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw place.fault(`want a text, got ${JSON.stringify(value)}`);
    }
    check(place, key, String(value));
    return [key, String(value)] as const;
  });
  return Object.fromEntries(entries);
}

function checkName(field: Field, name: string): string {
  if (namePattern.test(name) && name.length <= nameLengthMax) return name;
  throw field.fault(
    `want a name of lower-case letters, digits, '-' and '.', got ${JSON.stringify(name)}`,
  );
}

function checkLabelValue(field: Field, value: string): string {
  if (labelValuePattern.test(value)) return value;
  throw field.fault(
    `want at most 63 letters, digits, '-', '_' and '.', as in a label, got ${JSON.stringify(value)}`,
  );
}
