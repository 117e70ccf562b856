// Who wrote which field of an object, by its managedFields.
import { type Instant, parseTime } from '@taintmgr/core/time';
import type { ObjectMeta } from './objects.ts';

type Managed = Pick<ObjectMeta, 'managedFields'>;

/** Who last wrote a field of spec, such as `f:taints`, as the API server keeps it in managedFields. */
export function lastWriteOf(
  field: string,
  object: Managed,
): { readonly by: string; readonly at: Instant } | null {
  const writes = entriesOf(field, object).flatMap(({ manager = '', time = '' }) => {
    const at = parseTime(time);
    return at === null ? [] : [{ by: manager, at }];
  });
  return writes.sort((a, b) => b.at - a.at)[0] ?? null;
}

/** Who has set a field of spec to what it is; empty where managedFields do not say. */
export function managersOf(field: string, object: Managed): readonly string[] {
  return entriesOf(field, object).map(({ manager = '' }) => manager);
}

function entriesOf(field: string, { managedFields = [] }: Managed) {
  return managedFields.filter(({ fieldsV1 }) => Object.hasOwn(fieldsV1?.['f:spec'] ?? {}, field));
}
